// SPDX-License-Identifier: BSD-3-Clause
// What the system lets this process have of memory, against what its configuration takes: said in one
// sentence before it starts, where the kernel would end it without one or DPDK fail with none that helps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "router/dpdk/ports/memory_plan.h"

namespace surety {

struct Limits {
  // In bytes; none: as much as there is.
  std::optional<std::uint64_t> address_space, locked, resident;
};

// Of this process. `root`: what stands before /proc and /sys.
Limits limits_here(const std::string& root = "");

// Throws std::runtime_error where one is too low for a router to start. Returns a warning where one is too
// low for full tables; empty: none is.
std::string check_limits(const config::Config& config, std::size_t workers, const MemoryPlan& plan,
                         bool hugepages, const Limits& limits);

}  // namespace surety
