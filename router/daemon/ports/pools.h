// SPDX-License-Identifier: BSD-3-Clause
// Packet buffers, in the memory that is near the ports: one mempool (packet_pool.h) for each NUMA node that
// has some.
//
// A machine with one node has one pool.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/ports/buffer_plan.h"

namespace surety {

// The NUMA node of a device, from the kernel's `sysfs`; `otherwise` if the device or the machine has none.
int node_of(const config::Device& device, int otherwise, const std::string& sysfs = "/sys");

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
