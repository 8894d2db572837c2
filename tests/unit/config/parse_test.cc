// SPDX-License-Identifier: BSD-3-Clause
// What edge.yaml means, value by value; and the defaults of a file that says nothing.
#include "config/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/address.h"

namespace surety::config {
namespace {

using namespace surety::literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Dscp kBe = 0, kAf11 = 10, kAf12 = 12, kAf13 = 14, kEf = 46, kCs6 = 48, kCs7 = 56;

const Config& edge() {
  static const auto result = parse_file(SURETY_SOURCE_DIR "/config/examples/edge.yaml");
  return result.config.value();
}

IpAddress address(const char* text) {
  return parse_address(text).value();
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

TEST(ParseEdge, RouterAndWorkers) {
  EXPECT_EQ(edge().router.name, "edge1");
  EXPECT_EQ(edge().router.id, 0xc0000201u);
  EXPECT_EQ(edge().router.role, Router::Role::border);
  EXPECT_THAT(edge().workers, ElementsAre(1u));
}

TEST(ParseEdge, Ports) {
  ASSERT_EQ(edge().ports.size(), 2u);
  const auto& lan = edge().ports[0];
  EXPECT_EQ(lan.name, "lan0");
  EXPECT_EQ(lan.device.kind, Device::Kind::af_xdp);
  EXPECT_EQ(lan.device.name, "lan0");
  EXPECT_THAT(lan.addresses, ElementsAre(prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")));
  EXPECT_EQ(lan.trust, Port::Trust::customer);
  EXPECT_EQ(lan.mtu, 1500);
  EXPECT_FALSE(lan.shaper.rate);
  EXPECT_FALSE(lan.queues);
  const auto& wan = edge().ports[1];
  EXPECT_EQ(wan.trust, Port::Trust::core);
  EXPECT_EQ(wan.shaper.rate, 34_Mbps);
  EXPECT_EQ(wan.queues, 0u);
}

TEST(ParseEdge, Routes) {
  ASSERT_EQ(edge().routes.size(), 2u);
  EXPECT_EQ(edge().routes[0].to, prefix("198.51.100.0/24"));
  ASSERT_EQ(edge().routes[0].next_hops.size(), 1u);
  EXPECT_EQ(edge().routes[0].next_hops[0].via, address("10.2.0.1"));
  EXPECT_FALSE(edge().routes[0].next_hops[0].port);
  EXPECT_EQ(edge().routes[1].to, prefix("2001:db8:ff::/48"));
}

TEST(ParseEdge, Queues) {
  ASSERT_EQ(edge().queues.size(), 1u);
  const auto& set = edge().queues[0];
  EXPECT_EQ(set.name, "uplink");
  ASSERT_EQ(set.classes.size(), 3u);
  const auto& voice = set.classes[1];
  EXPECT_TRUE(voice.scheduling.strict);
  EXPECT_EQ(voice.scheduling.cap, 2_Mbps);
  EXPECT_EQ(voice.scheduling.queue.limit, 32u);
  EXPECT_FALSE(voice.scheduling.queue.rio);
  EXPECT_THAT(voice.in, ElementsAre(kEf));
  EXPECT_THAT(voice.out, IsEmpty());
  const auto& assured = set.classes[2];
  EXPECT_FALSE(assured.scheduling.strict);
  EXPECT_EQ(assured.scheduling.weight, 9u);
  EXPECT_THAT(assured.in, ElementsAre(kAf11));
  EXPECT_THAT(assured.out, ElementsAre(kAf12, kAf13, kBe));
  const auto& rio = assured.scheduling.queue.rio.value();
  EXPECT_EQ(rio.weight, 0.002);
  EXPECT_EQ(rio.in.min, 70);
  EXPECT_EQ(rio.in.max, 120);
  EXPECT_EQ(rio.in.pmax, Probability(0.01));
  EXPECT_EQ(rio.out.min, 10);
  EXPECT_EQ(rio.out.max, 60);
  EXPECT_EQ(rio.out.pmax, Probability(0.2));
  EXPECT_FALSE(rio.ecn);
}

TEST(ParseEdge, EveryDscpHasItsClass) {
  const auto& map = edge().queues[0].by_dscp;
  const auto expect = [&](Dscp d, int class_index, Precedence p) {
    EXPECT_EQ(map[d].class_index, class_index) << dscp_name(d);
    EXPECT_EQ(map[d].precedence, p) << dscp_name(d);
  };
  expect(kCs6, 0, Precedence::in);
  expect(kCs7, 0, Precedence::in);
  expect(kEf, 1, Precedence::in);
  expect(kAf11, 2, Precedence::in);
  for (Dscp d = 0; d < 64; ++d) {
    if (d != kCs6 && d != kCs7 && d != kEf && d != kAf11) expect(d, 2, Precedence::out);
  }
}

TEST(ParseEdge, CsaService) {
  const auto& silver = edge().services.at(0);
  EXPECT_EQ(silver.name, "silver");
  EXPECT_EQ(silver.committed, 1_Mbps);
  EXPECT_EQ(silver.mark_in, kAf11);
  EXPECT_EQ(silver.mark_out, kBe);
  EXPECT_FALSE(silver.mark_red);
  const auto& csa = std::get<Csa>(silver.conditioner);
  EXPECT_EQ(csa.bucket.in.rate(), 1_Mbps);
  EXPECT_EQ(csa.bucket.in.depth(), 10 * 1500 * kCreditPerByte);
  EXPECT_EQ(csa.bucket.out.rate(), 1_Mbps);
  EXPECT_EQ(csa.bucket.out.depth(), 1500 * kCreditPerByte);
  EXPECT_EQ(csa.bucket.in.cost(576), 576 * kCreditPerByte);
  EXPECT_EQ(csa.bucket.buffer, 100u);
  EXPECT_EQ(csa.alpha,
            (CsaParams{Ratio::of(0.04), Ratio::of(0.4), Ratio::of(0.02), AlphaControl::search, 30ms, 90ms}));
}

TEST(ParseEdge, OtherServices) {
  const auto& assured = edge().services.at(1);
  const auto& bucket = std::get<TokenBucketMarker>(assured.conditioner).bucket;
  EXPECT_EQ(bucket.rate(), 800_kbps);
  EXPECT_EQ(bucket.depth(), 10'000 * kCreditPerByte);
  EXPECT_EQ(assured.mark_out, kAf13);
  EXPECT_EQ(assured.committed, 800_kbps);
  const auto& voice = edge().services.at(2);
  EXPECT_EQ(std::get<Police>(voice.conditioner).bucket.rate(), 128_kbps);
  EXPECT_EQ(voice.committed, 128_kbps);
  const auto& best_effort = edge().services.at(3);
  EXPECT_TRUE(std::holds_alternative<None>(best_effort.conditioner));
  EXPECT_EQ(best_effort.committed, Rate{});
  EXPECT_EQ(best_effort.mark_in, kBe);
}

TEST(ParseEdge, Rules) {
  ASSERT_EQ(edge().rules.size(), 4u);
  const auto& voice = edge().rules[0];
  EXPECT_EQ(voice.match.port, 0u);
  EXPECT_EQ(voice.match.protocol, 17);
  EXPECT_EQ(voice.match.destination_port.from, 5004);
  EXPECT_EQ(voice.match.destination_port.to, 5005);
  EXPECT_EQ(voice.match.source_port.to, 65535);
  EXPECT_EQ(voice.match.family, Match::Family::any);
  EXPECT_EQ(voice.service, 2u);
  EXPECT_EQ(voice.per, Rule::Per::flow);
  const auto& assured = edge().rules[1];
  EXPECT_EQ(assured.match.source, std::vector{prefix("10.1.0.64/26")});
  EXPECT_EQ(assured.match.protocol, 33);
  EXPECT_EQ(assured.match.family, Match::Family::ipv4);
  EXPECT_EQ(edge().rules[3].service, 3u);
  EXPECT_EQ(edge().rules[3].per, Rule::Per::rule);
}

TEST(ParseEdge, Aggregate) {
  ASSERT_EQ(edge().aggregates.size(), 1u);
  const auto& a = edge().aggregates[0];
  EXPECT_EQ(a.name, "uplink-tcp");
  EXPECT_EQ(a.port, 1u);
  EXPECT_EQ(a.class_index, 2u);
  EXPECT_EQ(a.marker.tpr_max, 34_Mbps);
  EXPECT_EQ(a.marker.bucket, Depth::packets(60));
  EXPECT_EQ(a.marker.threshold, Depth::packets(15));
  EXPECT_EQ(a.marker.remark, Probability(0.5));
  EXPECT_EQ(a.marker.drop, Probability(0.02));
  EXPECT_EQ(a.marker.interval, 100s);
  EXPECT_EQ(a.out_dscp, kAf12);
}

TEST(ParseEdge, FilesStartAtTheConfiguration) {
  EXPECT_EQ(edge().signalling.mode, Signalling::Mode::act);
  EXPECT_EQ(edge().signalling.key_file, SURETY_SOURCE_DIR "/config/examples/signal.key");
  EXPECT_EQ(edge().metrics.listen, "127.0.0.1:9464");
  EXPECT_EQ(edge().metrics.top_flows, 20u);
}

TEST(Parse, LeavesEveryDefaultAlone) {
  const auto result = parse("version: 1\nports: {a: {device: null}}\n", "f");
  ASSERT_TRUE(result.ok());
  const Config& c = *result.config;
  const Config defaults;
  EXPECT_EQ(c.ports[0].device.kind, Device::Kind::null);
  EXPECT_EQ(c.ports[0].mtu, Port{}.mtu);
  EXPECT_EQ(c.ports[0].shaper.burst, PortShaperParams{}.burst);
  EXPECT_EQ(c.router.name, defaults.router.name);
  EXPECT_THAT(c.workers, IsEmpty());
  EXPECT_EQ(c.metrics.listen, defaults.metrics.listen);
  EXPECT_EQ(c.flow_table.capacity, defaults.flow_table.capacity);
  EXPECT_EQ(c.flow_table.idle_timeout, defaults.flow_table.idle_timeout);
  EXPECT_EQ(c.flow_table.held_packets, defaults.flow_table.held_packets);
  EXPECT_EQ(c.dpdk.mbufs, defaults.dpdk.mbufs);
  EXPECT_EQ(c.signalling.mode, Signalling::Mode::off);
  EXPECT_TRUE(c.kernel.routes && c.kernel.addresses);
}

TEST(Parse, AConfigIsAValue) {
  Config copy = edge();
  copy.ports[0].name = "other";
  copy.queues[0].classes[0].scheduling.name = "other";
  EXPECT_EQ(edge().ports[0].name, "lan0");
  EXPECT_EQ(edge().queues[0].classes[0].scheduling.name, "control");
}

TEST(ParseFile, ReportsWhatCannotBeRead) {
  const auto missing = parse_file("/nowhere/edge.yaml");
  ASSERT_EQ(missing.diagnostics.size(), 1u);
  EXPECT_EQ(missing.diagnostics[0].format(),
            "/nowhere/edge.yaml:1:1: error: cannot be read: No such file or directory\n");
  EXPECT_FALSE(missing.ok());
  const auto directory = parse_file("/");
  ASSERT_EQ(directory.diagnostics.size(), 1u);
  EXPECT_EQ(directory.diagnostics[0].message, "cannot be read: Is a directory");
}

TEST(ParseServices, OutFromABacklogIsOffByDefault) {
  const auto on = [](const std::string& keys) {
    const Config c = parsed("services: {s: {rate: 8 Mbit/s" + keys + "}}\n");
    return std::get<Csa>(c.services.at(0).conditioner).bucket.out_from_backlog();
  };
  EXPECT_TRUE(on(", out_from_backlog: on"));
  EXPECT_FALSE(on(""));
}

}  // namespace
}  // namespace surety::config
