// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/hugepages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace surety::machine {

fs::path hugepages_file(int node, const char* what) {
  return fmt::format("/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/{}", node, what);
}

std::vector<int> numa_nodes(const Host& host) {
  std::vector<int> nodes;
  for (const auto& name : host.list("/sys/devices/system/node"))
    if (name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])) != 0)
      nodes.push_back(std::atoi(name.c_str() + 4));
  std::ranges::sort(nodes);
  return nodes.empty() ? std::vector{0} : nodes;
}

namespace {

// Node 0 MemFree:  123456 kB; and what files have in memory, which the kernel gives away for pages.
std::uint64_t available_bytes(const Host& host, int node) {
  const std::string text =
      host.read(fmt::format("/sys/devices/system/node/node{}/meminfo", node)).value_or("");
  std::uint64_t kilobytes = 0;
  for (const char* word : {"MemFree:", "FilePages:"})
    if (const auto at = text.find(word); at != text.npos)
      kilobytes += std::strtoull(text.c_str() + at + std::char_traits<char>::length(word), nullptr, 10);
  return kilobytes * 1024;
}

}  // namespace

std::map<int, unsigned> share_hugepages(const Host& host, unsigned pages, const std::vector<int>& nodes) {
  std::map<int, unsigned> shared;
  unsigned left = pages, nodes_left = static_cast<unsigned>(nodes.size());
  for (const int node : nodes) {
    const auto has = static_cast<std::uint64_t>(host.number(hugepages_file(node)).value_or(0));
    const std::uint64_t most = has + available_bytes(host, node) / kHugepageBytes / 2;
    const auto part =
        static_cast<unsigned>(std::min<std::uint64_t>((left + nodes_left - 1) / nodes_left, most));
    // Pages that another program has reserved stay.
    if (part > 0) shared[node] = std::max(part, static_cast<unsigned>(has));
    left -= part;
    --nodes_left;
  }
  return shared;
}

}  // namespace surety::machine
