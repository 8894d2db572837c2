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
// pages of that many bytes.
std::uint64_t eal_memory_bytes(const config::Config& c, std::size_t workers, std::uint64_t page);
// Packet buffers: what the configuration asks for, or enough for devices, queues, input buffers and the rings
// between workers together.
std::uint32_t mbuf_count(const config::Config& c, std::size_t workers = 1);
// As many as its queues and devices can really hold: what a reload needs of the pool that there is.
std::uint32_t least_buffers(const config::Config& c, std::size_t workers = 1);
// Packet buffers of a pool that is made for it: more than that, since a pool cannot grow and a reload may
// enlarge queues. The rest is what `dpdk: {mbufs: ...}` has been given beyond what is needed, or a quarter
// more, within bounds that every machine has and nobody misses.
std::uint32_t pool_size(const config::Config& c, std::size_t workers = 1);

// Of a configuration that names none: all cores but the first one, which the control thread and the rest of
// the machine keep; at most kMaxWorkers.
std::vector<unsigned> default_workers(const std::vector<unsigned>& cores);

EalPlan plan_eal(const config::Config& c);
void start_eal(const EalPlan& plan);

std::string file_prefix(const std::string& router_name);

}  // namespace surety
