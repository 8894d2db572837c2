// SPDX-License-Identifier: BSD-3-Clause
// What a running router of this configuration needs of its host: to read its configuration, its keys and what
// guards its metrics again, to follow the kernel and undo what it has changed there, to let its peers come
// and go.
#pragma once

#include <string>

#include "config/config.h"
#include "router/process/confinement.h"

namespace surety {

// `file`: where the configuration stands. The EAL must have been started.
Needs needs_of(const config::Config& config, const std::string& file);

}  // namespace surety
