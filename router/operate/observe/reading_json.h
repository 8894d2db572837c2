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

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "conditioners/counter_table.h"
#include "router/operate/observe/reading.h"

namespace surety {

using Json = nlohmann::ordered_json;  // keeps the order in which columns are written

inline constexpr std::array<std::string_view, 16> kTables{
    "router", "ports",      "interfaces", "queues",  "services",   "contracts", "filters", "flows",
    "drops",  "exceptions", "aggregates", "domains", "signalling", "workers",   "stages",  "commitments",
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

// The order in which the counters of a table are shown: next() returns counters with a fixed place among
// other columns, by name; rest() returns all others, in table order. A new counter is therefore shown without
// further code.
template <class Counters>
class CounterOrder {
 public:
  using Info = CounterInfo<Counters>;
  using Member = std::uint64_t Counters::*;

  // Each counter may be requested once.
  Info next(Member member) {
    const auto found =
        std::find_if(left_.begin(), left_.end(), [member](const Info& i) { return i.member == member; });
    const Info info = *found;
    left_.erase(found);
    return info;
  }
  std::vector<Info> next(std::initializer_list<Member> members) {
    std::vector<Info> infos;
    for (const Member member : members) infos.push_back(next(member));
    return infos;
  }
  const std::vector<Info>& rest() const { return left_; }

 private:
  static constexpr auto kTable = Counters::table();
  std::vector<Info> left_{kTable.begin(), kTable.end()};
};

}  // namespace surety
