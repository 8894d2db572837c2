// SPDX-License-Identifier: BSD-3-Clause
// Pages of 2 MB, by NUMA node.
#pragma once

#include <map>
#include <vector>

#include "router/operate/machine/host.h"

namespace surety::machine {

inline constexpr std::uint64_t kHugepageBytes = 2 << 20;

fs::path hugepages_file(int node, const char* what = "nr_hugepages");
std::vector<int> numa_nodes(const Host& host);  // at least node 0

// Shares `pages` among the nodes, with more for the first ones; at most half of a node's free pages and
// memory. The rest is left out.
std::map<int, unsigned> share_hugepages(const Host& host, unsigned pages, const std::vector<int>& nodes);

}  // namespace surety::machine
