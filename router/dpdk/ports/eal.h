// SPDX-License-Identifier: BSD-3-Clause
// Starting DPDK: memory, cores and a name of its own, so that several routers run side by side.
//
// Errors are one sentence with the fix, thrown as std::runtime_error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

struct EalPlan {
  std::vector<std::string> arguments;  // of rte_eal_init
  std::vector<unsigned> worker_cores;  // by worker; it runs on the lcore of its number + 1
  bool hugepages = false;
  std::string note;  // what the user should know, e.g. why it runs without hugepages; may be empty
};

// Memory the data plane takes from DPDK, in bytes: FIBs (none for max_routes 0), packet buffers, rings; in
// pages of that many bytes. FIBs have memory of their own without hugepages.
std::uint64_t eal_memory_bytes(const config::Config& c, std::size_t workers, std::uint64_t page);
// Of a configuration that names none: all cores but the first one, which the control thread and the rest of
// the machine keep; at most kMaxWorkers.
std::vector<unsigned> default_workers(const std::vector<unsigned>& cores);

// By worker. Throws where the configuration names a core that this process may not use.
std::vector<unsigned> worker_cores(const config::Config& c);

// How many workers it has on this machine.
std::size_t count_workers(const config::Config& c);

// Whether a router of this configuration takes hugepages on this machine. Throws where it needs them and they
// cannot be had; `note`: why it runs without.
bool choose_hugepages(const config::Config& c, std::string& note);

EalPlan plan_eal(const config::Config& c);
void start_eal(const EalPlan& plan);

std::string file_prefix(const std::string& router_name);

}  // namespace surety
