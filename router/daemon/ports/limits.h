// SPDX-License-Identifier: BSD-3-Clause
// Compares the memory limits of this process with the needs of its configuration before the start: otherwise
// the kernel would kill it without a message, or DPDK fail with an unhelpful one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"
#include "router/daemon/ports/memory_plan.h"

namespace surety {

struct Limits {
  // Limits in bytes; nullopt: unlimited.
  std::optional<std::uint64_t> address_space, locked, resident;
};

// Limits of this process. `root`: prefix of /proc and /sys.
Limits limits_here(const std::string& root = "");

// Throws std::runtime_error if a limit is too low for a start. Returns a warning if one is too low for full
// tables, else an empty string.
std::string check_limits(const config::Config& config, std::size_t workers, const MemoryPlan& plan,
                         bool hugepages, const Limits& limits);

}  // namespace surety
