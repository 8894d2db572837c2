// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/aggregate_markers.h"

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

constexpr std::size_t kOne = 2, kTwo = 3;  // classes of kQueues

class AggregateMarkersTest : public testing::Test {
 protected:
  ~AggregateMarkersTest() override {
    for (rte_mbuf* m : frames) rte_pktmbuf_free(m);
    disposal.flush();
    EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free);
  }
  static Snapshot snapshot(const std::string& rest) {
    return Snapshot(configured(Port::yaml(", queues: uplink", rest)));
  }
  AggregateMarkers markers(const std::string& rest, PortIndex port = 1) {
    return {AggregateMarkers::configured(snapshot(rest), port, kStart, 1), port, disposal};
  }
  void adopt(AggregateMarkers& m, const std::string& rest, Time now = kStart) {
    auto fresh = AggregateMarkers::configured(snapshot(rest), 1, now, 2);
    m.adopt(fresh, now);
  }
  struct Left {
    int length;
    Precedence precedence;
    int traffic_class;
    bool ecn_capable;
    bool operator==(const Left&) const = default;
  };
  Packet packet(const Octets& frame, Precedence precedence) {
    frames.push_back(to_mbuf(frame));
    return {frames.back(), kNoFlow, static_cast<std::uint16_t>(frame.size() - 14), precedence};
  }
  // What is left of a burst whose packets are every other one ECN-capable, from the first on.
  std::vector<Left> mark(AggregateMarkers& m, std::size_t cls, std::vector<Packet> burst, Time now = kStart) {
    std::array<bool, kBurst> ecn_capable;
    for (std::size_t i = 0; i < burst.size(); ++i) ecn_capable[i] = i % 2 == 0;
    ClassRun run{cls, burst, {ecn_capable.data(), burst.size()}};
    m.mark(run, now);
    EXPECT_EQ(run.packets.size(), run.ecn_capable.size());
    std::vector<Left> left;
    for (std::size_t i = 0; i < run.packets.size(); ++i) {
      auto* const mbuf = static_cast<rte_mbuf*>(run.packets[i].handle);
      const auto* const data = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
      const Octets frame(data, data + mbuf->data_len);
      EXPECT_TRUE(frame[14] >> 4 == 6 || checksum_right(frame));
      left.push_back({run.packets[i].length, run.packets[i].precedence, test::traffic_class_of(frame),
                      run.ecn_capable[i]});
      std::erase(frames, mbuf);
      rte_pktmbuf_free(mbuf);
    }
    frames.clear();  // the others are dropped
    return left;
  }
  std::vector<Left> send(AggregateMarkers& m, std::size_t cls, Precedence precedence, std::size_t n,
                         std::size_t length = 1000, Time now = kStart) {
    std::vector<Packet> burst;
    const std::uint8_t dscp = cls == kOne ? kAf11 : kAf21;
    for (std::size_t i = 0; i < n; ++i)
      burst.push_back(
          packet(udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | 1)}, length + i), precedence));
    return mark(m, cls, burst, now);
  }
  std::uint64_t dropped(PortIndex port) const {
    return counters[port].drops[static_cast<std::size_t>(DropReason::ard)];
  }

  unsigned free = rte_mempool_avail_count(packet_pool());
  std::array<PortCounters, 2> counters{};
  PacketDisposal disposal{counters, std::vector<KernelPeer>(2, KernelPeer::none), nullptr};
  std::vector<rte_mbuf*> frames;  // not yet free
};

constexpr Precedence kIn = Precedence::in, kOut = Precedence::out;

TEST_F(AggregateMarkersTest, AnAggregateIsOfOneClassOfOnePort) {
  const std::string yaml = aggregate("marker: arm, bucket: 100 B, threshold: 1 B, interval: 100 s");
  AggregateMarkers m = markers(yaml), other = markers(yaml, 0);
  ASSERT_EQ(m.all().size(), 1u);
  EXPECT_EQ(m.all()[0].name, "uplink");
  EXPECT_EQ(m.all()[0].class_index, kOne);
  EXPECT_EQ(m.all()[0].config_index, 0u);
  EXPECT_TRUE(other.all().empty());
  EXPECT_EQ(other.next_event(), kNever);
  const Left first{1000, kIn, kAf21 << 2 | 1, true}, second{1001, kIn, kAf21 << 2 | 1, false};
  EXPECT_THAT(send(m, kTwo, kIn, 2), ElementsAre(first, second)) << "another class passes as it is";
  EXPECT_EQ(m.all()[0].counters.passed_in, 0u);
}

TEST_F(AggregateMarkersTest, ABurstForWhichThereAreTokensPassesAsItIs) {
  AggregateMarkers m = markers(aggregate("bucket: 5000 B, threshold: 1000 B, drop: 1, interval: 100 s"));
  std::vector<Packet> burst;
  for (const Precedence p : {kIn, kOut, kIn, kOut, kIn})
    burst.push_back(packet(udp_frame({.tos = kAf11 << 2}, 1000), p));
  const Left in{1000, kIn, kAf11 << 2, true}, out{1000, kOut, kAf11 << 2, false};
  EXPECT_THAT(mark(m, kOne, burst), ElementsAre(in, out, in, out, in));
  EXPECT_EQ(m.all()[0].counters.passed_in, 3u);
  EXPECT_EQ(m.all()[0].counters.passed_out, 2u);
  EXPECT_EQ(m.all()[0].marker.tokens(), 2000 * kCreditPerByte);
}

// Without tokens everything is remarked; nothing comes in no time.
TEST_F(AggregateMarkersTest, ArmRemarksWhatHasNoTokens) {
  AggregateMarkers m = markers(aggregate("marker: arm, bucket: 3003 B, threshold: 1 B, interval: 100 s"));
  const int af11 = kAf11 << 2 | 1, af12 = kAf12 << 2 | 1;
  EXPECT_THAT(send(m, kOne, kIn, 5), ElementsAre(Left{1000, kIn, af11, true}, Left{1001, kIn, af11, false},
                                                 Left{1002, kIn, af11, true}, Left{1003, kOut, af12, false},
                                                 Left{1004, kOut, af12, true}));
  EXPECT_EQ(m.all()[0].counters.passed_in, 3u);
  EXPECT_EQ(m.all()[0].counters.remarked, 2u);
  EXPECT_EQ(m.all()[0].counters.dropped, 0u);
  EXPECT_EQ(dropped(1), 0u);
}

TEST_F(AggregateMarkersTest, RemarkedPacketsGetTheDscpThatIsSaidIPv6Too) {
  using namespace frames;
  AggregateMarkers m =
      markers(aggregate("marker: arm, bucket: 100 B, threshold: 1 B, interval: 100 s, mark: {out: BE}"));
  const Octets frame = ethernet(kIpv6) + ip6(17, udp(1, 2, 40), {.traffic_class = kAf11 << 2 | 2});
  EXPECT_THAT(mark(m, kOne, {packet(frame, kIn), packet(frame, kIn)}),
              ElementsAre(Left{88, kIn, kAf11 << 2 | 2, true}, Left{88, kOut, 2, false}));
}

TEST_F(AggregateMarkersTest, WhatArdDropsLeavesTheOthersInTheirOrder) {
  AggregateMarkers m = markers(aggregate("bucket: 2000 B, threshold: 1 B, drop: 1, interval: 100 s"));
  std::vector<Packet> burst;
  std::size_t length = 1000;
  for (const Precedence p : {kIn, kIn, kOut, kIn, kOut})
    burst.push_back(packet(udp_frame({.tos = kAf11 << 2}, length++), p));
  EXPECT_THAT(mark(m, kOne, burst),
              ElementsAre(Left{1000, kIn, kAf11 << 2, true}, Left{1002, kOut, kAf11 << 2, true},
                          Left{1004, kOut, kAf11 << 2, true}))
      << "1001 bytes find 1000 tokens";
  EXPECT_EQ(m.all()[0].counters.passed_in, 1u);
  EXPECT_EQ(m.all()[0].counters.passed_out, 2u);
  EXPECT_EQ(m.all()[0].counters.dropped, 2u);
  EXPECT_EQ(dropped(1), 2u);
  EXPECT_EQ(dropped(0), 0u);
}

TEST_F(AggregateMarkersTest, AwayFromTheIngressEdgeArdOnlyRemarks) {
  const std::string settings = "bucket: 2000 B, threshold: 1 B, drop: 1, interval: 100 s";
  for (const auto& yaml : {aggregate(settings + ", ingress: off"),
                           "router: {id: 192.0.2.1, role: core}" + aggregate(settings)}) {
    AggregateMarkers m = markers(yaml);
    EXPECT_EQ(send(m, kOne, kIn, 4).size(), 4u);
    EXPECT_EQ(m.all()[0].counters.remarked, 3u) << "1001 bytes and more find 1000 tokens";
    EXPECT_EQ(m.all()[0].counters.dropped, 0u);
  }
  EXPECT_EQ(dropped(1), 0u);
}

TEST_F(AggregateMarkersTest, IntervalsEndWithoutTraffic) {
  AggregateMarkers m = markers(aggregate("interval: 1 s"));
  send(m, kOne, kIn, 3, 100);
  EXPECT_EQ(send(m, kOne, kOut, 1, 303).size(), 1u);
  const ArdMarker& marker = m.all()[0].marker;
  EXPECT_EQ(m.next_event(), kStart + 1s);
  m.advance(kStart + 1s - 1ns);
  EXPECT_EQ(marker.tpr(), 8_Mbps);
  m.advance(kStart + 1s);
  EXPECT_EQ(marker.tpr(), 4_Mbps) << "half of the bytes that came were IN";
  EXPECT_EQ(m.next_event(), kStart + 2s);
}

// Of the aggregates of classes `one` and `two`; a bucket of 2001 bytes each: two packets.
std::string named(const std::array<std::string, 2>& names) {
  std::string text = kQueues;
  if (!names[0].empty() || !names[1].empty()) text += "aggregates:\n";
  for (const std::size_t i : {1u, 0u})
    if (!names[i].empty())
      text += "  " + names[i] + ": {port: out0, queue: " + (i == 0 ? "one" : "two") +
              ", rate: 8 Mbit/s, marker: arm, bucket: 2001 B, threshold: 1 B, interval: " +
              (i == 0 ? "100 s}\n" : "50 s}\n");
  return text;
}

TEST_F(AggregateMarkersTest, TheNextEventIsTheEarliestOfAll) {
  EXPECT_EQ(markers(named({"a", ""})).next_event(), kStart + 100s);
  EXPECT_EQ(markers(named({"a", "b"})).next_event(), kStart + 50s);
}

TEST_F(AggregateMarkersTest, OneThatKeepsItsNameGoesOn) {
  const std::string settings = "marker: arm, threshold: 1 B, interval: 100 s, ";
  AggregateMarkers m = markers(aggregate(settings + "bucket: 5000 B"));
  EXPECT_EQ(send(m, kOne, kIn, 3, 999).size(), 3u);
  adopt(m, aggregate(settings + "bucket: 9000 B, mark: {out: BE}"));
  EXPECT_EQ(m.all()[0].counters.passed_in, 3u);
  EXPECT_EQ(m.all()[0].marker.tokens(), 2000 * kCreditPerByte);
  EXPECT_EQ(m.next_event(), kStart + 100s);
  EXPECT_EQ(m.all()[0].out_dscp, kBe);
}

TEST_F(AggregateMarkersTest, AggregatesComeAndGo) {
  using Names = std::array<std::string, 2>;
  const struct {
    Names before, after;
    std::array<std::size_t, 2> remarked;  // by class, of 2 packets after 2 packets before
  } cases[] = {
      {{"a", ""}, {"a", ""}, {2, 0}},   {{"", ""}, {"a", ""}, {0, 0}},   {{"a", "b"}, {"", "b"}, {0, 2}},
      {{"a", "b"}, {"a", ""}, {2, 0}},  {{"a", ""}, {"b", ""}, {0, 0}},  {{"a", ""}, {"", "a"}, {0, 2}},
      {{"a", "b"}, {"b", "a"}, {2, 2}}, {{"", "b"}, {"a", "b"}, {0, 2}}, {{"a", "b"}, {"", ""}, {0, 0}},
      {{"a", "b"}, {"c", "d"}, {0, 0}},
  };
  for (const auto& c : cases) {
    AggregateMarkers m = markers(named(c.before));
    for (const std::size_t cls : {kOne, kTwo}) EXPECT_EQ(send(m, cls, kIn, 2).size(), 2u);
    const Snapshot after = snapshot(named(c.after));
    auto fresh = AggregateMarkers::configured(after, 1, kStart, 2);
    m.adopt(fresh, kStart);
    for (const std::size_t i : {0u, 1u}) {
      const auto left = send(m, kOne + i, kIn, 2);
      EXPECT_EQ(std::count_if(left.begin(), left.end(), [](const Left& l) { return l.precedence == kOut; }),
                c.remarked[i])
          << c.before[0] << ',' << c.before[1] << " to " << c.after[0] << ',' << c.after[1];
    }
    EXPECT_EQ(m.all().size(), after.config.aggregates.size());
    for (const auto& a : m.all()) EXPECT_EQ(after.config.aggregates[a.config_index].name, a.name);
  }
}

// Two agreements of class `one`, by source, with three and one packet of 1000 bytes; what is left of an
// aggregate by them; and one of class `two`.
const std::string kAgreements = std::string(kQueues) + R"(aggregates:
  acme: {port: out0, queue: one, rate: 1 Mbit/s, marker: arm, bucket: 3000 B, threshold: 1 B, interval: 1 s,
         match: {source: [10.1.0.0/24, "2001:db8:1::/48"]}}
  bolt: {port: out0, queue: one, rate: 2 Mbit/s, bucket: 1000 B, threshold: 1 B, drop: 1, interval: 2 s,
         match: {source: 10.1.1.0/24}}
  rest: {port: out0, queue: one, rate: 3 Mbit/s, marker: arm, bucket: 1000 B, threshold: 1 B, interval: 3 s}
  two: {port: out0, queue: two, rate: 8 Mbit/s, marker: arm, bucket: 2000 B, threshold: 1 B, interval: 4 s}
)";

class AgreementsTest : public AggregateMarkersTest {
 protected:
  Packet from(std::uint32_t source, Precedence precedence = kIn) {
    return packet(udp_frame({.source = source, .tos = kAf11 << 2}, 1000), precedence);
  }
  static constexpr std::uint32_t kAcme = 0x0a010001, kBolt = 0x0a010101, kOther = 0x0a010201;
  static std::array<std::uint64_t, 4> counted(const AggregateMarkers& m, std::size_t i) {
    const AggregateCounters& c = m.all()[i].counters;
    return {c.passed_in, c.passed_out, c.remarked, c.dropped};
  }
  using Counted = std::array<std::uint64_t, 4>;
};

TEST_F(AgreementsTest, OfOneClassHaveTokensTprAndCountersOfTheirOwn) {
  AggregateMarkers m = markers(kAgreements);
  ASSERT_EQ(m.all().size(), 4u);
  std::vector<Packet> burst;
  for (const std::uint32_t source : {kBolt, kAcme, kBolt, kOther, kAcme, kOther, kAcme, kBolt, kAcme})
    burst.push_back(from(source));
  burst.push_back(from(kAcme, kOut));
  const auto left = mark(m, kOne, burst);
  std::vector<Precedence> precedences;
  for (const Left& l : left) precedences.push_back(l.precedence);
  EXPECT_THAT(precedences, ElementsAre(kIn, kIn, kIn, kIn, kOut, kIn, kOut, kOut)) << "in their order";
  EXPECT_EQ(left[4].traffic_class, kAf12 << 2);
  EXPECT_EQ(counted(m, 0), (Counted{3, 1, 1, 0}));
  EXPECT_EQ(counted(m, 1), (Counted{1, 0, 0, 2}));
  EXPECT_EQ(counted(m, 2), (Counted{1, 0, 1, 0}));
  EXPECT_EQ(counted(m, 3), (Counted{}));
  EXPECT_EQ(dropped(1), 2u);
  m.advance(kStart + 4s);
  EXPECT_EQ(m.all()[0].marker.tpr(), 800_kbps) << "4 IN of 5 packets, of 1 Mbit/s";
  EXPECT_EQ(m.all()[1].marker.tpr(), 2_Mbps);
}

TEST_F(AgreementsTest, AnotherClassIsNotTouchedAndIPv6IsKnown) {
  using namespace frames;
  AggregateMarkers m = markers(kAgreements);
  EXPECT_EQ(send(m, kTwo, kIn, 2).size(), 2u);
  EXPECT_EQ(counted(m, 3), (Counted{1, 0, 1, 0}));
  Octets frame = ethernet(kIpv6) + ip6(17, udp(1, 2, 40), {.traffic_class = kAf11 << 2});
  const Octets source{0x20, 0x01, 0x0d, 0xb8, 0, 1};
  std::copy(source.begin(), source.end(), frame.begin() + 14 + 8);
  mark(m, kOne, {packet(frame, kIn)});
  EXPECT_EQ(counted(m, 0), (Counted{1, 0, 0, 0}));
}

TEST_F(AgreementsTest, WhatNoneHasPassesAsItIs) {
  std::string yaml = kAgreements;
  yaml.erase(yaml.find("  rest:"), yaml.find("  two:") - yaml.find("  rest:"));
  AggregateMarkers m = markers(yaml);
  const Left in{1000, kIn, kAf11 << 2, true}, second{1000, kIn, kAf11 << 2, false};
  EXPECT_THAT(mark(m, kOne, {from(kOther), from(kOther)}), ElementsAre(in, second));
  for (std::size_t i = 0; i < m.all().size(); ++i) EXPECT_EQ(counted(m, i), (Counted{})) << i;
}

TEST_F(AgreementsTest, IntervalsEndEachAtItsTime) {
  AggregateMarkers m = markers(kAgreements);
  for (const Duration at : {Duration(1s), Duration(2s), Duration(3s)}) {
    EXPECT_EQ(m.next_event(), kStart + at);
    m.advance(kStart + at);
  }
}

TEST_F(AgreementsTest, AReloadKeepsThemByNameWhereverTheyStand) {
  AggregateMarkers m = markers(kAgreements);
  mark(m, kOne, {from(kAcme), from(kAcme), from(kBolt), from(kOther)});
  std::string yaml = kAgreements;  // acme goes behind the others, bolt's addresses change, rest goes
  const std::size_t acme = yaml.find("  acme"), bolt = yaml.find("  bolt"), rest = yaml.find("  rest");
  const std::string kept = yaml.substr(acme, bolt - acme);
  yaml.erase(rest, yaml.find("  two") - rest);
  yaml.erase(acme, bolt - acme);
  yaml.replace(yaml.find("10.1.1.0/24"), 11, "10.1.2.0/24");
  adopt(m, yaml + kept);
  const auto named = [&](const char* name) {
    return std::find_if(m.all().begin(), m.all().end(), [&](const auto& a) { return a.name == name; });
  };
  EXPECT_EQ(named("acme")->marker.tokens(), 1000 * kCreditPerByte);
  EXPECT_EQ(named("bolt")->marker.tokens(), 0);
  EXPECT_EQ(named("rest"), m.all().end());
  EXPECT_EQ(mark(m, kOne, {from(kOther), from(kBolt), from(kAcme)}).size(), 2u) << "kOther is bolt's now";
  EXPECT_EQ(named("bolt")->counters.dropped, 1u);
  EXPECT_EQ(named("acme")->counters.passed_in, 3u);
  adopt(m, aggregate("marker: arm, bucket: 100 B, threshold: 1 B, interval: 100 s"));
  EXPECT_EQ(m.all().size(), 1u);
  mark(m, kOne, {from(kOther)});
  EXPECT_EQ(m.all()[0].counters.passed_in, 1u) << "of the whole class again";
}

}  // namespace
}  // namespace surety
