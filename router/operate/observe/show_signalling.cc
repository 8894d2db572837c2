// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_signalling.h"

#include <fmt/format.h>

#include "router/operate/observe/show_columns.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::vector<Json> of_kind(const Json& rows, std::string_view kind) {
  std::vector<Json> found;
  for (const Json& row : rows)
    if (row.value("kind", "") == kind) found.push_back(row);
  return found;
}

std::string mode_of(const Json& rows) {
  const std::vector<Json> modes = of_kind(rows, "mode");
  return modes.empty() ? "-" : modes.front().value("mode", "-");
}

std::vector<Json> results(const Json& rows, bool all) {
  std::vector<Json> found = of_kind(rows, "received");
  if (!all) std::erase_if(found, [](const Json& row) { return real(row, "signals") == 0; });
  return found;
}

}  // namespace

std::string render_signalling(const Json& rows, bool all) {
  const std::string mode = mode_of(rows);
  const bool observe = mode == "observe";
  std::string result =
      fmt::format("Mode: {}{}\n", mode, observe ? " (computed and shown; nothing is applied)" : "");
  const auto paragraph = [&](std::string_view title, const Columns& columns, const std::vector<Json>& lines) {
    result += fmt::format("\n{}:\n{}", title, render(columns, lines));
  };
  paragraph("Queues of this router that signal",
            {text("PORT", "port"), text("QUEUE", "queue"), count("SENT", "sent"), count("LIMITED", "limited"),
             count("LOST", "lost")},
            of_kind(rows, "sender"));
  paragraph("Queues of other routers whose signals arrived",
            {text("ROUTER", "router"), count("PORT", "port"), count("QUEUE", "queue"),
             count("SIGNALS", "signals"), number("LAST", "age_seconds", human::duration)},
            of_kind(rows, "source"));
  paragraph("Signals received, by result",
            {text("RESULT", "result"), count("SIGNALS", "signals"), text("MEANING", "help")},
            results(rows, all));
  paragraph(observe ? "Paths that signals would throttle" : "Paths that signals throttle",
            {text("PATH", "path"), text("DOMAIN", "domain"), alpha("ALPHA", "alpha_ratio"),
             alpha("APPLIED", "applied_alpha_ratio")},
            of_kind(rows, "path"));
  return result;
}

}  // namespace surety
