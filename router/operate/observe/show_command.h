// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT [KEY=VALUE ...]`: a table of a running router, for people or (--json) for programs; once
// or repeatedly.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "router/operate/observe/show_select.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

struct ShowRequest {
  std::string what{};                   // one of kTables or kOwnTables, or an alias
  std::optional<std::string> router{};  // nullopt: see telemetry_client.h
  bool json = false;                    // rows of reading_json.h, indented; with a watch one line per table
  bool all = false;                     // drops, exceptions, signalling: also lines with count 0
  Selection selection{};
};

// Called between two tables of a watch; returns the seconds since the last one, nullopt: stop.
using ShowAgain = std::function<std::optional<double>()>;

// Exit status: 0, 1 when no router answers, 2 when there is no such table or key. Errors go to `err`, as one
// line. With `again` the table is repeated until `again` returns nullopt, `out` fails, or there is an error;
// counters are then shown as growth per second. `clear`: written before each table, for a terminal.
int show(ShowRequest request, const TelemetryClient& client, std::ostream& out, std::ostream& err,
         const ShowAgain& again = {}, std::string_view clear = "\n");

}  // namespace surety
