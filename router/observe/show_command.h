// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT [KEY=VALUE ...]`: a table of a running router, for people or (--json) for programs; once,
// or again and again.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "router/observe/show_select.h"
#include "router/observe/telemetry_client.h"

namespace surety {

struct ShowRequest {
  std::string what{};                   // one of kTables or kOwnTables
  std::optional<std::string> router{};  // none: see telemetry_client.h
  bool json = false;                    // rows of reading_json.h, indented; of a watch a line each time
  bool all = false;                     // drops, exceptions, signalling: what never happened too
  Selection selection{};
};

// What goes on between two tables of a watch; seconds since the last one. None: that was the last.
using ShowAgain = std::function<std::optional<double>()>;

// Exit status: 0, 1 when no router answers, 2 when there is no such table or key. Errors go to `err`, as one
// line. With `again` the table comes until that says no more, `out` does not take any more, or there is an
// error; counters are then what they grew by in a second. `clear`: what is written before each, for a
// terminal.
int show(const ShowRequest& request, const TelemetryClient& client, std::ostream& out, std::ostream& err,
         const ShowAgain& again = {}, std::string_view clear = "\n");

}  // namespace surety
