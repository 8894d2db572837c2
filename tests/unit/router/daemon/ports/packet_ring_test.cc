// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/packet_ring.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace surety {
namespace {

using namespace packet_ring;

// Conditions of packet(7) and of net_af_packet.
TEST(PacketRing, HasFramesForEachMtuWithoutGaps) {
  for (unsigned mtu = 68; mtu <= 9216; ++mtu) {
    const std::uint32_t frame = frame_bytes(static_cast<std::uint16_t>(mtu)), block = block_bytes(frame);
    ASSERT_GE(largest_mtu(frame), mtu);
    ASSERT_EQ(frame % 16, 0u) << mtu;
    ASSERT_EQ(block % frame, 0u) << mtu;
    ASSERT_EQ(block % kDefaultBlock, 0u) << mtu;
    ASSERT_EQ(kFrames % (block / frame), 0u) << mtu << ": the last block is full";
    ASSERT_LE(frame, std::max(kDefaultFrame, mtu + kBufferFraming + 32)) << mtu << ": it fits into a buffer";
  }
}

TEST(PacketRing, IsDpdksUpToItsFrames) {
  EXPECT_EQ(frame_bytes(1500), 2048u);
  EXPECT_EQ(frame_bytes(1964), 2048u);
  EXPECT_EQ(frame_bytes(1965), 2064u);
  EXPECT_EQ(block_bytes(2048), 4096u);
}

}  // namespace
}  // namespace surety
