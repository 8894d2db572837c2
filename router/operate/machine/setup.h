// SPDX-License-Identifier: BSD-3-Clause
// `surety setup`: plans which NICs, memory and cores of this machine the router gets, gives them to it, and
// undoes it.
//
// Changes are recorded first (journal.h): after a power cut at any instant `--undo`, or another setup, can
// continue. One setup at a time, including the inspection of the machine (change_lock.h).
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/operate/machine/host.h"
#include "router/operate/machine/nics.h"
#include "router/operate/machine/resources.h"

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

// The plan of setup for a machine: made before anything is changed.
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

struct Setup {
  explicit Setup(Host machine) : host(std::move(machine)) {}

  Host host;
  SetupOptions options;
  bool yes = false, dry_run = false;
  bool terminal = false;               // input is a terminal: questions are possible
  std::string who = "somebody";        // user, for the message to a second setup
  std::optional<std::string> ssh;      // SSH_CONNECTION
  fs::path state = "/var/lib/surety";  // below the host's root
  PlannedMemory memory;
};

// Each returns the exit status, and throws std::runtime_error, one sentence, on failure.
int set_up(const Setup& setup, std::istream& in, std::ostream& out);
int undo_setup(const Setup& setup, std::ostream& out);
// Applies /etc/surety/machine.yaml at each boot. Missing devices are warnings, and the rest is done: 0.
int boot(const Setup& setup, std::ostream& out, std::ostream& warnings);

}  // namespace surety::machine
