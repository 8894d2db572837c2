// SPDX-License-Identifier: BSD-3-Clause
// `surety setup`: gives NICs, memory and cores of this machine to the router, and undoes it.
//
// Changes are recorded first (journal.h): after a power cut at any instant `--undo`, or another setup, can
// continue. One setup at a time, including the inspection of the machine (change_lock.h).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "router/operate/machine/host.h"
#include "router/operate/machine/plan.h"

namespace surety::machine {

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
