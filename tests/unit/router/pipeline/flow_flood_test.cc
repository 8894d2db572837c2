// SPDX-License-Identifier: BSD-3-Clause
// A flood of new flows through the whole ingress: what was promised is kept, to the packet.
#include <map>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;
using test::kStart;
using test::Octets;
using test::Udp;
using test::udp_frame;
using namespace literals;

constexpr std::uint32_t kContracts = 1000, kCapacity = 2048;
constexpr std::uint32_t kOfPort = 1928;  // kCapacity * 16 / 17: what one port may have
static_assert(kOfPort - 1 < 16 * (kCapacity - kOfPort + 1) && kOfPort >= 16 * (kCapacity - kOfPort));
constexpr std::uint8_t kAf11 = 10, kAf12 = 12, kBe = 0;
constexpr Duration kTurn = 20ms;  // five to a step

// 1000 contracts of 40 kbit/s that send 100 bytes every 20 ms each, which is what they have; every seventh
// one twice as much.
class Edge {
 public:
  Edge()
      : plane_(
            "version: 1\n"
            "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
            "services:\n"
            "  assured: {conditioner: token-bucket, rate: 8 kbit/s, bucket: 200 B, mark: {in: AF11, out: "
            "AF12}}\n"
            "flow_table: {capacity: 2048, idle_timeout: 30 s}\n"
            "classify:\n"
            "  - {match: {port: lan0}, service: assured, per: flow}\n") {
    plane_.route("10.2.0.0/16", {test::ready(1)});
  }

  // 100 ms; at their end the contracts' traffic, with so many packets of new flows before it.
  void step(std::uint32_t flood) {
    for (int i = 0; i < 5; ++i) plane_.turn(plane_.now + kTurn);
    for (; flood > 0; --flood) send(stranger());
    for (std::uint32_t c = 0; c < kContracts; ++c)
      for (std::uint32_t n = c % 7 == 0 ? 2 : 1; n > 0; --n) send(customer(c));
    flush();
  }
  // The marks of a contract's packets, in their order.
  const std::map<std::uint32_t, std::vector<std::uint8_t>>& marks() const { return marks_; }
  std::uint64_t degraded(DegradeReason r) const {
    return plane_.ports[0].degraded[static_cast<std::size_t>(r)];
  }
  std::uint64_t strangers(std::uint8_t mark) { return strangers_[mark]; }
  std::uint32_t flows() const { return plane_.ingress->flows().size(); }
  const DataPlane& plane() const { return plane_; }

 private:
  static Udp customer(std::uint32_t c) { return {.source = 0x0a010001 + c, .to = 1}; }
  Udp stranger() {
    return {.source = 0x0a018000 + rng_.next() % 0x7000,
            .from = static_cast<std::uint16_t>(rng_.next()),
            .to = static_cast<std::uint16_t>(2 + rng_.next() % 60000)};
  }
  void send(const Udp& u) {
    burst_.push_back(udp_frame(u));
    if (burst_.size() == kBurst) flush();
  }
  void flush() {
    plane_.receive(burst_);
    burst_.clear();
    for (const Octets& frame : plane_.transmit(1)) {
      const std::uint32_t customer = (std::uint32_t{frame[28]} << 8 | frame[29]) - 1;
      if (customer < kContracts)
        marks_[customer].push_back(test::dscp_of(frame));
      else
        ++strangers_[test::dscp_of(frame)];
    }
  }

  DataPlane plane_;
  Rng rng_{11};
  std::vector<Octets> burst_;
  std::map<std::uint32_t, std::vector<std::uint8_t>> marks_;
  std::map<std::uint8_t, std::uint64_t> strangers_;
};

TEST(FlowFlood, ActiveContractsKeepTheirMarkingExactly) {
  std::map<std::uint32_t, std::vector<std::uint8_t>> calm;
  for (const bool flooded : {false, true}) {
    Edge edge;
    for (int i = 0; i < 5; ++i) edge.step(0);
    for (int i = 0; i < 35; ++i) edge.step(flooded ? 800 : 0);
    if (!flooded) {
      calm = edge.marks();
      continue;
    }
    EXPECT_EQ(edge.marks(), calm);
    EXPECT_EQ(edge.marks().size(), kContracts);
    EXPECT_EQ(std::ranges::count(edge.marks().at(1), kAf12), 0) << "sends what it has";
    EXPECT_EQ(std::ranges::count(edge.marks().at(7), kAf11), 41) << "200 bytes, and 100 each step";
    EXPECT_EQ(edge.flows(), kOfPort);
    const std::uint64_t degraded =
        edge.degraded(DegradeReason::flow_share_full) + edge.degraded(DegradeReason::creation_limited);
    EXPECT_EQ(edge.strangers(kBe), degraded);
    EXPECT_EQ(edge.strangers(kBe) + edge.strangers(kAf11), 35u * 800) << "none is dropped";
    EXPECT_GT(edge.degraded(DegradeReason::flow_share_full), 14'000u) << "for two seconds at least";
    edge.plane().expect_law();
  }
}

TEST(FlowFlood, TheTableRecovers) {
  Edge edge;
  for (int i = 0; i < 5; ++i) edge.step(0);
  for (int i = 0; i < 4; ++i) edge.step(800);
  ASSERT_EQ(edge.flows(), kOfPort);
  for (int i = 0; i < 25; ++i) edge.step(0);
  EXPECT_EQ(edge.flows(), kContracts);
  const std::uint64_t before = edge.degraded(DegradeReason::flow_share_full);
  edge.step(900);
  EXPECT_EQ(edge.flows(), kContracts + 900);
  EXPECT_EQ(edge.degraded(DegradeReason::flow_share_full), before);
}

// Held back by the creation rate alone, a flood leaves room: 512 a second for 2 s.
TEST(FlowFlood, AtTheDefaultRateAFloodHoldsHalfTheTableInTheLongRun) {
  Edge edge;
  for (int i = 0; i < 60; ++i) edge.step(100);
  for (int i = 0; i < 10; ++i) {
    edge.step(100);
    EXPECT_LE(edge.flows(), kContracts + kCapacity / 2 + 64);
  }
}

}  // namespace
}  // namespace surety
