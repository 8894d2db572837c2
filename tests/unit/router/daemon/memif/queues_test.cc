// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/queues.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/unit/router/daemon/memif/talk.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::memif {
namespace {

constexpr std::uint8_t kLog2 = 3;
constexpr std::uint32_t kRing = 1 << kLog2;

rte_mbuf* frame_of(std::uint32_t length, std::uint8_t first) {
  rte_mbuf* const m = rte_pktmbuf_alloc(surety::test::packet_pool());
  m->pkt_len = length;
  m->data_len = static_cast<std::uint16_t>(length);
  for (std::uint32_t i = 0; i < length; ++i)
    *rte_pktmbuf_mtod_offset(m, std::uint8_t*, i) = static_cast<std::uint8_t>(first + i);
  return m;
}

void expect_frame(const rte_mbuf& m, std::uint32_t length, std::uint8_t first) {
  ASSERT_EQ(m.pkt_len, length);
  ASSERT_EQ(m.data_len, length);
  ASSERT_EQ(m.nb_segs, 1);
  for (std::uint32_t i = 0; i < length; ++i)
    ASSERT_EQ(*rte_pktmbuf_mtod_offset(&m, std::uint8_t*, i), static_cast<std::uint8_t>(first + i)) << i;
}

// A server and a client, and both directions of traffic; after each test no buffer is missing.
class MemifQueues : public testing::TestWithParam<bool> {
 protected:
  explicit MemifQueues(std::uint32_t buffer = 2048, std::uint8_t log2 = kLog2)
      : free_(rte_mempool_avail_count(surety::test::packet_pool())),
        links_(test::agree({}, {.log2_ring_size = log2, .buffer_size = buffer})) {
    // In the order of the protocol: a server is ready before its client is.
    Link &server = links_.server, &client = links_.client;
    in_server_ = ReceiveQueue(server.memory, server.receive[0], *surety::test::packet_pool());
    out_server_ = TransmitQueue(server.memory, server.transmit);
    in_client_ = ReceiveQueue(client.memory, client.receive[0], *surety::test::packet_pool());
    out_client_ = TransmitQueue(client.memory, client.transmit);
  }
  ~MemifQueues() override { EXPECT_EQ(rte_mempool_avail_count(surety::test::packet_pool()), free_); }

  // GetParam(): from the client to the server.
  TransmitQueue& out() { return GetParam() ? out_client_ : out_server_; }
  ReceiveQueue& in() { return GetParam() ? in_server_ : in_client_; }
  const Ring& ring_of_sender() { return out().ring(); }

  std::size_t send(std::uint32_t length, std::uint8_t first) {
    std::array<rte_mbuf*, 1> burst{frame_of(length, first)};
    const std::size_t n = out().transmit(burst);
    if (n == 0) rte_pktmbuf_free(burst[0]);
    return n;
  }
  std::size_t receive_and_free(std::size_t room = 32) {
    std::array<rte_mbuf*, 32> burst{};
    const std::size_t n = in().receive(std::span(burst).first(room));
    rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
    return n;
  }
  void expect_one(std::uint32_t length, std::uint8_t first) {
    std::array<rte_mbuf*, 4> burst{};
    ASSERT_EQ(in().receive(burst), 1u);
    expect_frame(*burst[0], length, first);
    rte_pktmbuf_free(burst[0]);
  }

  unsigned free_;
  test::Links links_;
  ReceiveQueue in_server_, in_client_;
  TransmitQueue out_server_, out_client_;
};

struct MemifSmallBuffers : MemifQueues {
  MemifSmallBuffers() : MemifQueues(64) {}
};

struct MemifLongRings : MemifQueues {
  MemifLongRings() : MemifQueues(128, 8) {}

  // A frame of that many buffers, a byte in each.
  void send_bytes(std::uint16_t slots) {
    for (std::uint16_t i = 0; i < slots; ++i) {
      ASSERT_EQ(send(60, 0), 1u);
      Descriptor d = ring_of_sender().read(i);
      d.length = 1;
      d.flags = i + 1 < slots ? Descriptor::kNext : std::uint16_t{0};
      ring_of_sender().write(i, d);
    }
  }
};

TEST_P(MemifQueues, BringFramesOverUnchanged) {
  EXPECT_EQ(receive_and_free(), 0u);
  ASSERT_EQ(send(100, 7), 1u);
  expect_one(100, 7);
  EXPECT_EQ(receive_and_free(), 0u);
}

TEST_P(MemifQueues, TakeWhatTheRingHolds) {
  for (std::uint32_t i = 0; i < kRing; ++i) EXPECT_EQ(send(60, 0), 1u);
  EXPECT_EQ(send(60, 0), 0u);
  EXPECT_EQ(out().fault(), nullptr);
  EXPECT_EQ(receive_and_free(3), 3u);
  EXPECT_EQ(send(60, 0), 1u);
  EXPECT_EQ(receive_and_free(), kRing - 2);
}

TEST_P(MemifQueues, CountOnBeyondSixteenBits) {
  for (unsigned i = 0; i < 70000; ++i) {
    ASSERT_EQ(send(60, static_cast<std::uint8_t>(i)), 1u);
    ASSERT_EQ(receive_and_free(), 1u);
  }
  ASSERT_EQ(send(61, 9), 1u);
  expect_one(61, 9);
}

TEST_P(MemifQueues, JoinTheSegmentsOfAFrame) {
  std::array<rte_mbuf*, 1> burst{frame_of(70, 1)};
  ASSERT_EQ(rte_pktmbuf_chain(burst[0], frame_of(50, 71)), 0);
  ASSERT_EQ(rte_pktmbuf_chain(burst[0], frame_of(1, 121)), 0);
  ASSERT_EQ(out().transmit(burst), 1u);
  expect_one(121, 1);
}

TEST_P(MemifSmallBuffers, SpreadFramesOverBuffers) {
  for (const std::uint32_t length : {63u, 64u, 65u, 128u, 500u, 512u}) {
    ASSERT_EQ(send(length, 3), 1u) << length;
    expect_one(length, 3);
  }
}

TEST_P(MemifSmallBuffers, WaitForRoomForAllOfAFrame) {
  ASSERT_EQ(send(64, 1), 1u);
  EXPECT_EQ(send(512, 2), 0u);
  EXPECT_EQ(out().fault(), nullptr);
  expect_one(64, 1);
  ASSERT_EQ(send(512, 2), 1u);
  expect_one(512, 2);
}

TEST_P(MemifSmallBuffers, AFrameThatNeverFitsIsTheirFault) {
  EXPECT_EQ(send(513, 2), 0u);
  EXPECT_STREQ(out().fault(), "provided buffers that are too small for a frame");
  EXPECT_EQ(send(1, 2), 0u) << "nothing moves any more";
}

// The sender does what it likes.

TEST_P(MemifQueues, ADescriptorOutsideTheRegionsIsAFault) {
  ASSERT_EQ(send(60, 0), 1u);
  Descriptor d = ring_of_sender().read(0);
  d.region = 1;
  ring_of_sender().write(0, d);
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_STREQ(in().fault(), "published a descriptor of bytes outside its regions");
  EXPECT_EQ(receive_and_free(), 0u);
}

TEST_P(MemifQueues, WhatCameBeforeAFaultIsReceived) {
  ASSERT_EQ(send(60, 0), 1u);
  ASSERT_EQ(send(60, 0), 1u);
  Descriptor d = ring_of_sender().read(1);
  d.length = 0xFFFFFFFF;
  ring_of_sender().write(1, d);
  EXPECT_EQ(receive_and_free(), 1u);
  EXPECT_NE(in().fault(), nullptr);
}

TEST_P(MemifQueues, AFrameWithoutAnEndIsAFault) {
  ASSERT_EQ(send(60, 0), 1u);
  Descriptor d = ring_of_sender().read(0);
  d.flags = Descriptor::kNext;
  ring_of_sender().write(0, d);
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_STREQ(in().fault(), "published an incomplete frame");
}

TEST_P(MemifQueues, AnIndexThatJumpsIsAFault) {
  ring_of_sender().publish(static_cast<std::uint16_t>(kRing + 1));
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_STREQ(in().fault(), "moved a ring's index by more than the ring's size");
}

TEST_P(MemifQueues, AFrameTooLongForUsIsCountedAndTheNextOneReceived) {
  ASSERT_EQ(send(60, 0), 1u);
  ASSERT_EQ(send(61, 5), 1u);
  Descriptor d = ring_of_sender().read(0);
  d.offset = 0;
  d.length = 16000;
  ring_of_sender().write(0, d);
  expect_one(61, 5);
  EXPECT_EQ(in().take_oversized(), 1u);
  EXPECT_EQ(in().take_oversized(), 0u);
}

TEST_P(MemifQueues, FramesTooLongForUsTakeNoMoreTimeThanOthers) {
  for (std::uint32_t i = 0; i < kRing; ++i) ASSERT_EQ(send(60, 0), 1u);
  for (std::uint16_t i = 0; i < kRing; ++i) {
    Descriptor d = ring_of_sender().read(i);
    d.offset = 0;
    d.length = 16000;
    ring_of_sender().write(i, d);
  }
  EXPECT_EQ(receive_and_free(3), 0u);
  EXPECT_EQ(in().take_oversized(), 3u);
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_EQ(in().take_oversized(), kRing - 3);
}

// Descriptors that add up to more than a buffer: nothing is written that has no room.
TEST_P(MemifQueues, LengthsThatOverflowAreTooLong) {
  for (std::uint32_t i = 0; i < kRing; ++i) ASSERT_EQ(send(60, 0), 1u);
  for (std::uint16_t i = 0; i < kRing; ++i) {
    Descriptor d = ring_of_sender().read(i);
    d.offset = 0;
    d.length = i % 2 == 0 ? 2000 : 1000;
    d.flags = i + 1 < static_cast<int>(kRing) ? Descriptor::kNext : std::uint16_t{0};
    ring_of_sender().write(i, d);
  }
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_EQ(in().take_oversized(), 1u);
  EXPECT_EQ(in().fault(), nullptr);
}

TEST_P(MemifLongRings, AFrameOfAsManyBuffersAsAnyNeedsIsReceived) {
  send_bytes(128);
  EXPECT_EQ(receive_and_free(), 1u);
  EXPECT_EQ(in().fault(), nullptr);
}

// Each costs a look, and all of a ring would cost a worker its time.
TEST_P(MemifLongRings, AFrameOfMoreBuffersIsAFault) {
  send_bytes(129);
  EXPECT_EQ(receive_and_free(), 0u);
  EXPECT_STREQ(in().fault(), "spread a frame over too many buffers");
}

// The receiver does what it likes.

TEST_P(MemifQueues, AReceiversIndexThatJumpsIsAFault) {
  in().ring().publish(static_cast<std::uint16_t>(5 * kRing));
  EXPECT_EQ(send(60, 0), 0u);
  EXPECT_STREQ(out().fault(), "moved a ring's index by more than the ring's size");
}

TEST_P(MemifQueues, BuffersOutsideTheRegionsAreAFaultOrOurs) {
  for (std::uint16_t i = 0; i < kRing; ++i) in().ring().write(i, {.length = 2048, .offset = 0xFFFFF000});
  const bool client = GetParam();
  EXPECT_EQ(send(60, 0), client ? 1u : 0u) << "a client's buffers are where it has put them";
  EXPECT_EQ(out().fault() == nullptr, client);
  if (client) expect_one(60, 0);
}

INSTANTIATE_TEST_SUITE_P(Both, MemifQueues, testing::Bool());
INSTANTIATE_TEST_SUITE_P(Both, MemifSmallBuffers, testing::Bool());
INSTANTIATE_TEST_SUITE_P(Both, MemifLongRings, testing::Bool());

TEST(MemifQueue, WithoutARingMovesNothing) {
  ReceiveQueue in;
  TransmitQueue out;
  std::array<rte_mbuf*, 1> burst{};
  EXPECT_EQ(in.receive(burst), 0u);
  EXPECT_EQ(out.transmit(burst), 0u);
  EXPECT_FALSE(in.waits());
}

}  // namespace
}  // namespace surety::memif
