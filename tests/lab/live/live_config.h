// SPDX-License-Identifier: BSD-3-Clause
// What the programs of a live run are told: one configuration for each router,
// one for the endpoints; JSON, which is YAML.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/lab/live/live_layout.h"

namespace surety::lab {

// The signal key of all routers of a run, a file beside their configurations.
inline constexpr const char* kLiveKeyFile = "signal.key";
std::string key_file(const std::array<std::uint8_t, 16>& key);

// For `surety run`: the router's sections, with devices, addresses, routes and neighbours of the layout. A
// link that holds the router's port back in the lab shapes it here; bursts allow for a machine that looks
// away for 10 ms. `core`: where its only worker runs; which worker does what is not the scenario's to say.
// Signals are on as in the lab.
std::string router_configuration(const Plan& plan, const LiveLayout& layout, std::size_t router,
                                 unsigned core);

// For `surety-endpoint run`: all hosts, the senders in their order (flows of the report: in the order of
// Plan::flows()), the lab's sinks.
std::string endpoint_configuration(const Plan& plan, const LiveLayout& layout, std::uint64_t seed);

// What `surety run` is to call the router: its name in `surety show`.
std::string live_router_name(const LiveLayout& layout, const std::string& router);

}  // namespace surety::lab
