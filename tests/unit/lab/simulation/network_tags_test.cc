// SPDX-License-Identifier: BSD-3-Clause
// Hosts behind interfaces with tags: frames have them on the link, both ways, and belong to the interface.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "tests/lab/simulation/lab_frame.h"
#include "tests/lab/simulation/network.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;
using test::flow;
using test::run_once;
using test::scenario;

// One tag, two tags, a template's members; a host of the port itself.
constexpr std::string_view kAccess = R"(
version: 1
duration: 4 s
routers:
  r:
    ports: {a: {}, b: {trust: core}}
    interfaces:
      acme: {port: a, vlan: 107}
      globex: {port: a, vlan: 100, inner_vlan: 8, vlan_protocol: 802.1ad}
      homes: {port: a, vlan: 200, inner_vlan: 5-7, vlan_protocol: 802.1ad, addresses: [100.64.0.1/24]}
    services:
      bought: {conditioner: token-bucket, rate: 400 kbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}
    classify:
      - {match: {interface: homes}, service: bought, per: interface}
hosts: [plain, acme, globex, {name: home, times: 3, address: 100.64.0.2}, s]
links:
  - {between: [plain, r.a], rate: 10 Mbit/s, delay: 1 ms}
  - {between: [acme, r.acme], rate: 10 Mbit/s, delay: 1 ms}
  - {between: [globex, r.globex], rate: 10 Mbit/s, delay: 1 ms}
  - {between: [home, r.homes], rate: 10 Mbit/s, delay: 1 ms}
  - {between: [r.b, s], rate: 10 Mbit/s, delay: 1 ms}
senders:
  - {name: plain, host: plain, to: s, protocol: newreno, window: 10 kB, stop: 1 s}
  - {name: acme, host: acme, to: s, protocol: newreno, window: 10 kB, stop: 1 s}
  - {name: globex, host: globex, to: s, protocol: newreno, window: 10 kB, stop: 1 s}
  - {name: home, host: home, to: s, protocol: udp, rate: 800 kbit/s, packet: 1000 B, target: 400 kbit/s}
)";

// What a link has carried: the octets between the addresses and the IP packet, and where the packet began.
struct Tags : LinkTap {
  void on_frame(std::size_t, int direction, std::span<const std::uint8_t> frame, Time) override {
    const std::size_t ip = ip_offset(frame.data());
    std::string words;
    for (std::size_t i = 12; i < ip; ++i) words += fmt::format("{:02x}", frame[i]);
    seen[static_cast<std::size_t>(direction)].insert(words);
    EXPECT_EQ(frame[ip] >> 4, 4);
  }
  std::set<std::string> seen[2];
};

Tags on_link(std::size_t link) {
  const auto plan = make_plan(scenario(kAccess));
  Tags tags;
  RunOptions options;
  options.tap = &tags;
  options.tap_link = link;
  run(*plan, test::pool(), options);
  return tags;
}

TEST(LabNetworkTags, StandInTheFramesOfBothDirections) {
  using testing::ElementsAre;
  EXPECT_THAT(on_link(0).seen, ElementsAre(ElementsAre("0800"), ElementsAre("0800")));
  EXPECT_THAT(on_link(1).seen, ElementsAre(ElementsAre("8100006b0800"), ElementsAre("8100006b0800")));
  EXPECT_THAT(on_link(2).seen,
              ElementsAre(ElementsAre("88a80064810000080800"), ElementsAre("88a80064810000080800")));
  EXPECT_THAT(on_link(4).seen[0], ElementsAre("88a800c8810000060800"));
  EXPECT_THAT(on_link(6).seen, ElementsAre(ElementsAre("0800"), ElementsAre("0800")));
}

TEST(LabNetworkTags, TellWhoseAPacketIs) {
  const RunResult r = run_once(kAccess);
  for (const char* name : {"plain", "acme", "globex"}) {
    EXPECT_GT(flow(r, name).goodput_bps, 500e3) << name;
    EXPECT_EQ(flow(r, name).committed_bps, 0) << name;
  }
  for (const char* name : {"home#1", "home#2", "home#3"}) {
    const FlowResult& f = flow(r, name);
    EXPECT_EQ(f.committed_bps, 400e3) << "each has a contract of its own";
    EXPECT_NEAR(*f.in_share, 0.5, 0.03);
    EXPECT_EQ(f.lost_packets, 0u);
  }
  EXPECT_THAT(r.drops.at("r"), testing::IsEmpty());
}

TEST(LabNetworkTags, AreNoPartOfWhatALinkCarries) {
  // At a rate that is just that of the packets nothing waits; 8 in 1000 more would wait ever longer.
  const RunResult r = run_once(kAccess, 1, {{"links.3.rate", "800 kbit/s"}, {"measure", "2 s - 4 s"}});
  EXPECT_NEAR(*flow(r, "home#1").one_way_delay_mean_s, 0.010 + 0.001 + 0.000'8 + 0.001, 1e-4);
}

}  // namespace
}  // namespace surety::lab
