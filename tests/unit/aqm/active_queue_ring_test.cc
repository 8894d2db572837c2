// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/active_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "conditioners/rng.h"

namespace surety {
namespace {

Packet packet(FlowId flow) {
  return {.flow = flow};
}

TEST(QueueRing, HoldsOneMoreThanAskedFor) {
  EXPECT_EQ(QueueRing(0).most(), 0u);
  EXPECT_EQ(QueueRing(1).most(), 1u);
  EXPECT_EQ(QueueRing(7).most(), 7u);
  EXPECT_EQ(QueueRing(8).most(), 15u);
  EXPECT_EQ(QueueRing(1000).most(), 1023u);
}

// Positions wrap at 2^32, and the ring within each of its sizes.
TEST(QueueRing, GivesBackWhatWasPutAtItsPosition) {
  for (const std::uint32_t limit : {64u, 100u, 200u}) {
    QueueRing ring(limit);
    Rng rng(limit);
    std::uint32_t at = static_cast<std::uint32_t>(-5000);
    for (FlowId next = 0; next < 10'000;) {
      const std::size_t n = rng.next() % 65;
      const Time time{Duration(next)};
      std::vector<Packet> burst;
      for (std::size_t i = 0; i < n; ++i) burst.push_back(packet(next++));
      if (n == 1)
        ring.put(at, burst[0], time);
      else
        ring.put(at, burst, time);
      std::array<Packet, 64> out;
      ring.get(at, std::span(out).first(n));
      for (std::size_t i = 0; i < n; ++i, ++at) {
        ASSERT_EQ(out[i].flow, burst[i].flow);
        ASSERT_EQ(ring.packet(at).flow, burst[i].flow);
        ASSERT_EQ(ring.time(at), time);
      }
    }
  }
}

}  // namespace
}  // namespace surety
