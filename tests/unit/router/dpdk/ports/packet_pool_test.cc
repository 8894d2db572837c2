// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <memory>
#include <set>
#include <vector>

#include "router/dpdk/ports/eal.h"

namespace surety {
namespace {

using Kind = config::Device::Kind;
constexpr std::uint32_t kBuffers = 1000;

config::Config ports(std::vector<Kind> kinds, std::uint16_t mtu = 1500) {
  config::Config c;
  for (const Kind kind : kinds) {
    auto& p = c.ports.emplace_back();
    p.name = "p" + std::to_string(c.ports.size() - 1);
    p.device.kind = kind;
    p.mtu = mtu;
  }
  return c;
}

struct Free {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};
using Pool = std::unique_ptr<rte_mempool, Free>;
Pool make(const config::Config& c) {
  return Pool(make_packet_pool("unit-pool", c, kBuffers, static_cast<int>(rte_socket_id())));
}

// All of them, in the order of their addresses.
std::set<std::uintptr_t> buffers_of(rte_mempool* pool) {
  std::vector<rte_mbuf*> all(kBuffers);
  EXPECT_EQ(rte_pktmbuf_alloc_bulk(pool, all.data(), kBuffers), 0);
  EXPECT_EQ(rte_pktmbuf_alloc(pool), nullptr);
  std::set<std::uintptr_t> starts;
  for (rte_mbuf* m : all) {
    starts.insert(reinterpret_cast<std::uintptr_t>(m) - pool->header_size);
    rte_pktmbuf_free(m);
  }
  return starts;
}

// net_af_xdp gives the kernel `kBuffers` times the size of one: a gap would leave the last ones out.
TEST(PacketPool, OfAnAfXdpPortHasNoGaps) {
  const Pool pool = make(ports({Kind::null, Kind::af_xdp}));
  const auto starts = buffers_of(pool.get());
  ASSERT_EQ(starts.size(), kBuffers);
  EXPECT_EQ(*starts.begin() % kPagedBuffer, 0u);
  EXPECT_EQ(*starts.rbegin() - *starts.begin(), (kBuffers - 1) * kPagedBuffer);
  EXPECT_EQ(rte_mempool_calc_obj_size(pool->elt_size, pool->flags, nullptr), kPagedBuffer);
  EXPECT_TRUE(in_umem(*pool));
}

// Without hugepages they lie end to end, across pages.
TEST(PacketPool, OfOtherPortsIsNothingForAfXdp) {
  const Pool pool = make(ports({Kind::null, Kind::af_packet}));
  const auto starts = buffers_of(pool.get());
  ASSERT_EQ(starts.size(), kBuffers);
  const std::size_t buffer = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, nullptr);
  EXPECT_EQ(*starts.rbegin() - *starts.begin(), (kBuffers - 1) * buffer);
  EXPECT_FALSE(in_umem(*pool));
}

TEST(PacketPool, GivesItsMemoryBack) {
  for (int i = 0; i < 1000; ++i) make(ports({Kind::af_xdp}));  // 4 GB of the 512 MB there are
  EXPECT_TRUE(in_umem(*make(ports({Kind::af_xdp}))));
}

TEST(PacketPool, HasBuffersForWholeFrames) {
  EXPECT_GE(rte_pktmbuf_data_room_size(make(ports({Kind::af_xdp}, 3500)).get()),
            RTE_PKTMBUF_HEADROOM + 3500 + 14 + 8);
  EXPECT_GE(rte_pktmbuf_data_room_size(make(ports({Kind::null}, 9000)).get()),
            RTE_PKTMBUF_HEADROOM + 9000 + 14 + 8);
}

TEST(PacketPool, RefusesFramesThatAfXdpHasNoBuffersFor) {
  auto c = ports({Kind::af_xdp, Kind::pci});
  c.ports[1].mtu = 9000;
  try {
    make(c);
    FAIL() << "it has been made";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(
        e.what(),
        "port p1: beside af_xdp ports an mtu of 3712 is the largest, this one has 9000; lower it, or "
        "use af_packet");
  }
}

TEST(PacketPool, WithoutMemorySaysWhatToRaise) {
  EXPECT_THROW(
      make_packet_pool("unit-much", ports({Kind::af_xdp}), 1 << 20, static_cast<int>(rte_socket_id())),
      std::runtime_error);
}

}  // namespace
}  // namespace surety
