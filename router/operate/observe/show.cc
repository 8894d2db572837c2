// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "router/operate/observe/reading_fields.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::string plain(double value) {
  return fmt::format("{:.1f}", value);
}

Columns queue_columns() {
  Columns columns{text("PORT", "port"),
                  text("QUEUE", "name"),
                  text("PRECEDENCE", "precedence"),
                  count("DEPTH", "counters.depth"),
                  count("LIMIT", "counters.limit"),
                  number("AVERAGE", "average", plain)};
  for (const auto& info : QueueCounters::table())
    if (const MakeColumn make = column_of(info.name, info.metric, info.column))
      columns.push_back(make(info.column, std::string("counters.") + info.name));
  columns.push_back(text("CONGESTED", "congested"));
  columns.push_back(number("SOJOURN P50", "sojourn_p50_seconds", human::duration));
  columns.push_back(number("P99", "sojourn_p99_seconds", human::duration));
  return columns;
}

}  // namespace

Columns columns_of(std::string_view what) {
  if (what == "router") return fields::kRouter.shown();
  if (what == "ports") return fields::kPorts.shown();
  if (what == "interfaces") return fields::kInterfaces.shown();
  if (what == "queues") return queue_columns();
  if (what == "services") return fields::kServices.shown();
  if (what == "contracts") return fields::kContracts.shown();
  if (what == "filters") return fields::kFilters.shown();
  if (what == "flows") return fields::kFlows.shown();
  if (what == "aggregates") return fields::kAggregates.shown();
  if (what == "domains") return fields::kDomains.shown();
  if (what == "workers") return fields::kWorkers.shown();
  if (what == "commitments") return fields::kCommitments.shown();
  if (what == "subscribers") return fields::kSubscribers.shown();
  if (what == "events")
    return {text("TIME", "time"), text("LEVEL", "level"), text("KIND", "kind"), text("EVENT", "text")};
  if (what == "routes")
    return {text("PREFIX", "prefix"), text("NEXT HOP", "next_hop"), text("INTERFACE", "interface"),
            text("SOURCE", "source"), count("METRIC", "metric"),    text("STATE", "state")};
  if (what == "neighbors")
    return {text("ADDRESS", "address"),     text("MAC", "mac"),
            text("INTERFACE", "interface"), text("SOURCE", "source"),
            text("STATE", "state"),         number("AGE", "age_seconds", human::duration)};
  if (what == "drops")
    return {text("PORT", "port"),
            text("STAGE", "stage"),
            text("REASON", "reason"),
            text("GROUP", "group"),
            growing<count>("PACKETS", "packets"),
            text("MEANING", "help")};
  if (what == "exceptions")
    return {text("PORT", "port"), text("WAY", "way"), text("RESULT", "result"),
            growing<count>("FRAMES", "frames"), text("MEANING", "help")};
  if (what == "stages")
    return {text("STAGE", "stage"), growing<count>("CYCLES", "cycles"), growing<count>("PACKETS", "packets"),
            quotient("CYCLES/PACKET", plain, "cycles", "packets")};
  return {};
}

namespace {

// A queue shows as a row per precedence, red only where it has such packets; OUT and red are judged by the
// total average, so that is the one beside them.
void split_queue(const Json& queue, std::vector<Json>& rows) {
  for (const char* precedence : {"in", "out", "red"}) {
    if (precedence[0] == 'r' && !queue.contains("red")) continue;
    const bool in = precedence[0] == 'i';
    Json row = {
        {"port", queue.value("port", "")}, {"name", queue.value("name", "")}, {"precedence", precedence}};
    if (const Json* interface = member(queue, "interface")) row["interface"] = *interface;
    if (queue.value("rio", false)) row["congested"] = queue.value("congested", false) ? "yes" : "no";
    row["counters"] = queue.value(precedence, Json::object());
    if (const Json* average = member(queue, in ? "average_in" : "average_total")) row["average"] = *average;
    for (const char* quantile : {"sojourn_p50_seconds", "sojourn_p99_seconds"})
      if (const Json* value = member(queue, quantile); in && value != nullptr) row[quantile] = *value;
    rows.push_back(std::move(row));
  }
}

bool happened(std::string_view what, const Json& row) {
  if (what == "drops") return real(row, "packets") > 0;
  return what != "exceptions" || real(row, "frames") > 0;
}

std::vector<Json> lines_of(std::string_view what, std::vector<Json> rows, bool all) {
  if (what != "queues") {
    if (!all) std::erase_if(rows, [&](const Json& row) { return !happened(what, row); });
    return rows;
  }
  std::vector<Json> lines;
  for (const Json& row : rows)
    if (all || !row.contains("of")) split_queue(row, lines);
  return lines;
}

}  // namespace

ShownTable shown(std::string_view what, std::vector<Json> rows, bool all) {
  ShownTable table{columns_of(what), lines_of(what, std::move(rows), all)};
  if (what == "queues" &&
      std::ranges::any_of(table.lines, [](const Json& l) { return l.contains("interface"); }))
    table.columns.insert(table.columns.begin() + 1, text("INTERFACE", "interface"));
  return table;
}

std::string note_on(std::string_view what, const std::vector<Json>& lines) {
  if (what != "flows") return {};
  if (lines.empty()) return "`metrics: {top_flows: N}` keeps the N largest flows; by default none\n";
  const auto is_contract = [](const Json& line) { return line.value("protocol", "") == "contract"; };
  if (std::ranges::none_of(lines, is_contract)) return {};
  return "A row `contract` counts all flows of that contract; `surety capture` of their port or customer "
         "shows each\n";
}

std::string render_table(std::string_view what, const Json& rows, bool all) {
  if (what == "signalling") return render_signalling(rows, all);
  const ShownTable table = shown(what, rows.get<std::vector<Json>>(), all);
  return render(table.columns, table.lines) + note_on(what, table.lines);
}

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
  paragraph("Queues of this router that signal", fields::kSenders.shown(), of_kind(rows, "sender"));
  paragraph("Queues of other routers whose signals arrived", fields::kSources.shown(),
            of_kind(rows, "source"));
  paragraph("Signals received, by result",
            {text("RESULT", "result"), count("SIGNALS", "signals"), text("MEANING", "help")},
            results(rows, all));
  paragraph(observe ? "Paths that signals would throttle" : "Paths that signals throttle",
            fields::kPaths.shown(), of_kind(rows, "path"));
  return result;
}

}  // namespace surety
