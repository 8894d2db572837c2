// SPDX-License-Identifier: BSD-3-Clause
// `surety setup`: gives NICs, memory and cores of this machine to the router, and takes it all back.
//
// What is changed is written down first (journal.h): a power cut at any instant leaves what `--undo`, or
// another setup, can go on from. One at a time, from the first look at the machine on (change_lock.h).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "router/machine/host.h"
#include "router/machine/plan.h"

namespace surety::machine {

struct Setup {
  explicit Setup(Host machine) : host(std::move(machine)) {}

  Host host;
  Wishes wishes;
  bool yes = false, dry_run = false;
  bool terminal = false;               // somebody can be asked
  std::string who = "somebody";        // for whoever comes meanwhile
  std::optional<std::string> ssh;      // SSH_CONNECTION
  fs::path state = "/var/lib/surety";  // below the host's root
  PlannedMemory memory;
};

// Each gives the exit status, and throws std::runtime_error, one sentence, where it cannot be done.
int set_up(const Setup& setup, std::istream& in, std::ostream& out);
int undo_setup(const Setup& setup, std::ostream& out);
// What /etc/surety/machine.yaml says, at each boot. Whatever is not there is a warning, and the rest is done:
// 0.
int boot(const Setup& setup, std::ostream& out, std::ostream& warnings);

}  // namespace surety::machine
