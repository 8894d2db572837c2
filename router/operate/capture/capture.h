// SPDX-License-Identifier: BSD-3-Clause
// `surety capture`: packets of a running router, as pcapng.
#pragma once

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "router/operate/observe/telemetry_client.h"

namespace surety {

struct CaptureOptions {
  std::string what{};                             // `drops`, a port, an interface or a customer
  std::vector<std::string> filters{}, reasons{};  // `source=10.1.0.1`; names of drops
  std::uint32_t rate = 10'000, snap = 256;        // packets per second; bytes of each
  std::uint32_t seconds = 60, megabytes = 100;
  std::string file{};                   // `-`: standard output
  std::optional<std::string> router{};  // nullopt: the only one that runs
};

// Captures until its limits, or until `stop`. Exit status: 0; 1 when no router answers, it refuses, or the
// file cannot be written. The result is written to `err`, as a line.
int capture(const CaptureOptions& options, const TelemetryClient& client, const std::atomic<bool>& stop,
            std::ostream& err);

}  // namespace surety
