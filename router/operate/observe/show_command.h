// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT [KEY=VALUE ...]`: a table of a running router, for people or (--json) for programs; once
// or repeatedly.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/operate/observe/show.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

// Counters of a table that is shown repeatedly, as growth per second.
class ShowRates {
 public:
  // The first table is unchanged; in the others lines that did not exist `elapsed` seconds ago have "-".
  void apply(ShownTable& table, double elapsed);

 private:
  // Counters of a line, by its left-aligned texts, which identify it.
  std::map<std::string, std::vector<double>> before_;
  bool any_ = false;
};

// Selects and sorts the rows of a table.
//
// A key is a member of the rows (`port`, `in.packets`: as --json has them) or the title of a column, in any
// case, with `_` for a blank. KEY=VALUE keeps the rows whose member, or whose cell, is VALUE, KEY!=VALUE the
// others; `*` in VALUE matches anything, and case is ignored. A row without the member does not match VALUE.
// All conditions must hold.
struct Selection {
  std::vector<std::string> where{};  // KEY=VALUE, KEY!=VALUE
  std::optional<std::string>
      sort{};  // KEY: numbers from the largest, others from A to Z; rows without KEY last
  std::optional<std::size_t> top{};  // number of rows
};

// `last`: without `sort`, `top` keeps the last rows. Throws std::invalid_argument, one sentence, if there is
// no such key.
void select(std::vector<Json>& rows, const Columns& columns, const Selection& selection, bool last = false);

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
