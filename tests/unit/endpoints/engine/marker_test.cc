// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/marker.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(HostMarker, MarksByItsBucketAndCounts) {
  SenderParams p;
  p.dscp = 10;
  p.dscp_out = 14;
  p.mark = TokenBucketParams(1_Mbps, Depth::bytes(3000));
  HostMarker marker(p, kStart);
  EXPECT_EQ(marker.mark(p, 1500, kStart), 10);
  EXPECT_EQ(marker.mark(p, 1500, kStart), 10);
  EXPECT_EQ(marker.mark(p, 1500, kStart), 14);
  EXPECT_EQ(marker.mark(p, 1500, kStart + 12ms), 10);
  FlowReading r;
  marker.read(r);
  EXPECT_EQ(r.sent_packets, 4u);
  EXPECT_EQ(r.sent_bytes, 6000u);
  EXPECT_EQ(r.sent_in_packets, 3u);
}

TEST(HostMarker, WithoutOneEveryPacketIsIn) {
  SenderParams p;
  p.dscp = 46;
  HostMarker marker(p, kStart);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(marker.mark(p, 9000, kStart), 46);
  FlowReading r;
  marker.read(r);
  EXPECT_EQ(r.sent_in_packets, 100u);
  EXPECT_EQ(marker.packets(), 100u);
  EXPECT_EQ(marker.bytes(), 900'000u);
}

}  // namespace
}  // namespace surety::endpoints
