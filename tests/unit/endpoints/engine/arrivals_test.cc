// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/arrivals.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

TEST(Arrivals, CountsAllAndThoseInApart) {
  Arrivals a;
  const SinkParams params;
  IpPacket packet;
  packet.length = 1500;
  a.count(params, packet, 1460);
  packet.length = 100;
  packet.traffic_class = 10 << 2;  // AF11
  a.count(params, packet, 60);
  a.count_mark(true);
  a.count_mark(false);
  a.count_duplicate();
  EXPECT_EQ(a.packets(), 2u);
  EXPECT_EQ(a.bytes(), 1600u);
  EXPECT_EQ(a.payload(), 1520u);
  FlowReading r;
  a.read(r);
  EXPECT_EQ(r.received_packets, 2u);
  EXPECT_EQ(r.received_bytes, 1600u);
  EXPECT_EQ(r.received_in_packets, 1u);
  EXPECT_EQ(r.received_in_bytes, 100u);
  EXPECT_EQ(r.marks, 1u);
  EXPECT_EQ(r.duplicate_packets, 1u);
}

}  // namespace
}  // namespace surety::endpoints
