// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "router/process/human.h"
#include "router/process/text_table.h"

namespace surety::endpoints {

std::string status_text(const GtcpStatus& status) {
  if (!status.attached) return "gtcp is not attached\n";
  TextTable table;
  table.column("to", TextTable::Align::left);
  table.column("each connection", TextTable::Align::right);
  table.column("connections", TextTable::Align::right);
  for (const auto& r : status.reservations)
    table.row({to_string(r.to), human::rate(r.rate.bytes_per_second()), std::to_string(r.connections)});
  const GtcpTotals& t = status.totals;
  return fmt::format(
      "gtcp is attached, for {}\n\n{}\n"
      "{} connections so far, {} with a reservation; {} open now\n"
      "{} window reductions, {} timeouts\n"
      "Windows of each connection: ss -tin\n",
      status.allowed ? "every user"
                     : "processes with CAP_NET_ADMIN (`surety-gtcp attach --allow`: every user)",
      table.text(), t.connections, t.reserved, t.connections - t.closed, t.reductions, t.timeouts);
}

std::string status_json(const GtcpStatus& status) {
  nlohmann::ordered_json out{{"attached", status.attached}};
  if (!status.attached) return out.dump() + "\n";
  out["allowed"] = status.allowed;
  out["reservations"] = nlohmann::ordered_json::array();
  for (const auto& r : status.reservations)
    out["reservations"].push_back({{"to", to_string(r.to)},
                                   {"bits_per_second", r.rate.bits_per_second()},
                                   {"connections", r.connections}});
  const GtcpTotals& t = status.totals;
  out["connections"] = {
      {"total", t.connections}, {"reserved", t.reserved}, {"open", t.connections - t.closed}};
  out["reductions"] = t.reductions;
  out["timeouts"] = t.timeouts;
  return out.dump() + "\n";
}

}  // namespace surety::endpoints
