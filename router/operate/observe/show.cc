// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::string plain(double value) {
  return fmt::format("{:.1f}", value);
}

Column state() {
  return {"STATE", TextTable::Align::left,
          [](const Json& row) {
            return row.value("missing", false) ? "missing" : row.value("up", false) ? "up" : "down";
          },
          "up"};
}

std::pair<double, double> conformance(const Json& row) {
  return {real(row, "met_seconds"), real(row, "demanding_seconds")};
}

Columns port_columns() {
  CounterOrder<PortCounters> order;
  Columns columns{text("PORT", "name"),
                  text("DEVICE", "device"),
                  state(),
                  count("CHANGES", "link_changes"),
                  counter(order.next(&PortCounters::rx_packets)),
                  counter(order.next(&PortCounters::tx_packets)),
                  counter(order.next(&PortCounters::forwarded)),
                  grows(count("PUNTED", "punted")),
                  grows(count("DROPPED", "dropped")),
                  grows(count("DEGRADED", "degraded")),
                  grows(count("MISSED", "rx_missed")),
                  counter(order.next(&PortCounters::held)),
                  count("QUEUED", "queued"),
                  counter(order.next(&PortCounters::rx_bytes)),
                  counter(order.next(&PortCounters::tx_bytes)),
                  number("SPEED", "speed_bytes_per_second", human::rate),
                  number("SHAPE", "shape_bytes_per_second", human::rate),
                  count("OWNER", "owner_core"),
                  text("SPREAD", "spread"),
                  count("HANDOVER", "handover")};
  add_counters(columns, order.rest());
  return columns;
}

Columns interface_columns() {
  return {text("INTERFACE", "name"),
          text("PORT", "port"),
          text("VLAN", "vlan"),
          text("CUSTOMER", "customer"),
          count("MEMBERS", "members"),
          count("MTU", "mtu"),
          grows(count("RX", "rx_packets")),
          grows(count("TX", "tx_packets")),
          grows(number("RX BYTES", "rx_bytes", human::bytes)),
          grows(number("TX BYTES", "tx_bytes", human::bytes)),
          number("SHAPE", "shape_bytes_per_second", human::rate)};
}

Columns queue_columns() {
  Columns columns{text("PORT", "port"),
                  text("QUEUE", "name"),
                  text("PRECEDENCE", "precedence"),
                  count("DEPTH", "counters.depth"),
                  count("LIMIT", "counters.limit"),
                  number("AVERAGE", "average", plain)};
  add_counters(columns, QueueCounters::table(), "counters.");
  columns.push_back(text("CONGESTED", "congested"));
  columns.push_back(number("SOJOURN P50", "sojourn_p50_seconds", human::duration));
  columns.push_back(number("P99", "sojourn_p99_seconds", human::duration));
  return columns;
}

Columns service_columns() {
  CounterOrder<ServiceCounters> order;
  Columns columns{text("SERVICE", "name"),
                  text("CONDITIONER", "conditioner"),
                  counter(order.next(&ServiceCounters::flows)),
                  counter(order.next(&ServiceCounters::contracts)),
                  number("COMMITTED", "committed_bytes_per_second", human::rate),
                  number("DELIVERED", "achieved_bytes_per_second", human::rate),
                  number("OF GUARANTEED", "respect_ratio", human::percent),
                  quotient("CONFORMANCE", human::conformance, conformance),
                  grows(count("IN", "in.packets")),
                  grows(count("OUT", "out.packets"))};
  add_counters(columns, order.rest());
  return columns;
}

Columns contract_columns() {
  return {text("CUSTOMER", "customer"),
          text("SERVICE", "service"),
          text("CONTRACT", "contract"),
          number("COMMITTED", "committed_bytes_per_second", human::rate),
          number("OFFERED", "offered_bytes_per_second", human::rate),
          number("DELIVERED", "delivered_bytes_per_second", human::rate),
          number("IN", "delivered_in_bytes_per_second", human::rate),
          number("OF GUARANTEED", "respect_ratio", human::percent),
          quotient("CONFORMANCE", human::conformance, conformance),
          number("OBJECTIVE", "objective_ratio", human::percent),
          {"NOW", TextTable::Align::left,
           [](const Json& row) {
             const Json* const met = member(row, "met");
             return std::string(met == nullptr ? "-" : met->get<bool>() ? "conforms" : "violated");
           },
           "met"},
          grows(count("SECONDS", "demanding_seconds")),
          grows(count("HELD BACK", "held_back_seconds")),
          count("HELD", "held"),
          grows(count("DROPPED", "dropped_conditioner")),
          grows(count("QUEUE DROPS", "dropped_queue")),
          grows(count("OTHER DROPS", "dropped_other")),
          text("DIRECTION", "direction"),
          text("REASON", "reason")};
}

Columns aggregate_columns() {
  CounterOrder<AggregateCounters> order;
  Columns columns{text("AGGREGATE", "name"),
                  text("PORT", "port"),
                  text("QUEUE", "queue"),
                  number("TPR", "tpr_bytes_per_second", human::rate),
                  number("LAMBDA IN", "lambda_in_bytes_per_second", human::rate),
                  number("LAMBDA OUT", "lambda_out_bytes_per_second", human::rate),
                  number("TOKENS", "tokens_bytes", human::bytes),
                  counter(order.next(&AggregateCounters::passed_in)),
                  counter(order.next(&AggregateCounters::passed_out))};
  add_counters(columns, order.rest());
  return columns;
}

Columns worker_columns() {
  Columns columns{count("CORE", "core"), number("BUSY", "busy_ratio", human::percent),
                  count("FLOWS", "flows"), text("OWNS", "owns"), text("READS", "reads")};
  add_counters(columns, WorkerCounters::table());
  return columns;
}

}  // namespace

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
            count("REJECTED", "routes_rejected"),
            count("NEIGHBORS", "neighbors"),
            count("BUFFERS FREE", "mempool_available"),
            count("OF", "mempool_size"),
            count("RELOADS", "reloads"),
            count("REFUSED", "reload_failures"),
            number("CPU", "cpu_seconds", elapsed),
            number("MEMORY", "resident_bytes", bytes),
            grows(count("SIGNALS SENT", "signals_sent"))};
  if (what == "events")
    return {text("TIME", "time"), text("LEVEL", "level"), text("KIND", "kind"), text("EVENT", "text")};
  if (what == "routes")
    return {text("PREFIX", "prefix"), text("NEXT HOP", "next_hop"), text("INTERFACE", "interface"),
            text("SOURCE", "source"), count("METRIC", "metric"),    text("STATE", "state")};
  if (what == "neighbors")
    return {text("ADDRESS", "address"), text("MAC", "mac"),     text("INTERFACE", "interface"),
            text("SOURCE", "source"),   text("STATE", "state"), number("AGE", "age_seconds", duration)};
  if (what == "signalling") return {};
  if (what == "ports") return port_columns();
  if (what == "interfaces") return interface_columns();
  if (what == "queues") return queue_columns();
  if (what == "services") return service_columns();
  if (what == "contracts") return contract_columns();
  if (what == "filters")
    return {text("FILTER", "filter"), text("ENTRY", "entry"), text("ACTION", "action"),
            grows(count("PACKETS", "packets"))};
  if (what == "flows")
    return {text("SOURCE", "source"),
            text("DESTINATION", "destination"),
            text("PROTOCOL", "protocol"),
            count("VLAN", "vlan"),
            text("SERVICE", "service"),
            grows(number("IN", "in_bytes", bytes)),
            grows(number("OUT", "out_bytes", bytes)),
            count("HELD", "held"),
            number("IDLE", "idle_seconds", duration)};
  if (what == "drops")
    return {text("PORT", "port"),
            text("STAGE", "stage"),
            text("REASON", "reason"),
            text("GROUP", "group"),
            grows(count("PACKETS", "packets")),
            text("MEANING", "help")};
  if (what == "exceptions")
    return {text("PORT", "port"), text("WAY", "way"), text("RESULT", "result"),
            grows(count("FRAMES", "frames")), text("MEANING", "help")};
  if (what == "aggregates") return aggregate_columns();
  if (what == "domains") return {text("DOMAIN", "name"), alpha("ALPHA", "alpha_ratio")};
  if (what == "workers") return worker_columns();
  if (what == "commitments")
    return {text("PORT", "port"),
            text("GROUP", "group"),
            text("INTERFACE", "interface"),
            text("QUEUE", "queue"),
            text("DIRECTION", "direction"),
            number("COMMITTED", "sold_bytes_per_second", rate),
            number("CAPACITY", "capacity_bytes_per_second", rate),
            quotient("UTILIZATION", percent,
                     [](const Json& row) {
                       return std::pair(real(row, "sold_bytes_per_second"),
                                        real(row, "capacity_bytes_per_second"));
                     }),
            count("PER MEMBER OF", "members")};
  return {text("STAGE", "stage"), grows(count("CYCLES", "cycles")), grows(count("PACKETS", "packets")),
          quotient("CYCLES/PACKET", plain,
                   [](const Json& row) { return std::pair(real(row, "cycles"), real(row, "packets")); })};
}

namespace {

// A queue shows as two rows, one per precedence; OUT is judged by the total average,
// so that is the one beside it.
void split_queue(const Json& queue, std::vector<Json>& rows) {
  for (const char* precedence : {"in", "out"}) {
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

std::string render_table(std::string_view what, Json rows, bool all) {
  if (what == "signalling") return render_signalling(rows, all);
  const ShownTable table = shown(what, std::move(rows).get<std::vector<Json>>(), all);
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
