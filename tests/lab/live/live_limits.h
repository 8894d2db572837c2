// SPDX-License-Identifier: BSD-3-Clause
// What of a scenario cannot be had live on this machine, said before anything is started.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/live/live_layout.h"

namespace surety::lab {

inline constexpr std::size_t kMostLiveRouters = 3, kMostLiveHosts = 16;
// Packets over links a second, all links together: what two cores carry over veth with
// all the programs running.
inline constexpr double kMostLivePackets = 30'000;

// At most what the senders and the links let pass, acknowledgements too.
// Infinite where nothing limits a sender.
double live_packets_per_second(const Plan& plan);

// One sentence each; none: it can run live.
std::vector<std::string> live_refusals(const Plan& plan);

}  // namespace surety::lab
