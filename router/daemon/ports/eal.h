// SPDX-License-Identifier: BSD-3-Clause
// Starts DPDK with memory, cores and a name of its own, so that several routers run side by side; checks
// before that this process may have the memory.
//
// Errors are one sentence with the fix, thrown as std::runtime_error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/ports/memory_plan.h"

namespace surety {

struct EalPlan {
  std::vector<std::string> arguments;  // for rte_eal_init
  std::vector<unsigned> worker_cores;  // indexed by worker; worker i runs on lcore i + 1
  bool hugepages = false;
  std::string note;  // for the user, e.g. why the router runs without hugepages; may be empty
};

// Memory the data plane takes from DPDK, in bytes: FIBs (none for max_routes 0), packet buffers, rings; in
// pages of that many bytes. FIBs have memory of their own without hugepages.
std::uint64_t eal_memory_bytes(const config::Config& c, std::size_t workers, std::uint64_t page);
// Worker cores for a configuration without any: all cores but the first, which is left to the control thread
// and the rest of the machine; at most kMaxWorkers.
std::vector<unsigned> default_workers(const std::vector<unsigned>& cores);

// Worker cores, indexed by worker. Throws if the configuration has a core that this process may not use.
std::vector<unsigned> worker_cores(const config::Config& c);

// The number of workers on this machine.
std::size_t count_workers(const config::Config& c);

// True if a router of this configuration uses hugepages on this machine. Throws if it requires hugepages and
// there are not enough; `note`: why it runs without.
bool choose_hugepages(const config::Config& c, std::string& note);

// Returns EAL's arguments for the devices that it opens at its start: those of PCI ports alone, since
// vfio-pci may have those of another router, too; none where the old process of an upgrade drives them
// (`taken`): the ports open them once it has closed them. EAL fails where it can open none, unless a device
// without a driver is allowed: the root of the bus.
std::vector<std::string> device_list(const config::Config& c, bool taken);

EalPlan plan_eal(const config::Config& c, bool devices_taken = false);
void start_eal(const EalPlan& plan);

std::string file_prefix(const std::string& router_name);

// Compares the memory limits of this process with the needs of its configuration before the start: otherwise
// the kernel would kill it without a message, or DPDK fail with an unhelpful one.
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
