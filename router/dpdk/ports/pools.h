// SPDX-License-Identifier: BSD-3-Clause
// Packet buffers, in the memory that is near the ports: one mempool (packet_pool.h) for
// each NUMA node that has some.
//
// On a machine with one node that is one pool.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/dpdk/ports/buffer_plan.h"

namespace surety {

// The NUMA node of a device, from the kernel's `sysfs`; `otherwise` if the device or the machine has none.
int node_of(const config::Device& device, int otherwise, const std::string& sysfs = "/sys");

class Pools {
 public:
  // One pool for each of `nodes` (by port; repetitions are one). Throws std::runtime_error.
  // `name`: at most 20 characters, unique in the process.
  Pools(const std::string& name, const config::Config& config, const PoolPlan& plan, std::vector<int> nodes);
  // The nodes are those of the ports' devices.
  Pools(const std::string& name, const config::Config& config, const PoolPlan& plan);

  // While they are in use: to as many as `plan.start`, or as there may be. False: there is no memory for
  // them.
  bool grow(const PoolPlan& plan);

  rte_mempool* of(std::size_t port) const { return pools_.at(nodes_[port]).get(); }
  // The nearest that there is.
  rte_mempool* near(const config::Device& device) const;
  rte_mempool* on(int node) const;  // nullptr: no port on this node
  std::size_t size() const { return pools_.size(); }
  std::uint32_t size_of_each() const { return size_of_each_; }
  // All together.
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
