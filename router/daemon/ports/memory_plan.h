// SPDX-License-Identifier: BSD-3-Clause
// Estimates a router's memory from its configuration, before it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

struct MemoryPlan {
  struct Part {
    std::string name, what;     // e.g. "packet buffers", "24016 of 2368 B"
    std::uint64_t start, most;  // bytes: at start, and with full tables
  };
  std::vector<Part> parts;

  std::uint64_t start() const;
  std::uint64_t most() const;
  // A table for the operator, a line for each part and one for all.
  std::string text() const;
  // "139.7 MB resident at start, ...".
  std::string summary() const;
};

// Needs no EAL. Without hugepages: resident memory, within some percent of a real process with nothing but
// the router in it. With hugepages DPDK takes all parts but the program from these, with the whole FIB from
// the start.
MemoryPlan plan_memory(const config::Config& config, std::size_t workers);

}  // namespace surety
