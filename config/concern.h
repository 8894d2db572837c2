// SPDX-License-Identifier: BSD-3-Clause
// Whom a change of a configuration concerns.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "config/text/outline.h"

namespace surety::config {

// Of the entry `name` of a section, or of all of it where `name` is empty. `item`: what is written there.
std::string concern(std::string_view section, const std::string& name, const Outline& item,
                    const Config& config);

}  // namespace surety::config
