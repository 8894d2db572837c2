// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT`: the tables of a running router, for people or (--json) for programs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "router/observe/telemetry_client.h"

namespace surety {

struct ShowRequest {
  std::string what{};                   // one of kTables
  std::optional<std::string> router{};  // none: the only one that runs
  bool json = false;                    // rows of reading_json.h, indented
  bool all = false;                     // drops, exceptions, signalling: what never happened too
};

// Exit status: 0, 1 when no router answers, 2 when there is no such table. Errors go to `err`, as one line.
int show(const ShowRequest& request, const TelemetryClient& client, std::ostream& out, std::ostream& err);

// Rows of one of kTables (reading_json.h) as text in human units; "-" stands for what does not exist.
std::string render_table(std::string_view what, const Json& rows, bool all = false);

}  // namespace surety
