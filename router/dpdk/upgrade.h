// SPDX-License-Identifier: BSD-3-Clause
// `surety upgrade [NAME]`: a router that runs is followed by the program that is installed now, and those
// behind it lose next to nothing (hand_over.h).
#pragma once

#include <optional>
#include <string>

namespace surety {

// Returns when the new router forwards, 0, or else 1, with one sentence on standard error: then the router
// that ran goes on, or its supervisor starts it again.
//
// The router of a systemd unit whose ExecReload= is `surety reload` is followed from within that unit: what
// starts is a child of systemd's, confined as the unit says. Any other is followed by `surety run
// --take-over`, this program, with the environment, the directory, the output, the network namespace and,
// where root may put it there, the control group of the router that runs.
int upgrade(const std::optional<std::string>& router);

// Of `surety reload`, first: where a service manager runs it on behalf of an upgrade(), it is to do that.
// What it then is to return; none: it was not asked to.
std::optional<int> upgrade_instead_of_reload(const std::optional<std::string>& router);

}  // namespace surety
