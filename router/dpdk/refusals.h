// SPDX-License-Identifier: BSD-3-Clause
// What `surety run` would refuse of a valid configuration on this machine, before it opens a device.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

// One sentence each, as `run` says them: cores that are not there, buffers too small for an `mtu`, files of
// keys and passwords, an address to listen on that no interface has. Empty where a device of the
// configuration is not here: the file is for another machine, or for later.
std::vector<std::string> refused_here(const config::Config& config);

}  // namespace surety
