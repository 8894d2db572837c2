// SPDX-License-Identifier: BSD-3-Clause
// Landlock (landlock(7)): restricts the files that a thread and its children may open; if the kernel supports
// it, also prohibits connecting to or listening at TCP ports.
#pragma once

#include <string_view>
#include <vector>

#include "router/process/fd.h"

namespace surety {
struct Needs;

namespace landlock {

// The kernel's ABI version; below 1: no Landlock.
long abi();
// The restrictions of that version, for the log.
std::string_view summary(long abi);

// The ruleset as far as the kernel supports it; empty: no Landlock. Paths that do not exist are left out.
// `pins`: descriptors that must stay open while the ruleset is in force.
Fd ruleset(const Needs& needs, std::vector<Fd>& pins);
// Restricts the calling thread, which has no way to new privileges. May be called by a signal handler.
bool enforce(int ruleset);

}  // namespace landlock
}  // namespace surety
