// SPDX-License-Identifier: BSD-3-Clause
// `surety upgrade [NAME]`: a router that runs is followed by this program, and those behind it lose next to
// nothing (hand_over.h).
#pragma once

#include <optional>
#include <string>

namespace surety {

// Starts `surety run --take-over` with the environment, the directory, the output, the network namespace and,
// where root may put it there, the control group of the router that runs: to a service manager it is of the
// same service. Returns when it forwards, 0, or else 1, with one sentence on standard error: then the router
// that ran goes on, or its supervisor starts it again.
int upgrade(const std::optional<std::string>& router);

}  // namespace surety
