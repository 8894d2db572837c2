#include "router/dpdk/pools.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <fstream>

#include "router/dpdk/eal.h"

namespace surety {

namespace {

constexpr unsigned kCache = 256;

std::vector<int> nodes_of(const config::Config& c) {
  std::vector<int> nodes;
  for (const auto& p : c.ports) nodes.push_back(node_of(p.device, static_cast<int>(rte_socket_id())));
  return nodes;
}

// A whole frame in one buffer.
std::uint16_t buffer_size(const config::Config& c) {
  std::uint32_t size = RTE_MBUF_DEFAULT_BUF_SIZE;
  for (const auto& p : c.ports) size = std::max<std::uint32_t>(size, p.mtu + RTE_PKTMBUF_HEADROOM + 64u);
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(size, UINT16_MAX));
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

Pools::Pools(const std::string& name, const config::Config& config, std::uint32_t buffers)
    : Pools(name, config, buffers, nodes_of(config)) {}

Pools::Pools(const std::string& name, const config::Config& config, std::uint32_t buffers,
             std::vector<int> nodes)
    : nodes_(std::move(nodes)) {
  if (nodes_.empty()) nodes_.push_back(static_cast<int>(rte_socket_id()));
  for (const int node : nodes_) {
    if (pools_.contains(node)) continue;
    rte_mempool* const pool = rte_pktmbuf_pool_create(fmt::format("{}-{}", name, node).c_str(), buffers,
                                                      kCache, 0, buffer_size(config), node);
    if (pool == nullptr)
      throw EalError(
          fmt::format("no memory for {} packet buffers on NUMA node {}: {}; raise `dpdk: {{memory: ...}}`",
                      buffers, node, rte_strerror(rte_errno)));
    pools_.emplace(node, pool);
  }
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
  std::uint64_t n = 0;
  for (const auto& [node, pool] : pools_) n += pool->size;
  return n;
}

}  // namespace surety
