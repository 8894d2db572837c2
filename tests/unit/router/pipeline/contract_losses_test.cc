// SPDX-License-Identifier: BSD-3-Clause
// The way of a packet's owner through the pipeline: who lost it, wherever that was.
#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;

std::string yaml(const std::string& service, const std::string& wan = "") {
  return "version: 1\nports: {lan0: {device: null}, wan0: {device: null, trust: core" + wan +
         "}}\nservices:\n  gold: {" + service +
         "}\n  free: {conditioner: none, mark: {in: BE}}\nclassify:\n"
         "  - {match: {port: lan0, destination_port: 5001}, service: gold, per: source}\n"
         "  - {match: {port: lan0}, service: free}\n";
}
const std::string kMetered =
    "conditioner: token-bucket, rate: 8 kbit/s, bucket: 500 B, mark: {in: AF11, out: BE}";

class ContractLossesTest {
 public:
  explicit ContractLossesTest(const std::string& text) : d(text) { d.route("10.2.0.0/16", {ready(1)}); }

  // The only contract.
  Loss loss() const {
    const auto entry = d.ingress->contracts().at(0);
    return entry ? d.disposal.losses().of(0, entry->id) : Loss{};
  }
  Loss service(std::uint16_t s) const { return d.disposal.losses().of_service(s); }
  FlowCounters let_go() const { return d.ingress->flows().counters(d.ingress->contracts().at(0)->id); }

  DataPlane d;
};

TEST(ContractLosses, AQueueThatIsFullLosesItsPackets) {
  ContractLossesTest t(yaml(kMetered, ", queues: q") +
                       "queues: {q: [{name: all, dscp: [BE, AF11], limit: 3 packets, count: packets}]}\n");
  t.d.receive(copies(8, udp_frame()));  // 5 IN, 3 OUT, 3 places
  EXPECT_EQ(t.let_go().in_bytes, 500u);
  EXPECT_EQ(t.let_go().out_bytes, 300u);
  EXPECT_EQ(t.loss().bytes, (std::array<std::uint64_t, 2>{200, 300}));
  EXPECT_EQ(t.loss().packets, (std::array<std::uint64_t, 2>{2, 3}));
  EXPECT_EQ(t.loss().at(LossPlace::queue), 5u);
  EXPECT_EQ(t.service(0).bytes, t.loss().bytes);
  EXPECT_EQ(t.d.transmit(1).size(), 3u);
}

TEST(ContractLosses, APortWithoutQueuesToo) {
  ContractLossesTest t(yaml(kMetered));
  for (int i = 0; i < 20; ++i) t.d.receive(copies(64, udp_frame()));  // the queue has 1,000 places
  EXPECT_EQ(t.loss().packets[0] + t.loss().packets[1], 280u);
  EXPECT_EQ(t.loss().bytes[0], 0u);
}

TEST(ContractLosses, AllSourcesOfAContractLoseForIt) {
  ContractLossesTest t(yaml(kMetered, ", queues: q") +
                       "queues: {q: [{name: all, dscp: [BE, AF11], limit: 1 packets, count: packets}]}\n");
  t.d.receive({udp_frame(), udp_frame({.from = 7}), udp_frame({.from = 8})});
  EXPECT_EQ(t.loss().packets[0], 2u);
}

TEST(ContractLosses, WhatNothingIsPromisedToLosesForItsServiceOnly) {
  ContractLossesTest t(yaml(kMetered, ", queues: q") +
                       "queues: {q: [{name: all, dscp: [BE, AF11], limit: 1 packets, count: packets}]}\n");
  t.d.receive(copies(4, udp_frame({.to = 9})));
  EXPECT_EQ(t.service(1).packets[0], 3u);
  t.d.receive({udp_frame()});
  EXPECT_EQ(t.loss().packets[0], 1u) << "not what another had lost at its place";
}

TEST(ContractLosses, WhatIsRefusedByTheConditioner) {
  ContractLossesTest t(yaml("conditioner: police, rate: 8 kbit/s, bucket: 500 B, mark: {in: EF}"));
  t.d.receive(copies(8, udp_frame()));
  EXPECT_EQ(t.loss().refused_bytes, 300u);
  EXPECT_EQ(t.loss().at(LossPlace::conditioner), 3u);
  EXPECT_EQ(t.d.service("gold").dropped_bytes, 300u);
  EXPECT_EQ(t.let_go().in_bytes, 500u);
}

// A held packet that finds no more room in its buffer.
TEST(ContractLosses, WhatIsRefusedByAFullInputBuffer) {
  ContractLossesTest t(
      yaml("conditioner: csa, alpha: {max: 0.4}, rate: 8 kbit/s, in_bucket: 500 B, out_bucket: 100 B, "
           "buffer: 2 packets, "
           "mark: {in: AF11, out: BE}"));
  t.d.receive(copies(9, udp_frame()));  // 5 IN, 1 OUT, 2 held
  EXPECT_EQ(t.loss().refused_bytes, 100u);
  EXPECT_EQ(t.loss().at(LossPlace::conditioner), 1u);
  t.d.run_until(t.d.now + std::chrono::seconds(1));
  EXPECT_EQ(t.let_go().in_bytes + t.let_go().out_bytes, 800u);
}

TEST(ContractLosses, ANextHopThatHasGoneWhileAPacketWasHeld) {
  ContractLossesTest t(
      yaml("conditioner: csa, alpha: {max: 0.4}, rate: 8 kbit/s, in_bucket: 500 B, out_bucket: 100 B, "
           "buffer: 2 packets, "
           "mark: {in: AF11, out: BE}"));
  t.d.receive(copies(8, udp_frame()));
  for (std::uint32_t hop = 0; hop < 1024; ++hop)
    if (t.d.next_hops.get(hop).state == NextHopEntry::State::ready)
      t.d.next_hops.set(hop, not_ready(NextHopEntry::State::unreachable, 1));
  t.d.run_until(t.d.now + std::chrono::seconds(1));
  EXPECT_EQ(t.loss().at(LossPlace::other), 2u);
  EXPECT_EQ(t.loss().bytes[0] + t.loss().bytes[1], 200u);
}

TEST(ContractLosses, TheRoutersOwnPacketsAreNobodys) {
  ContractLossesTest t(yaml(kMetered, ", queues: q") +
                       "queues: {q: [{name: all, dscp: [BE, AF11], limit: 1 packets, count: packets}]}\n");
  t.d.receive(copies(1, udp_frame()));
  rte_mbuf* const m = to_mbuf(udp_frame());
  set_owner(m, PacketOwner::base(0), 0, 0, Precedence::in);  // what its buffer carried before
  ++t.d.ports[1].originated;
  t.d.egresses[1]->enqueue_own({{m}}, t.d.now);
  t.d.disposal.flush();
  EXPECT_EQ(t.d.drops(1, DropReason::overflow), 1u);
  EXPECT_EQ(t.loss().packets[0] + t.service(0).packets[0], 0u);
}

// The ledger follows the counter of the service, whatever flows do.
TEST(ContractLosses, TheLedgerHasEveryContract) {
  ContractLossesTest t(yaml(kMetered));
  const auto open = [&] {
    std::size_t n = 0;
    for (std::uint32_t p = 0; p < t.d.ingress->contracts().places(); ++p)
      n += t.d.ingress->contracts().at(p).has_value();
    return n;
  };
  t.d.receive({udp_frame(), udp_frame({.source = 0x0a010002}), udp_frame({.to = 80})});
  EXPECT_EQ(open(), 2u);
  std::string per_flow = yaml(kMetered);
  per_flow.replace(per_flow.find("per: source"), 11, "per: flow  ");
  t.d.reload(per_flow);
  for (int i = 0; i < 2000; ++i) t.d.turn(t.d.now + std::chrono::milliseconds(10));
  t.d.receive({udp_frame(), udp_frame({.from = 4}), udp_frame({.source = 0x0a010002})});
  EXPECT_EQ(open(), t.d.service("gold").contracts);
  for (int i = 0; i < 20'000; ++i) t.d.turn(t.d.now + std::chrono::milliseconds(10));
  EXPECT_EQ(open(), 0u);
  EXPECT_EQ(t.d.service("gold").contracts, 0u);
}

}  // namespace
}  // namespace surety
