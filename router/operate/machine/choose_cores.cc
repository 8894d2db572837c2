// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "router/operate/machine/setup.h"

namespace surety::machine {

namespace {

constexpr std::size_t kFewest = 4;  // cores of a machine that has some to spare

std::vector<unsigned> siblings_of(const Host& host, unsigned core) {
  auto all =
      cores_of(host.line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core))
                   .value_or(""));
  return all.empty() ? std::vector{core} : all;
}

bool on_nodes(const Host& host, unsigned core, const std::vector<int>& nodes) {
  return std::ranges::any_of(nodes, [&](int node) {
    const auto list = host.line(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
    return !list || std::ranges::count(cores_of(*list), core) > 0;
  });
}

}  // namespace

WorkerCores choose_cores(const Host& host, std::size_t count, const std::vector<int>& nodes) {
  auto online = cores_of(host.line("/sys/devices/system/cpu/online").value_or("0"));
  WorkerCores chosen;
  if (online.size() < kFewest) return chosen;
  count = std::min(count, online.size() / 2);
  std::set<unsigned> isolated;
  for (; !online.empty() && chosen.workers.size() < count; online.pop_back()) {
    const unsigned core = online.back();
    const auto siblings = siblings_of(host, core);
    const bool first = std::ranges::count(siblings, 0U) > 0;
    if (first || isolated.contains(core) || !on_nodes(host, core, nodes)) continue;
    chosen.workers.push_back(core);
    isolated.insert(siblings.begin(), siblings.end());
  }
  std::ranges::sort(chosen.workers);
  chosen.isolated.assign(isolated.begin(), isolated.end());
  return chosen;
}

std::string kernel_words(const std::vector<unsigned>& isolated) {
  const std::string cores = text_of(isolated);
  return fmt::format("isolcpus={} nohz_full={} rcu_nocbs={}", cores, cores, cores);
}

std::string grub_text(const std::vector<unsigned>& isolated) {
  return fmt::format(
      "# Written by `surety setup`: the router's workers have these cores for themselves.\n"
      "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {}\"\n",
      kernel_words(isolated));
}

}  // namespace surety::machine
