// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/handover.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

std::vector<rte_mbuf*> packets(std::size_t n) {
  std::vector<rte_mbuf*> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(rte_pktmbuf_alloc(test::packet_pool()));
  return v;
}

TEST(Handover, KeepsTheOrder) {
  Handover ring("order", 16);
  const auto in = packets(5);
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(ring.enqueue({in.data(), 3}), 3u);
  EXPECT_EQ(ring.enqueue({in.data() + 3, 2}), 2u);
  EXPECT_FALSE(ring.empty());
  std::vector<rte_mbuf*> out(8);
  out.resize(ring.dequeue(out));
  EXPECT_EQ(out, in);
  for (auto* m : out) rte_pktmbuf_free(m);
}

TEST(Handover, WhatDoesNotFitStaysTheCallers) {
  Handover ring("full", 16);
  const auto in = packets(20);
  EXPECT_EQ(ring.enqueue(in), 15u);
  EXPECT_EQ(ring.enqueue({in.data() + 15, 5}), 0u);
  std::vector<rte_mbuf*> out(2);
  ASSERT_EQ(ring.dequeue(out), 2u);
  EXPECT_EQ(ring.enqueue({in.data() + 15, 5}), 2u);
  for (auto* m : out) rte_pktmbuf_free(m);
  for (std::size_t i = 17; i < 20; ++i) rte_pktmbuf_free(in[i]);
}

TEST(Handover, FreesWhatIsLeft) {
  const unsigned before = rte_mempool_avail_count(test::packet_pool());
  {
    Handover ring("left", 256);
    EXPECT_EQ(ring.enqueue(packets(100)), 100u);
  }
  EXPECT_EQ(rte_mempool_avail_count(test::packet_pool()), before);
}

TEST(Handover, NamesAreUnique) {
  const Handover one("same", 16);
  EXPECT_THROW(Handover("same", 16), std::runtime_error);
}

}  // namespace
}  // namespace surety
