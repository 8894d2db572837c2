// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace surety::lab {

// The whole schema of scenarios: scenario_schema.json with the definitions of routers and senders
// (tests/lib/schemas.py), part of the program (embed.cmake).
extern const std::string_view kScenarioSchema;

}  // namespace surety::lab
