// SPDX-License-Identifier: BSD-3-Clause
// A port that gets `queues` or loses them while packets wait, and one that goes.
#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

const std::string kUplink = ", queues: uplink";

std::vector<std::size_t> sizes(Port& p) {
  std::vector<std::size_t> all;
  for (auto frames = p.d.transmit(1); !frames.empty(); frames = p.d.transmit(1))
    for (const auto& f : frames) all.push_back(f.size());
  return all;
}

TEST(EgressPortChanges, WhatWaitedWithoutQueuesComesToThem) {
  Port p("");
  for (std::size_t length = 100; length < 103; ++length) {
    p.send(kAf21, 1, length);
    p.send(kCs6, 1, length + 100);
  }
  p.reload(kUplink, kQueues);
  EXPECT_EQ(p.d.egresses[1]->depth(), 6u);
  EXPECT_EQ(p.d.egresses[1]->plain(), nullptr);
  EXPECT_THAT(sizes(p), ElementsAre(214, 215, 216, 114, 115, 116));
}

TEST(EgressPortChanges, WhatWaitedInQueuesLeavesWithoutThem) {
  Port p(kUplink, kQueues);
  for (std::size_t length = 100; length < 103; ++length) {
    p.send(kAf21, 1, length);
    p.send(kCs6, 1, length + 100);
  }
  p.reload("");
  EXPECT_EQ(p.d.egresses[1]->depth(), 6u);
  ASSERT_NE(p.d.egresses[1]->plain(), nullptr);
  auto all = sizes(p);
  std::ranges::stable_sort(all, {}, [](std::size_t size) { return size < 200; });
  EXPECT_THAT(all, ElementsAre(214, 215, 216, 114, 115, 116)) << "each class in its order";
}

TEST(EgressPortChanges, WhatFindsNoRoomInTheOneQueueIsOverflow) {
  Port p(kUplink, "queues: {uplink: [{name: all, dscp: [BE], limit: 2000 packets}]}\n");
  p.send(kBe, 1500);
  p.reload("");
  EXPECT_EQ(p.d.egresses[1]->depth(), 1000u);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 500u);
}

// Whoever hands over knows the one or the other.
TEST(EgressPortChanges, WhatAnotherWorkerFoundBeforeIsLookedAtAgain) {
  Port p("");
  p.reload(kUplink, kQueues);
  Egress& egress = *p.d.egresses[1];
  const auto hand = [&](const PortQueues& classes) {
    rte_mbuf* m = to_mbuf(udp_frame({.tos = kAf21 << 2}));
    const HandedPacket packet = Egress::describe(m, 100, classes);
    egress.enqueue_handed({&packet, 1}, p.d.now);
    ++p.d.ports[1].taken_over;
  };
  hand(p.d.snapshot.queues[1]);
  hand(p.snapshot->queues[1]);
  EXPECT_EQ(p.queue(3, Precedence::in).arrivals, 2u);
  p.reload("");
  hand(p.d.snapshot.queues[1]);
  hand(p.snapshot->queues[1]);
  EXPECT_EQ(egress.depth(), 4u);
}

// A place without a port has no name.
class Gone : public testing::TestWithParam<const char*> {};

TEST_P(Gone, DropsWhatWaitsAndWhatComes) {
  Port p(GetParam(), kQueues);
  p.send(kAf11, 10);
  p.send(kCs6, 5);
  config::Config without = p.d.snapshot.config;
  without.ports[1] = {};
  p.snapshot = std::make_unique<Snapshot>(without, p.d.snapshot);
  p.update = Egress::prepare(*p.snapshot, 1, p.d.now, 2);
  p.adopt();
  EXPECT_EQ(p.d.egresses[1]->depth(), 0u);
  EXPECT_EQ(p.d.drops(1, DropReason::port_gone), 15u);
  p.send(kAf11, 3);
  EXPECT_EQ(p.d.drops(1, DropReason::port_gone), 18u);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 0u);
  EXPECT_TRUE(p.d.transmit(1).empty());
  EXPECT_EQ(p.d.egresses[1]->next_departure(p.d.now), kNever);
}

INSTANTIATE_TEST_SUITE_P(EgressPortChanges, Gone,
                         testing::Values("", ", queues: uplink", ", shape: 1 Mbit/s"));

}  // namespace
}  // namespace surety
