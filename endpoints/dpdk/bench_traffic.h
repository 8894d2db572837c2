// SPDX-License-Identifier: BSD-3-Clause
// The traffic of the benchmarks: one port that sends, one that answers, no devices.
#pragma once

#include <string>

#include "endpoints/config/endpoints.h"

namespace surety::endpoints {

struct BenchTraffic {
  std::string protocol = "udp";  // udp, gtfrc, newreno
  std::uint32_t flows = 1000;
  std::uint32_t packet = 1500;  // bytes
  Rate rate;                    // per flow: UDP and gTFRC are paced at it
  std::uint32_t window = 10;    // packets in flight of a NewReno flow
  Duration start_spread{};
};

// Ports `left` (the senders) and `right` (their sinks) on one link. Throws std::invalid_argument for a
// protocol that is none of the three, and for packets that cannot be.
config::Endpoints bench_config(const BenchTraffic& t);

}  // namespace surety::endpoints
