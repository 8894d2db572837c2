// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/packet_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace surety {
namespace {

bool put(PacketRing& ring, std::uint32_t number) {
  CapturedPacket* const p = ring.claim();
  if (p == nullptr) return false;
  *p = {};
  p->captured = 4;
  std::memcpy(PacketRing::bytes(p), &number, 4);
  ring.commit();
  return true;
}
std::uint32_t number_of(const CapturedPacket* p) {
  std::uint32_t n = 0;
  std::memcpy(&n, PacketRing::bytes(p).data(), 4);
  return n;
}

TEST(PacketRing, IsFullAtItsSizeAndHasRoomAgain) {
  PacketRing ring(4, 9);
  EXPECT_EQ(ring.front(), nullptr);
  for (std::uint32_t n = 0; n < 4; ++n) EXPECT_TRUE(put(ring, n));
  EXPECT_FALSE(put(ring, 4));
  EXPECT_EQ(number_of(ring.front()), 0u);
  ring.pop();
  EXPECT_TRUE(put(ring, 4));
  for (std::uint32_t n = 1; n < 5; ++n, ring.pop()) EXPECT_EQ(number_of(ring.front()), n);
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(PacketRing, WhatOneThreadPutsTheOtherFindsInOrder) {
  constexpr std::uint32_t kPackets = 20'000;
  PacketRing ring(64, 256);
  std::thread writer([&] {
    for (std::uint32_t n = 0; n < kPackets;)
      if (put(ring, n)) ++n;
  });
  for (std::uint32_t n = 0; n < kPackets;) {
    const CapturedPacket* const p = ring.front();
    if (p == nullptr) continue;
    ASSERT_EQ(number_of(p), n++);
    ring.pop();
  }
  writer.join();
}

}  // namespace
}  // namespace surety
