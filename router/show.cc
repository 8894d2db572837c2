#include "router/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <vector>

#include "router/human.h"
#include "router/text_table.h"

namespace surety {
namespace {

struct Column {
  const char* title;
  TextTable::Align align;
  std::function<std::string(const Json&)> cell;
};
using Columns = std::vector<Column>;

constexpr auto kLeft = TextTable::Align::left;
constexpr auto kRight = TextTable::Align::right;
constexpr const char* kAbsent = "-";

// `name`, or `outer.name` of a row's inner object; null where there is none.
const Json* member(const Json& row, std::string_view path) {
  const std::size_t dot = path.find('.');
  const auto found = row.find(path.substr(0, dot));
  if (found == row.end()) return nullptr;
  return dot == std::string_view::npos ? &*found : member(*found, path.substr(dot + 1));
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Column text(const char* title, const char* path) {
  return {title, kLeft, [path](const Json& row) {
            const Json* value = member(row, path);
            return value != nullptr ? text_of(*value) : kAbsent;
          }};
}

Column count(const char* title, const char* path) {
  Column column = text(title, path);
  column.align = kRight;
  return column;
}

Column number(const char* title, const char* path, std::string (*human)(double)) {
  return {title, kRight, [path, human](const Json& row) {
            const Json* value = member(row, path);
            return value != nullptr && value->is_number() ? human(value->get<double>()) : kAbsent;
          }};
}

std::string plain(double value) {
  return fmt::format("{:.1f}", value);
}
std::string alpha(double value) {
  return fmt::format("{:.4g}", value);
}

Column quotient(const char* title, std::string (*human)(double),
                std::function<std::pair<double, double>(const Json&)> parts) {
  return {title, kRight, [human, parts = std::move(parts)](const Json& row) {
            const auto [part, whole] = parts(row);
            return whole > 0 ? human(part / whole) : std::string(kAbsent);
          }};
}

double real(const Json& row, const char* path) {
  const Json* value = member(row, path);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

Column state() {
  return {"STATE", kLeft, [](const Json& row) { return row.value("up", false) ? "up" : "down"; }};
}

Columns columns_of(std::string_view what) {
  using namespace human;
  if (what == "router")
    return {text("ROUTER", "name"),
            text("VERSION", "version"),
            text("CONFIG", "config_hash"),
            number("UPTIME", "uptime_seconds", elapsed),
            count("FLOWS", "flows"),
            count("OF", "flow_capacity"),
            count("ROUTES", "routes"),
            count("NEIGHBORS", "neighbors"),
            count("BUFFERS FREE", "mempool_available"),
            count("OF", "mempool_size"),
            count("RELOADS", "reloads"),
            count("SIGNALS SENT", "signals_sent")};
  if (what == "ports")
    return {text("PORT", "name"),
            text("DEVICE", "device"),
            state(),
            count("RX", "rx_packets"),
            count("TX", "tx_packets"),
            count("FORWARDED", "forwarded"),
            count("PUNTED", "punted"),
            count("DROPPED", "dropped"),
            count("MISSED", "rx_missed"),
            count("HELD", "held"),
            count("QUEUED", "queued"),
            number("RX BYTES", "rx_bytes", bytes),
            number("TX BYTES", "tx_bytes", bytes),
            number("SHAPE", "shape_bytes_per_second", rate)};
  if (what == "queues")
    return {text("PORT", "port"),
            text("QUEUE", "name"),
            text("PRECEDENCE", "precedence"),
            count("DEPTH", "counters.depth"),
            number("AVERAGE", "average", plain),
            count("ARRIVALS", "counters.arrivals"),
            count("EARLY", "counters.early_drops"),
            count("FORCED", "counters.forced_drops"),
            count("OVERFLOW", "counters.overflow_drops"),
            count("MARKED", "counters.ecn_marks"),
            text("CONGESTED", "congested"),
            number("SOJOURN P50", "sojourn_p50_seconds", duration),
            number("P99", "sojourn_p99_seconds", duration)};
  if (what == "services")
    return {text("SERVICE", "name"),
            text("CONDITIONER", "conditioner"),
            count("FLOWS", "flows"),
            count("CONTRACTS", "contracts"),
            number("COMMITTED", "committed_bytes_per_second", rate),
            number("ACHIEVED", "achieved_bytes_per_second", rate),
            number("ROS", "respect_ratio", percent),
            count("IN", "in.packets"),
            count("OUT", "out.packets"),
            count("DROPPED", "dropped"),
            count("HELD", "held")};
  if (what == "flows")
    return {text("SOURCE", "source"),
            text("DESTINATION", "destination"),
            text("PROTOCOL", "protocol"),
            count("VLAN", "vlan"),
            text("SERVICE", "service"),
            number("IN", "in_bytes", bytes),
            number("OUT", "out_bytes", bytes),
            count("HELD", "held"),
            number("IDLE", "idle_seconds", duration)};
  if (what == "drops")
    return {text("PORT", "port"),   text("STAGE", "stage"),      text("REASON", "reason"),
            text("GROUP", "group"), count("PACKETS", "packets"), text("MEANING", "help")};
  if (what == "aggregates")
    return {text("AGGREGATE", "name"),
            text("PORT", "port"),
            text("QUEUE", "queue"),
            number("TPR", "tpr_bytes_per_second", rate),
            number("LAMBDA IN", "lambda_in_bytes_per_second", rate),
            number("LAMBDA OUT", "lambda_out_bytes_per_second", rate),
            number("TOKENS", "tokens_bytes", bytes),
            count("IN", "passed_in"),
            count("OUT", "passed_out"),
            count("REMARKED", "remarked"),
            count("DROPPED", "dropped")};
  if (what == "domains") return {text("DOMAIN", "name"), number("ALPHA", "alpha_ratio", alpha)};
  if (what == "workers")
    return {count("CORE", "core"),
            quotient("BUSY", percent,
                     [](const Json& row) {
                       return std::pair(real(row, "busy_cycles"),
                                        real(row, "busy_cycles") + real(row, "idle_cycles"));
                     }),
            count("BUSY CYCLES", "busy_cycles"), count("IDLE CYCLES", "idle_cycles"),
            count("TURNS", "turns")};
  return {text("STAGE", "stage"), count("CYCLES", "cycles"), count("PACKETS", "packets"),
          quotient("CYCLES/PACKET", plain,
                   [](const Json& row) { return std::pair(real(row, "cycles"), real(row, "packets")); })};
}

// A queue shows as two rows, one per precedence; OUT is judged by the total average, so that is the one
// beside it.
void split_queue(const Json& queue, std::vector<Json>& rows) {
  for (const char* precedence : {"in", "out"}) {
    const bool in = precedence[0] == 'i';
    Json row = {
        {"port", queue.value("port", "")}, {"name", queue.value("name", "")}, {"precedence", precedence}};
    if (queue.value("rio", false)) row["congested"] = queue.value("congested", false) ? "yes" : "no";
    row["counters"] = queue.value(precedence, Json::object());
    if (const Json* average = member(queue, in ? "average_in" : "average_total")) row["average"] = *average;
    for (const char* quantile : {"sojourn_p50_seconds", "sojourn_p99_seconds"})
      if (const Json* value = member(queue, quantile); in && value != nullptr) row[quantile] = *value;
    rows.push_back(std::move(row));
  }
}

std::vector<Json> lines_of(std::string_view what, const Json& rows, bool all) {
  std::vector<Json> lines;
  for (const Json& row : rows) {
    if (what == "queues")
      split_queue(row, lines);
    else if (what != "drops" || all || row.value("packets", std::uint64_t{0}) > 0)
      lines.push_back(row);
  }
  return lines;
}

}  // namespace

std::string render_table(std::string_view what, const Json& rows, bool all) {
  const Columns columns = columns_of(what);
  TextTable table;
  for (const Column& column : columns) table.column(column.title, column.align);
  for (const Json& row : lines_of(what, rows, all)) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cell(row));
    table.row(std::move(cells));
  }
  return table.text();
}

int show(const ShowRequest& request, const TelemetryClient& client, std::ostream& out, std::ostream& err) {
  if (std::find(kTables.begin(), kTables.end(), request.what) == kTables.end()) {
    err << fmt::format("surety show: nothing is called {}: choose one of {}\n", request.what,
                       human::list(kTables));
    return 2;
  }
  const TelemetryAnswer answer = client.table(request.what, request.router);
  if (!answer.rows) {
    err << "surety show: " << answer.error << '\n';
    return 1;
  }
  out << (request.json ? answer.rows->dump(2) + '\n' : render_table(request.what, *answer.rows, request.all));
  return 0;
}

}  // namespace surety
