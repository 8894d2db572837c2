// SPDX-License-Identifier: BSD-3-Clause
// `surety upgrade [NAME]`: replaces a running router by the program that is installed now, with next to no
// packet loss (hand_over.h).
#pragma once

#include <optional>
#include <string>

namespace surety {

// Returns 0 when the new router forwards, else 1, with one sentence on standard error: then the old router
// keeps running, or its supervisor starts it again.
//
// In a systemd unit whose ExecReload= is `surety reload`, the new router starts within that unit, as a child
// of systemd with the unit's confinement. Otherwise this program starts as `surety run --take-over`, with the
// environment, directory, output, network namespace and, where root may set it, the control group of the
// running router.
int upgrade(const std::optional<std::string>& router);

// Called first by `surety reload`. If systemd invoked it (ExecReload=) on behalf of upgrade(), performs the
// upgrade and returns the exit status; nullopt: an ordinary reload.
std::optional<int> upgrade_instead_of_reload(const std::optional<std::string>& router);

}  // namespace surety
