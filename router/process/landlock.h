// SPDX-License-Identifier: BSD-3-Clause
// Landlock (landlock(7)): which files a thread and those it makes may open; no TCP port, as of the
// kernel that knows these, may it connect to or listen at.
#pragma once

#include <string_view>
#include <vector>

#include "router/process/fd.h"

namespace surety {
struct Needs;

namespace landlock {

// What the kernel knows of it; below 1: nothing.
long abi();
// What holds by that, for the log.
std::string_view summary(long abi);

// As far as the kernel knows it; none: it has no Landlock. A path that does not exist is left out. `pins`:
// what must stay open as long as it holds.
Fd ruleset(const Needs& needs, std::vector<Fd>& pins);
// Of the calling thread, which has no way to new privileges. May be called by a signal handler.
bool enforce(int ruleset);

}  // namespace landlock
}  // namespace surety
