// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/pools.h"

#include <fmt/format.h>
#include <rte_lcore.h>

#include <algorithm>
#include <fstream>

#include "router/daemon/ports/packet_pool.h"

namespace surety {

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
