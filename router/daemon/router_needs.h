// SPDX-License-Identifier: BSD-3-Clause
// Privileges and paths that a running router needs: to read its configuration, keys and metrics credentials
// again, to follow the kernel and undo its changes there, to accept peers.
#pragma once

#include <string>

#include "config/config.h"
#include "router/process/confinement.h"

namespace surety {

// `file`: path of the configuration. The EAL must have been started.
Needs needs_of(const config::Config& config, const std::string& file);

}  // namespace surety
