// SPDX-License-Identifier: BSD-3-Clause
// The plan of setup for a machine: made before anything is changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/operate/machine/machine_file.h"
#include "router/operate/machine/nics.h"

namespace surety::machine {

// Bytes that DPDK takes for a configuration.
using PlannedMemory = std::function<std::uint64_t(const config::Config&)>;

struct SetupOptions {
  std::vector<std::string> ports;      // names, or PCI addresses; empty: all that are free
  std::string driver = "auto";         // "auto", "af_xdp" or "vfio-pci"
  std::optional<unsigned> hugepages;   // pages of 2 MB
  std::optional<std::string> isolate;  // cores "2,3", or "none"
  std::string name = "surety";         // name of the router
  bool keep_configuration = false;
};

struct Plan {
  std::vector<std::string> devices;  // `device:` values: "af_xdp eth1", "pci 0000:01:00.0"
  MachineFile machine;
  std::string configuration_file;            // /etc/surety/NAME.yaml
  std::optional<std::string> configuration;  // new text; nullopt: the existing one stays
  std::vector<std::string> notes;            // sentences for the operator
  // The steps in the order of execution; empty: there is nothing to do.
  std::vector<std::string> steps(const Host& host) const;
};

// The NICs in `options`, or all that are free. Throws std::runtime_error if one does not exist, or is the way
// to this machine.
std::vector<Nic> chosen_nics(const std::vector<Nic>& nics, const SetupOptions& options);

// `nics`: chosen ones. Throws std::runtime_error if the options cannot be fulfilled.
Plan make_plan(const Host& host, const std::vector<Nic>& nics, const SetupOptions& options,
               const PlannedMemory& memory);

// Cores for this many workers: the last ones of the nodes, never core 0 nor its siblings; one worker per
// physical core, and all its siblings are isolated. Empty if there are fewer than four cores.
struct WorkerCores {
  std::vector<unsigned> workers, isolated;
};
WorkerCores choose_cores(const Host& host, std::size_t count, const std::vector<int>& nodes);

// An initial configuration: each port with its NIC's settings, the last one of several towards the core.
std::string first_configuration(const std::vector<Nic>& nics, const std::vector<std::string>& devices,
                                const std::vector<unsigned>& workers, const std::string& name);

inline constexpr const char* kGrubFile = "/etc/default/grub.d/surety.cfg";
std::string kernel_words(const std::vector<unsigned>& isolated);
std::string grub_text(const std::vector<unsigned>& isolated);

}  // namespace surety::machine
