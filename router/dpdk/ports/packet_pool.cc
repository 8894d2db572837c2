// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/packet_pool.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memzone.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "router/dpdk/ports/eal.h"

namespace surety {

namespace {

constexpr std::uint16_t kPagedRoom =
    kPagedBuffer - RTE_CACHE_LINE_ROUNDUP(sizeof(rte_mempool_objhdr)) - sizeof(rte_mbuf);
// Without DPDK's spreading over memory channels, which would make them larger, than a page even.
constexpr unsigned kPackedFlags = RTE_MEMPOOL_F_NO_SPREAD;

struct Free {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};
using Pool = std::unique_ptr<rte_mempool, Free>;

std::uint32_t room_of(const config::Config& c) {
  std::uint32_t room = RTE_MBUF_DEFAULT_BUF_SIZE;
  for (const auto& p : c.ports) room = std::max(room, p.mtu + RTE_PKTMBUF_HEADROOM + kFraming);
  return std::min<std::uint32_t>(room, UINT16_MAX);
}

std::uint32_t object_bytes(std::uint32_t room, unsigned flags) {
  return rte_mempool_calc_obj_size(static_cast<std::uint32_t>(sizeof(rte_mbuf)) + room, flags, nullptr);
}

void check_room(const config::Config& c) {
  for (const auto& p : c.ports)
    if (p.mtu + RTE_PKTMBUF_HEADROOM + kFraming > kPagedRoom)
      throw std::runtime_error(
          fmt::format("port {}: beside af_xdp ports an mtu of {} is the largest, this one has {}; lower it, "
                      "or use af_packet",
                      p.name, kPagedRoom - RTE_PKTMBUF_HEADROOM - kFraming, p.mtu));
}

void free_memory(rte_mempool_memhdr*, void* memory) {
  rte_memzone_free(static_cast<const rte_memzone*>(memory));
}

// The pool frees the memory, from its first use on.
bool populate(rte_mempool& pool, const std::string& name, int node, std::uint32_t bytes, std::size_t page) {
  const std::uint32_t align = bytes == kPagedBuffer ? kPagedBuffer : RTE_CACHE_LINE_SIZE;
  const rte_memzone* memory =
      rte_memzone_reserve_aligned(name.c_str(), std::size_t{pool.size} * bytes, node, 0, align);
  if (memory == nullptr) return false;
  auto* const start = static_cast<char*>(memory->addr);
  void* const owned = const_cast<rte_memzone*>(memory);
  // No page: every address is as good as that which a device would see.
  const int n = page == 0 ? rte_mempool_populate_iova(&pool, start, reinterpret_cast<rte_iova_t>(start),
                                                      memory->len, free_memory, owned)
                          : rte_mempool_populate_virt(&pool, start, memory->len, page, free_memory, owned);
  return n >= 0 && static_cast<std::uint32_t>(n) == pool.size;
}

// As rte_pktmbuf_pool_create(), which leaves neither flags nor memory to us.
Pool make_packed(const std::string& name, std::uint32_t buffers, std::uint16_t data_room, int node) {
  const unsigned flags = kPackedFlags | (data_room == kPagedRoom ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  rte_pktmbuf_pool_private room{};
  room.mbuf_data_room_size = data_room;
  Pool pool(rte_mempool_create_empty(name.c_str(), buffers, sizeof(rte_mbuf) + data_room, kPoolCache,
                                     sizeof room, node, flags));
  if (!pool || rte_mempool_set_ops_byname(pool.get(), rte_mbuf_best_mempool_ops(), nullptr) != 0)
    return nullptr;
  rte_pktmbuf_pool_init(pool.get(), &room);
  std::size_t page = 0;
  if (rte_mempool_get_page_size(pool.get(), &page) != 0) return nullptr;
  if (!populate(*pool, name, node, object_bytes(data_room, kPackedFlags), page)) return nullptr;
  rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace

std::uint32_t buffer_bytes(const config::Config& config) {
  return paged_buffers(config) ? kPagedBuffer : object_bytes(room_of(config), kPackedFlags);
}

bool paged_buffers(const config::Config& config) {
  return std::any_of(config.ports.begin(), config.ports.end(),
                     [](const config::Port& p) { return p.device.kind == config::Device::Kind::af_xdp; });
}

rte_mempool* make_packet_pool(const std::string& name, const config::Config& config, std::uint32_t buffers,
                              int node) {
  Pool pool;
  const auto room = static_cast<std::uint16_t>(room_of(config));
  if (paged_buffers(config)) {
    check_room(config);
    pool = make_packed(name, buffers, kPagedRoom, node);
  } else if (rte_eal_has_hugepages() == 0) {
    pool = make_packed(name, buffers, room, node);
  } else {
    pool.reset(rte_pktmbuf_pool_create(name.c_str(), buffers, kPoolCache, 0, room, node));
  }
  if (!pool)
    throw std::runtime_error(
        fmt::format("no memory for {} packet buffers on NUMA node {}: {}; raise `dpdk: {{memory: ...}}`",
                    buffers, node, rte_strerror(rte_errno)));
  return pool.release();
}

bool in_umem(rte_mempool& pool) {
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    std::size_t buffer = 0;
    bool holds_all = true;
  } range;
  range.buffer = rte_mempool_calc_obj_size(pool.elt_size, pool.flags, nullptr);
  range.holds_all = range.buffer == kPagedBuffer;
  range.begin = reinterpret_cast<std::uintptr_t>(STAILQ_FIRST(&pool.mem_list)->addr);
  range.end = range.begin + range.buffer * pool.populated_size;
  const auto look = [](rte_mempool* p, void* into, void* object, unsigned) {
    auto& r = *static_cast<Range*>(into);
    const std::uintptr_t buffer = reinterpret_cast<std::uintptr_t>(object) - p->header_size;
    r.holds_all = r.holds_all && buffer >= r.begin && buffer + r.buffer <= r.end;
  };
  rte_mempool_obj_iter(&pool, look, &range);
  return range.holds_all;
}

}  // namespace surety
