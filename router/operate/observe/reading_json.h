// SPDX-License-Identifier: BSD-3-Clause
// A reading as tables, for `surety show --json`, telemetry and the console.
//
// Guarantees: every table of kTables is an array of rows, in the order of the reading; a row is an object of
// strings, unsigned numbers, reals, booleans and, one level down, objects or arrays of unsigned numbers.
// Names carry their unit (`_seconds`, `_bytes_per_second`, `_ratio`); a name without one counts packets or
// things. Members that do not apply (the rate of a port without shaper, the RoS of a service without
// commitment) are left out rather than zero. Rows of one table have the same members, except in `signalling`,
// where `kind` is mode (one row), sender, source, received (one for each result) or path.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "router/operate/observe/reading.h"

namespace surety {

using Json = nlohmann::ordered_json;  // keeps the order in which columns are written

inline constexpr std::array<std::string_view, 17> kTables{
    "router",     "ports",   "interfaces", "queues",      "services",    "contracts",
    "filters",    "flows",   "drops",      "exceptions",  "aggregates",  "domains",
    "signalling", "workers", "stages",     "commitments", "subscribers",
};

// Tables that are not from a reading: the owner of a TelemetryServer provides them.
inline constexpr std::array<std::string_view, 3> kOwnTables{"events", "routes", "neighbors"};

// The name of a table. `sold` is an alias of `commitments`.
constexpr std::string_view table_name(std::string_view name) {
  return name == "sold" ? "commitments" : name;
}

// One table; null if there is none of that name.
Json table(const Reading& reading, std::string_view name);

// Object of all tables: {"router": [...], "ports": [...], ...}.
Json to_json(const Reading& reading);

// The upper bound of the bucket with the quantile 0 < q <= 1, in seconds: "at most". nullopt without samples;
// the largest bound for values beyond it.
std::optional<double> sojourn_quantile(const SojournHistogram& histogram, double q);

// Upper bound of bucket i < SojournHistogram::kBuckets, in seconds.
constexpr double sojourn_bound(std::size_t i) {
  return static_cast<double>(SojournHistogram::kBounds[i]) / 1e9;
}

}  // namespace surety
