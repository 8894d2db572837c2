// SPDX-License-Identifier: BSD-3-Clause
// Ports keep their numbers, whatever comes and goes beside them.
#include "config/reload.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/parse.h"

namespace surety::config {
namespace {

Port port(const std::string& name, const std::string& device = "") {
  Port p;
  p.name = name;
  p.device = {
      .kind = Device::Kind::af_packet, .name = device.empty() ? name : device, .rx_file = {}, .tx_file = {}};
  return p;
}
Config ports(const std::vector<Port>& all) {
  Config c;
  c.ports = all;
  return c;
}
// "a - b": up to the last one.
std::string places(const Config& c) {
  std::string all;
  std::size_t size = c.ports.size();
  while (size > 0 && !c.ports[size - 1].exists()) --size;
  for (std::size_t p = 0; p < size; ++p)
    all += (all.empty() ? "" : " ") + (c.ports[p].exists() ? c.ports[p].name : "-");
  return all;
}

TEST(PortPlaces, ThoseOfTheFirstAreItsOrder) {
  PortPlaces places_of;
  const Config c = places_of.place(ports({port("b"), port("a")}));
  EXPECT_EQ(places(c), "b a");
  EXPECT_EQ(c.ports.size(), kMaxPorts);
  EXPECT_EQ(c.ports[2].trust, Port::Trust::core);
}

TEST(PortPlaces, TheOrderInTheFileDoesNotMatter) {
  PortPlaces p;
  p.place(ports({port("a"), port("b"), port("c")}));
  EXPECT_EQ(places(p.place(ports({port("c"), port("a"), port("b")}))), "a b c");
}

TEST(PortPlaces, APlaceStaysEmptyForOneMoreReload) {
  PortPlaces p;
  p.place(ports({port("a"), port("b")}));
  EXPECT_EQ(places(p.place(ports({port("b"), port("c")}))), "- b c");
  EXPECT_EQ(places(p.place(ports({port("b"), port("c"), port("d")}))), "- b c d");
  EXPECT_EQ(places(p.place(ports({port("b"), port("c"), port("d"), port("e")}))), "e b c d");
}

TEST(PortPlaces, ADeviceThatIsOpenedAnewIsAnotherPort) {
  PortPlaces p;
  p.place(ports({port("a"), port("b")}));
  EXPECT_EQ(places(p.place(ports({port("a", "eth9"), port("b")}))), "- b a");
  Port slower = port("b");
  slower.mtu = 1400;
  slower.trust = Port::Trust::core;
  slower.promiscuous = true;
  slower.queues = 0;
  EXPECT_EQ(places(p.place(ports({port("a", "eth9"), slower}))), "- b a");
}

TEST(PortPlaces, WhereAllAreTakenNoneIsOpenedAnew) {
  PortPlaces p;
  std::vector<Port> all;
  for (std::size_t i = 0; i < kMaxPorts; ++i) all.push_back(port("p" + std::to_string(i)));
  p.place(ports(all));
  std::vector<Port> other = all;
  other[3].device.name = "eth9";
  EXPECT_THROW(p.place(ports(other)), std::runtime_error);
  all.erase(all.begin() + 3);
  p.place(ports(all));
  EXPECT_THROW(p.place(ports(other)), std::runtime_error);
  p.place(ports(all));
  EXPECT_EQ(p.place(ports(other)).ports[3].device.name, "eth9");
}

TEST(PortPlaces, WhatNamesAPortFollows) {
  const auto parsed = [](const std::string& first, const std::string& more) {
    const std::string text =
        "version: 1\nports:\n" + first +
        "  wan: {device: af_packet w, addresses: [10.2.0.1/24], trust: core, shape: 10 Mbit/s, "
        "queues: q}\n" +
        more + R"(
queues: {q: [{name: af, dscp: {in: [AF11], out: [BE]}}]}
groups: {g: {port: wan}}
interfaces: {i: {port: wan, vlan: 7}}
services: {s: {conditioner: none}}
classify: [{match: {port: wan}, service: s}, {match: {protocol: udp}, service: s}]
routes: [{to: 10.9.0.0/16, port: wan}, {to: 10.8.0.0/16, via: 10.2.0.9}]
neighbors: [{address: 10.2.0.9, mac: '02:00:00:00:00:09', port: wan}]
aggregates: {a: {port: wan, queue: af, marker: ard, rate: 1 Mbit/s}}
)";
    auto result = parse(text, "t.yaml");
    for (const auto& d : result.diagnostics) EXPECT_NE(d.severity, Diagnostic::Severity::error) << d.format();
    return result.config.value();
  };
  PortPlaces p;
  p.place(parsed("  lan: {device: af_packet l}\n", ""));
  const Config c = p.place(parsed("  dmz: {device: af_packet d}\n", "  lan: {device: af_packet l}\n"));
  EXPECT_EQ(places(c), "lan wan dmz");
  EXPECT_EQ(c.groups[0].port, 1u);
  EXPECT_EQ(c.interfaces[0].port, 1u);
  EXPECT_EQ(c.rules[0].match.port, 1u);
  EXPECT_EQ(c.rules[1].match.port, std::nullopt);
  EXPECT_EQ(c.routes[0].next_hops[0].port, 1u);
  EXPECT_EQ(c.routes[1].next_hops[0].port, std::nullopt);
  EXPECT_EQ(c.neighbors[0].port, 1u);
  EXPECT_EQ(c.aggregates[0].port, 1u);
}

// Of a random history: who is there stands at one place and keeps it, and nobody gets a place that was
// another's in the two configurations before.
TEST(PortPlaces, ARandomHistory) {
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    PortPlaces p;
    std::map<std::string, std::size_t> known;
    std::vector<std::vector<std::string>> history;
    for (int step = 0; step < 60; ++step) {
      std::vector<Port> next;
      for (int i = 0; i < 12; ++i)
        if (random() % 3 != 0)
          next.push_back(port("p" + std::to_string(i), "d" + std::to_string(random() % 8 == 0)));
      std::shuffle(next.begin(), next.end(), random);
      for (Port& x : next) x.device.name += x.name;
      const Config c = p.place(ports(next));
      std::vector<std::string> now;
      std::map<std::string, std::size_t> places_now;
      for (std::size_t i = 0; i < c.ports.size(); ++i) {
        now.push_back(c.ports[i].exists() ? c.ports[i].device.name : "");
        if (c.ports[i].exists()) places_now[c.ports[i].device.name] = i;
      }
      ASSERT_EQ(places_now.size(), next.size());
      for (const auto& [who, at] : places_now) {
        const auto before = known.find(who);
        if (before != known.end()) {
          ASSERT_EQ(at, before->second) << who;
          continue;
        }
        for (std::size_t back = 1; back <= 2 && back <= history.size(); ++back)
          ASSERT_EQ(history[history.size() - back][at], "") << "the place of another";
      }
      known = places_now;
      history.push_back(now);
    }
  }
}

}  // namespace
}  // namespace surety::config
