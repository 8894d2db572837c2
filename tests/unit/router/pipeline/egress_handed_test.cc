// SPDX-License-Identifier: BSD-3-Clause
// What other workers hand over to the owner of a port.
#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

// What a worker that does not own the port hands over, against the owner's own enqueue().
void send_handed(Port& p, std::uint8_t dscp, std::size_t n, std::uint8_t ecn = 0) {
  Egress& egress = *p.d.egresses[1];
  const auto frame = udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | ecn)}, 1000);
  std::vector<HandedPacket> burst;
  for (std::size_t i = 0; i < n; ++i) {
    rte_mbuf* m = test::to_mbuf(frame);
    burst.push_back(egress.describe(m, static_cast<std::uint16_t>(m->pkt_len - 14), p.d.snapshot.queues[1]));
  }
  egress.enqueue_handed(burst, p.d.now);
  p.d.ports[1].taken_over += n;
}

TEST(Egress, WhatIsHandedOverIsQueuedAsWhatIsNot) {
  Port own(", queues: uplink", kQueues), handed(", queues: uplink", kQueues);
  for (const std::uint8_t dscp : {kCs6, kAf11, kAf12, kAf21, kBe})
    for (const std::uint8_t ecn : {std::uint8_t{0}, std::uint8_t{2}}) {
      own.send(dscp, 3, 1000, ecn);
      send_handed(handed, dscp, 3, ecn);
    }
  for (std::size_t cls = 0; cls < 4; ++cls)
    for (const Precedence precedence : {Precedence::in, Precedence::out}) {
      EXPECT_EQ(handed.queue(cls, precedence).arrivals, own.queue(cls, precedence).arrivals) << cls;
      EXPECT_EQ(handed.queue(cls, precedence).departures, own.queue(cls, precedence).departures) << cls;
    }
  EXPECT_EQ(handed.d.ports[1].enqueued, 30u);
  EXPECT_EQ(handed.dscps(), own.dscps());
}

TEST(Egress, AnAggregateMarksWhatIsHandedOver) {
  Port p(", queues: uplink", aggregate("marker: arm, bucket: 5000 B, threshold: 1 B, interval: 100 s"));
  send_handed(p, kAf11, 8);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11, kAf11, kAf11, kAf11, kAf11, kAf12, kAf12, kAf12));
}

TEST(Egress, APortWithoutQueuesTakesOverInOrder) {
  Port p("");
  send_handed(p, kBe, 1);
  send_handed(p, kCs6, 1);
  EXPECT_EQ(p.d.ports[1].enqueued, 2u);
  EXPECT_THAT(p.dscps(), ElementsAre(kBe, kCs6));
}

}  // namespace
}  // namespace surety
