// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>
#include <vector>

#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/packet_ring.h"

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
  return Pool(make_packet_pool("unit-pool", c, {kBuffers, kBuffers}, static_cast<int>(rte_socket_id())));
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

Pool growing(std::uint16_t mtu = 1500) {
  return Pool(make_packet_pool("unit-grows", ports({Kind::memif}, mtu), {kBuffers, 3 * kBuffers},
                               static_cast<int>(rte_socket_id())));
}
bool grow(rte_mempool& pool, std::uint32_t buffers) {
  return grow_packet_pool(pool, buffers, static_cast<int>(rte_socket_id()));
}

TEST(PacketPool, GivesItsMemoryBack) {
  for (int i = 0; i < 1000; ++i) make(ports({Kind::af_xdp}));  // 4 GB of the 512 MB there are
  EXPECT_TRUE(in_umem(*make(ports({Kind::af_xdp}))));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(grow(*growing(), 3 * kBuffers));
}

TEST(PacketPool, GrowsUpToWhatItIsPlannedFor) {
  const Pool pool = growing();
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), kBuffers);
  EXPECT_TRUE(grow(*pool, 2 * kBuffers));
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), 2 * kBuffers);
  EXPECT_TRUE(grow(*pool, kBuffers)) << "so many there are";
  EXPECT_TRUE(grow(*pool, 3 * kBuffers - 1));
  EXPECT_FALSE(grow(*pool, 3 * kBuffers + 1));
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), 3 * kBuffers - 1);
}

bool is_whole(const rte_mbuf& m, rte_mempool* pool) {
  const char* const data = reinterpret_cast<const char*>(&m) + sizeof m;
  return m.pool == pool && m.buf_addr == data && m.buf_len == rte_pktmbuf_data_room_size(pool) &&
         m.buf_iova == reinterpret_cast<rte_iova_t>(data) && rte_mbuf_refcnt_read(&m) == 1;
}

std::vector<void*> given;  // to watched pools
std::size_t whole_ones = 0;

int watch(rte_mempool* pool, void* const* objects, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    whole_ones += is_whole(*static_cast<const rte_mbuf*>(objects[i]), pool) ? 1u : 0u;
    given.push_back(objects[i]);
  }
  return 0;
}

// DPDK gives a pool each object as soon as it knows of it, and whoever uses the pool may have it at once.
TEST(PacketPool, IsGivenWholeBuffersOnly) {
  rte_mempool_ops ops{};
  std::snprintf(ops.name, sizeof ops.name, "unit-watched");
  ops.alloc = [](rte_mempool*) { return 0; };
  ops.enqueue = watch;
  ops.dequeue = [](rte_mempool*, void**, unsigned) { return -ENOENT; };
  ops.get_count = [](const rte_mempool*) { return static_cast<unsigned>(given.size()); };
  ASSERT_GE(rte_mempool_register_ops(&ops), 0);
  ASSERT_EQ(rte_mbuf_set_user_mempool_ops(ops.name), 0);
  {
    const Pool pool = growing(3000);  // of a size of its own: other tests' buffers lay elsewhere
    ASSERT_TRUE(grow(*pool, 3 * kBuffers));
  }
  EXPECT_EQ(rte_mbuf_set_user_mempool_ops(RTE_MBUF_DEFAULT_MEMPOOL_OPS), 0);
  EXPECT_EQ(given.size(), 3 * kBuffers);
  EXPECT_EQ(whole_ones, 3 * kBuffers);
}

TEST(PacketPool, HasBuffersForWholeFrames) {
  EXPECT_GE(rte_pktmbuf_data_room_size(make(ports({Kind::af_xdp}, 3500)).get()),
            RTE_PKTMBUF_HEADROOM + 3500 + 14 + 8);
  EXPECT_GE(rte_pktmbuf_data_room_size(make(ports({Kind::null}, 9000)).get()),
            RTE_PKTMBUF_HEADROOM + 9000 + 14 + 8);
}

TEST(PacketPool, HasRoomForTheFramesOfAnAfPacketRing) {
  for (const auto mtu : std::initializer_list<std::uint16_t>{1500, 1968, 2000, 9000, 9216}) {
    const std::uint32_t room = rte_pktmbuf_data_room_size(make(ports({Kind::af_packet}, mtu)).get());
    EXPECT_GE(room, RTE_PKTMBUF_HEADROOM + packet_ring::frame_bytes(mtu) - 32)
        << mtu << ": as the driver checks";
  }
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
        "port p1: in a router with af_xdp ports the mtu is at most 3712, this one is 9000; lower it, or "
        "use af_packet instead of af_xdp for all ports");
  }
}

TEST(PacketPool, WithoutMemorySaysWhatToRaise) {
  EXPECT_THROW(make_packet_pool("unit-much", ports({Kind::af_xdp}), {1 << 20, 1 << 20},
                                static_cast<int>(rte_socket_id())),
               std::runtime_error);
}

}  // namespace
}  // namespace surety
