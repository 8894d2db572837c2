// SPDX-License-Identifier: BSD-3-Clause
// What setup would do to a machine: decided before anything is changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/machine/machine_file.h"
#include "router/machine/nics.h"

namespace surety::machine {

// Bytes that DPDK takes for a configuration.
using PlannedMemory = std::function<std::uint64_t(const config::Config&)>;

struct Wishes {
  std::vector<std::string> ports;      // names, or PCI addresses; empty: all that are free
  std::string driver = "auto";         // or "af_xdp", "vfio-pci"
  std::optional<unsigned> hugepages;   // of 2 MB
  std::optional<std::string> isolate;  // cores "2,3", or "none"
  std::string name = "surety";         // of the router
  bool keep_configuration = false;
};

struct Plan {
  std::vector<std::string> devices;  // as the configuration has them: "af_xdp eth1", "pci 0000:01:00.0"
  MachineFile machine;
  std::string configuration_file;            // /etc/surety/NAME.yaml
  std::optional<std::string> configuration;  // its text; none: that which is there stays
  std::vector<std::string> notes;            // sentences that the operator should read
  // In the order in which it is done; empty: nothing is to do.
  std::vector<std::string> steps(const Host& host) const;
};

// The NICs that `wishes` names, or all that are free. Throws std::runtime_error where one is not there, or is
// the way to this machine.
std::vector<Nic> chosen_nics(const std::vector<Nic>& nics, const Wishes& wishes);

// `nics`: chosen ones. Throws std::runtime_error where the wishes cannot be had.
Plan make_plan(const Host& host, const std::vector<Nic>& nics, const Wishes& wishes,
               const PlannedMemory& memory);

// Cores for so many workers: the last ones of the nodes, never core 0 nor its siblings; of each physical core
// one works, and all are isolated. None where there are fewer than four cores.
struct WorkerCores {
  std::vector<unsigned> workers, isolated;
};
WorkerCores choose_cores(const Host& host, std::size_t count, const std::vector<int>& nodes);

// A configuration for a beginning: each port with what its NIC has, the last one of several towards the core.
std::string first_configuration(const std::vector<Nic>& nics, const std::vector<std::string>& devices,
                                const std::vector<unsigned>& workers, const std::string& name);

inline constexpr const char* kGrubFile = "/etc/default/grub.d/surety.cfg";
std::string kernel_words(const std::vector<unsigned>& isolated);
std::string grub_text(const std::vector<unsigned>& isolated);

}  // namespace surety::machine
