// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/receiver.h"

#include "tests/unit/router/daemon/workers/worker_parts.h"

namespace surety {
namespace {

using namespace test;

struct ReceiverTest : WorkerParts {
  static constexpr std::uint64_t kSeed = 0x5eed;

  ReceiverTest() {
    for (std::size_t p = 0; p < ports.size(); ++p) taps[p].on_receive(Frames::on_receive, &frames[p]);
  }
  // A packet of each of so many flows comes by `lan`; returns how many of them are the second worker's.
  std::size_t bring(std::uint16_t flows) {
    const Dispatch dispatch(Spread::flow, 2, kSeed);
    std::size_t others = 0;
    for (std::uint16_t f = 0; f < flows; ++f) {
      frames[kLan].in.push_back(numbered(f, 0));
      others += dispatch(frames[kLan].in.back());
    }
    return others;
  }
  std::size_t receive(Receiver& r) { return r.receive(*d.ingress, d.now); }

  std::array<Frames, 3> frames;
  std::array<PortTap, 3> taps{PortTap(*ports[0]), PortTap(*ports[1]), PortTap(*ports[2])};
  Receiver first{context(0), kSeed}, second{context(1), kSeed};
};

TEST_F(ReceiverTest, DispatchesWhatAnotherWorkerHasTheFlowsOf) {
  const std::size_t others = bring(32);
  ASSERT_GT(others, 0u);
  ASSERT_LT(others, 32u);
  EXPECT_EQ(receive(first), 32u);
  EXPECT_EQ(d.ports[kLan].rx_packets, 32 - others);
  EXPECT_TRUE(second.dispatched_waits());
  EXPECT_EQ(receive(second), others);
  EXPECT_FALSE(second.dispatched_waits());
  EXPECT_EQ(d.ports[kLan].rx_packets, 32u) << "counted where they are processed";
}

TEST_F(ReceiverTest, SaysOnceToWhomItHasDispatched) {
  EXPECT_EQ(first.take_dispatched(), 0u);
  bring(32);
  receive(first);
  EXPECT_EQ(first.take_dispatched(), 1u << 1);
  EXPECT_EQ(first.take_dispatched(), 0u);
}

TEST_F(ReceiverTest, AFullRingDropsByName) {
  for (std::size_t dispatched = 0; dispatched < kHandoverSize;) {
    dispatched += bring(32);
    receive(first);
  }
  const std::uint64_t full = d.drops(kLan, DropReason::dispatch_full);
  EXPECT_GT(full, 0u);
  const std::uint64_t before = d.ports[kLan].rx_packets;
  while (receive(second) > 0) {
  }
  EXPECT_EQ(d.ports[kLan].rx_packets - before, kHandoverSize - 1u);
  d.expect_law();
}

TEST_F(ReceiverTest, StoppedItStillTakesWhatIsDispatched) {
  const std::size_t others = bring(32);
  receive(first);
  frames[kUp].in.push_back(udp_frame({.port = kUp}));
  second.stop();
  EXPECT_FALSE(second.receiving());
  EXPECT_EQ(receive(second), others);
  EXPECT_EQ(frames[kUp].in.size(), 1u);
}

TEST_F(ReceiverTest, NullDevicesDoNotWake) {
  Sleeper sleeper;
  EXPECT_FALSE(first.watch(sleeper));
}

TEST_F(ReceiverTest, WhoHasNoQueueIsWokenByTheOthers) {
  plan.ports[kUp].readers = {0};
  Receiver rings(context(1), kSeed);
  Sleeper sleeper;
  EXPECT_TRUE(rings.watch(sleeper));
}

}  // namespace
}  // namespace surety
