// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/kept_counters.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(KeptCounters, ServicesKeepTheirsInMoreMemory) {
  KeptCounters counters(1, 1);
  counters.services()[0].flows = 3;
  std::vector<ServiceCounters> larger(2);
  counters.adopt(larger);
  ASSERT_EQ(counters.services().size(), 2u);
  EXPECT_EQ(counters.services()[0].flows, 3u);
  EXPECT_EQ(counters.services()[1].flows, 0u);
  EXPECT_EQ(larger.size(), 1u) << "the previous memory";
}

TEST(KeptCounters, ThoseOfAPortThatIsGoneStay) {
  KeptCounters counters(2, 0);
  counters.ports()[1].rx_packets = 7;
  counters.ports()[1].held = 2;
  counters.begin_port(1);
  counters.ports()[1].rx_packets += 1;
  Reading r;
  r.ports.resize(2);
  counters.fill(r);
  EXPECT_EQ(r.gone.rx_packets, 5u);
  EXPECT_EQ(r.ports[1].counters.rx_packets, 3u) << "those that are still held are the new port's";
}

}  // namespace
}  // namespace surety
