// SPDX-License-Identifier: BSD-3-Clause
// Reasons why `surety run` would refuse a valid configuration on this machine, found without opening a
// device.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

// Returns the lines that `run` would print: cores that this process may not use or that are no workers,
// memory that is not there (for root, since limits are another user's; hugepages unless the router runs and
// has them), queues of interfaces, pcap files and paths of sockets that are not as they must be, an `mtu`
// that `af_xdp` buffers cannot hold, wrong files of keys, passwords and certificates (those that only another
// user may read are left out), an address to listen on that no interface has. Empty where no device of the
// configuration belongs to this machine, or one is missing: the file is for another machine, or for later.
std::vector<std::string> refused_here(const config::Config& config);

}  // namespace surety
