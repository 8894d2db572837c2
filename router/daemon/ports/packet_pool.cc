// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/packet_pool.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memzone.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/packet_ring.h"
#include "router/daemon/ports/port_device.h"

namespace surety {

namespace {

constexpr std::uint16_t kPagedRoom =
    kPagedBuffer - RTE_CACHE_LINE_ROUNDUP(sizeof(rte_mempool_objhdr)) - sizeof(rte_mbuf);
// Disables DPDK's spreading over memory channels, which would make buffers larger, even larger than a page.
constexpr unsigned kPackedFlags = RTE_MEMPOOL_F_NO_SPREAD;

struct Free {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};
using Pool = std::unique_ptr<rte_mempool, Free>;

std::uint32_t room_of(const config::Config& c) {
  std::uint32_t room = RTE_MBUF_DEFAULT_BUF_SIZE;
  for (const auto& p : c.ports) {
    const bool rings = p.device.kind == config::Device::Kind::af_packet;
    room = std::max(room, p.mtu + RTE_PKTMBUF_HEADROOM + (rings ? packet_ring::kBufferFraming : kFraming));
  }
  return std::min<std::uint32_t>(room, UINT16_MAX);
}

std::uint32_t object_bytes(std::uint32_t room, unsigned flags) {
  return rte_mempool_calc_obj_size(static_cast<std::uint32_t>(sizeof(rte_mbuf)) + room, flags, nullptr);
}

void free_memory(rte_mempool_memhdr*, void* memory) {
  rte_memzone_free(static_cast<const rte_memzone*>(memory));
}

std::uint32_t object_bytes(const rte_mempool& pool) {
  return pool.header_size + pool.elt_size + pool.trailer_size;
}

// rte_pktmbuf_pool_create() with other flags and memory.
Pool make_empty(const std::string& name, std::uint32_t most, std::uint16_t data_room, int node,
                unsigned flags) {
  rte_pktmbuf_pool_private room{};
  room.mbuf_data_room_size = data_room;
  Pool pool(rte_mempool_create_empty(name.c_str(), most, sizeof(rte_mbuf) + data_room, kPoolCache,
                                     sizeof room, node, kPackedFlags | flags));
  if (!pool || rte_mempool_set_ops_byname(pool.get(), rte_mbuf_best_mempool_ops(), nullptr) != 0)
    return nullptr;
  rte_pktmbuf_pool_init(pool.get(), &room);
  return pool;
}

// The pool frees the memory, from its first use on.
Pool make_paged(const std::string& name, std::uint32_t buffers, int node) {
  Pool pool = make_empty(name, buffers, kPagedRoom, node, 0);
  std::size_t page = 0;
  if (!pool || rte_mempool_get_page_size(pool.get(), &page) != 0) return nullptr;
  const rte_memzone* memory =
      rte_memzone_reserve_aligned(name.c_str(), std::size_t{buffers} * kPagedBuffer, node, 0, kPagedBuffer);
  if (memory == nullptr) return nullptr;
  const int n = rte_mempool_populate_virt(pool.get(), static_cast<char*>(memory->addr), memory->len, page,
                                          free_memory, const_cast<rte_memzone*>(memory));
  if (n < 0 || static_cast<std::uint32_t>(n) != buffers) return nullptr;
  rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
  return pool;
}

// DPDK adds each object to the pool in use at once: it is initialised as a packet buffer before.
void make_buffers(rte_mempool& pool, char* start, std::uint32_t buffers) {
  for (std::uint32_t i = 0; i < buffers; ++i) {
    char* const object = start + std::size_t{i} * object_bytes(pool) + pool.header_size;
    rte_mempool_get_header(object)->iova = reinterpret_cast<rte_iova_t>(object);
    rte_pktmbuf_init(&pool, nullptr, object, i);
  }
}

bool add_buffers(rte_mempool& pool, std::uint32_t buffers, int node) {
  const std::size_t bytes = std::size_t{buffers} * object_bytes(pool);
  const std::string name = fmt::format("{}+{}", pool.name, pool.populated_size);
  const rte_memzone* memory = rte_memzone_reserve(name.c_str(), bytes, node, 0);
  if (memory == nullptr) return false;
  auto* const start = static_cast<char*>(memory->addr);
  make_buffers(pool, start, buffers);
  // No device needs the physical addresses.
  const int n = rte_mempool_populate_iova(&pool, start, reinterpret_cast<rte_iova_t>(start), bytes,
                                          free_memory, const_cast<rte_memzone*>(memory));
  if (n <= 0) rte_memzone_free(memory);
  return n >= 0 && static_cast<std::uint32_t>(n) == buffers;
}

Pool make_growing(const std::string& name, const PoolPlan& plan, std::uint16_t data_room, int node) {
  Pool pool = make_empty(name, plan.most, data_room, node, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  return pool && add_buffers(*pool, plan.start, node) ? std::move(pool) : nullptr;
}

}  // namespace

std::uint32_t buffer_bytes(const config::Config& config) {
  return paged_buffers(config) ? kPagedBuffer : object_bytes(room_of(config), kPackedFlags);
}

bool paged_buffers(const config::Config& config) {
  return has_kind(config, config::Device::Kind::af_xdp);
}

void check_mtus(const config::Config& c) {
  if (!paged_buffers(c)) return;
  for (const auto& p : c.ports)
    if (p.mtu + RTE_PKTMBUF_HEADROOM + kFraming > kPagedRoom)
      throw std::runtime_error(fmt::format(
          "port {}: in a router with af_xdp ports the mtu is at most {}, this one is {}; lower it, "
          "or use af_packet instead of af_xdp for all ports",
          p.name, kPagedRoom - RTE_PKTMBUF_HEADROOM - kFraming, p.mtu));
}

rte_mempool* make_packet_pool(const std::string& name, const config::Config& config, const PoolPlan& plan,
                              int node) {
  Pool pool;
  const auto room = static_cast<std::uint16_t>(room_of(config));
  if (paged_buffers(config)) {
    check_mtus(config);
    pool = make_paged(name, plan.start, node);
  } else if (rte_eal_has_hugepages() == 0) {
    pool = make_growing(name, plan, room, node);
  } else {
    pool.reset(rte_pktmbuf_pool_create(name.c_str(), plan.start, kPoolCache, 0, room, node));
  }
  if (!pool)
    throw std::runtime_error(
        fmt::format("no memory for {} packet buffers on NUMA node {}: {}; raise `dpdk: {{memory: ...}}`",
                    plan.start, node, rte_strerror(rte_errno)));
  return pool.release();
}

bool grow_packet_pool(rte_mempool& pool, std::uint32_t buffers, int node) {
  if (buffers > pool.size) return false;
  return buffers <= pool.populated_size || add_buffers(pool, buffers - pool.populated_size, node);
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

namespace {

std::vector<int> nodes_of(const config::Config& c) {
  std::vector<int> nodes;
  for (const auto& p : c.ports) nodes.push_back(node_of(p.device, static_cast<int>(rte_socket_id())));
  return nodes;
}

}  // namespace

int node_of(const config::Device& device, int otherwise, const std::string& sysfs) {
  using Kind = config::Device::Kind;
  std::string file;
  if (device.kind == Kind::pci)
    file = fmt::format("{}/bus/pci/devices/{}{}/numa_node", sysfs, device.name.size() == 7 ? "0000:" : "",
                       device.name);
  else if (device.kind == Kind::af_xdp || device.kind == Kind::af_packet)
    file = fmt::format("{}/class/net/{}/device/numa_node", sysfs, device.name);
  std::ifstream f(file);
  int node = -1;
  return f >> node && node >= 0 ? node : otherwise;
}

Pools::Pools(const std::string& name, const config::Config& config, const PoolPlan& plan)
    : Pools(name, config, plan, nodes_of(config)) {}

Pools::Pools(const std::string& name, const config::Config& config, const PoolPlan& plan,
             std::vector<int> nodes)
    : nodes_(std::move(nodes)), size_of_each_(plan.start) {
  if (nodes_.empty()) nodes_.push_back(static_cast<int>(rte_socket_id()));
  for (const int node : nodes_) {
    if (pools_.contains(node)) continue;
    pools_.emplace(node, make_packet_pool(fmt::format("{}-{}", name, node), config, plan, node));
  }
}

bool Pools::grow(const PoolPlan& plan) {
  const std::uint32_t buffers = std::min(plan.start, pools_.begin()->second->size);
  if (buffers <= size_of_each_) return true;
  for (const auto& [node, pool] : pools_)
    if (!grow_packet_pool(*pool, buffers, node)) return false;
  size_of_each_ = buffers;
  return true;
}

rte_mempool* Pools::near(const config::Device& device) const {
  rte_mempool* const there = on(node_of(device, static_cast<int>(rte_socket_id())));
  return there != nullptr ? there : pools_.begin()->second.get();
}

rte_mempool* Pools::on(int node) const {
  const auto at = pools_.find(node);
  return at == pools_.end() ? nullptr : at->second.get();
}

std::uint64_t Pools::available() const {
  std::uint64_t n = 0;
  for (const auto& [node, pool] : pools_) n += rte_mempool_avail_count(pool.get());
  return n;
}

std::uint64_t Pools::buffers() const {
  return std::uint64_t{size_of_each_} * pools_.size();
}

}  // namespace surety
