// SPDX-License-Identifier: BSD-3-Clause
// `surety report`: committed and delivered traffic of each customer, from the router's files (report_log.h).
// The router need not run.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>

#include "config/config.h"
#include "router/operate/observe/reading_json.h"
#include "router/operate/observe/report_log.h"

namespace surety {

struct ReportRequest {
  enum class Format : std::uint8_t { text, csv, json };
  std::optional<std::string> router{}, customer{};  // nullopt: the only router; all customers
  std::filesystem::path directory{};  // directory of all routers' files; empty: state_directory()
  Minute since = 0, until = std::numeric_limits<Minute>::max();
  bool hours = false;  // a row for each hour, too
  Format format = Format::text;
};

// Reads a router's directory. A row for each contract, by customer: {"customer", "service", "contract",
// "from", "to" (ISO 8601), "committed_ bytes_per_second", "offered_bytes", "delivered_in_bytes",
// "delivered_out_bytes", "dropped_packets", "lost_packets", "demanding_seconds", "met_seconds",
// "held_back_seconds", "met_ratio", "objective_ratio", "kept", "direction"}; members that do not apply are
// left out. `ahead` counts the records of minutes after `until`, written while the clock was ahead: they are
// left out.
Json report_rows(const std::filesystem::path& directory, const ReportRequest& request, std::size_t& ahead);

// Default directory of the files: $SURETY_STATE, $STATE_DIRECTORY of a service manager, or /var/lib/surety.
std::filesystem::path state_directory();
// Directory of this router's files; empty: none.
std::filesystem::path report_directory(const config::Config& config);

// Exit status 0, or 1 with a sentence in `err`.
int report(const ReportRequest& request, std::ostream& out, std::ostream& err);

}  // namespace surety
