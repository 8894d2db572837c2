// SPDX-License-Identifier: BSD-3-Clause
// Mempools of packet buffers for the ports of a configuration: each buffer holds a whole frame of any port.
//
// DPDK's net_af_xdp registers memory with the kernel as long as all buffers of the pool end to end. Buffers
// that must not cross a page leave gaps, so such a pool reaches beyond that memory: the kernel silently keeps
// every receive buffer from there, until the port has none left. Beside an af_xdp port buffers are therefore
// 4096 bytes each, on page boundaries, without gaps. Without hugepages no device needs physical addresses,
// and buffers are contiguous, across pages. Such a pool may grow: its memory then has several pieces, which
// the kernel does not accept for an af_xdp port.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/ports/memory_plan.h"

namespace surety {

inline constexpr std::uint32_t kFraming = 64;        // Ethernet header, VLAN tags
inline constexpr std::uint16_t kPagedBuffer = 4096;  // bytes with DPDK's headers

inline constexpr unsigned kPoolCache = 256;  // buffers, per thread

// Bytes per buffer with DPDK's headers, in a pool without gaps.
std::uint32_t buffer_bytes(const config::Config& config);
// True if buffers have kPagedBuffer bytes: a port is af_xdp.
bool paged_buffers(const config::Config& config);

// Throws std::runtime_error, one sentence with the fix, when a port's `mtu` needs larger buffers than
// possible beside af_xdp.
void check_mtus(const config::Config& config);

// `name`: at most 20 characters, unique in the process. std::runtime_error, one sentence with the fix:
// without memory; when a port's `mtu` needs larger buffers than af_xdp can have.
rte_mempool* make_packet_pool(const std::string& name, const config::Config& config, const PoolPlan& plan,
                              int node);

// Grows the pool to `buffers`, while other threads use it. False: it may not have so many, or there is no
// memory; its size is unchanged then.
bool grow_packet_pool(rte_mempool& pool, std::uint32_t buffers, int node);

// True if all buffers lie in the memory that net_af_xdp registers with the kernel, and none crosses a page.
bool in_umem(rte_mempool& pool);

// The NUMA node of a device, from the kernel's `sysfs`; `otherwise` if the device or the machine has none.
int node_of(const config::Device& device, int otherwise, const std::string& sysfs = "/sys");

// Packet buffers, in the memory that is near the ports: one mempool for each NUMA node that has some. A
// machine with one node has one pool.
class Pools {
 public:
  // Creates one pool per node in `nodes` (indexed by port; repetitions share a pool). Throws
  // std::runtime_error. `name`: at most 20 characters, unique in the process.
  Pools(const std::string& name, const config::Config& config, const PoolPlan& plan, std::vector<int> nodes);
  // The nodes are those of the ports' devices.
  Pools(const std::string& name, const config::Config& config, const PoolPlan& plan);

  // Grows the pools while they are in use, to `plan.start` buffers or to their maximum. False: out of memory.
  bool grow(const PoolPlan& plan);

  rte_mempool* of(std::size_t port) const { return pools_.at(nodes_[port]).get(); }
  // The pool nearest to the device.
  rte_mempool* near(const config::Device& device) const;
  rte_mempool* on(int node) const;  // nullptr: no port on this node
  std::size_t size() const { return pools_.size(); }
  std::uint32_t size_of_each() const { return size_of_each_; }
  // Sums over all pools.
  std::uint64_t available() const;
  std::uint64_t buffers() const;

 private:
  struct Free {
    void operator()(rte_mempool* p) const { rte_mempool_free(p); }
  };
  std::vector<int> nodes_;
  std::atomic<std::uint32_t> size_of_each_;
  std::map<int, std::unique_ptr<rte_mempool, Free>> pools_;
};

}  // namespace surety
