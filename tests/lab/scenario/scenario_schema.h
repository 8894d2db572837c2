// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace surety::lab {

extern const std::string_view kScenarioSchema;  // scenario_schema.json, part of the program (embed.cmake)

}  // namespace surety::lab
