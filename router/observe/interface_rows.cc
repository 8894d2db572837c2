// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/interface_rows.h"

#include <fmt/format.h>

namespace surety {

namespace {

InterfaceReading row_of(const Interfaces& interfaces, InterfaceIndex i) {
  const InterfaceRecord& r = interfaces[i];
  InterfaceReading row;
  row.name = interfaces.name(i);
  row.port = interfaces.name(r.port);
  row.customer = interfaces.customer(i);
  row.mtu = r.mtu;
  row.tags = to_string(r);
  return row;
}

InterfaceCount sum(std::span<const InterfaceCounters* const> counters, InterfaceIndex i) {
  InterfaceCount n;
  for (const InterfaceCounters* c : counters) n += (*c)[i];
  return n;
}

}  // namespace

std::vector<InterfaceReading> interface_rows(const Interfaces& interfaces,
                                             std::span<const InterfaceCounters* const> counters) {
  std::vector<InterfaceReading> rows;
  std::size_t members = 0;
  for (std::size_t d = 0; d < interfaces.definitions(); ++d) {
    const InterfaceIndex first = interfaces.of_definition(d);
    const std::size_t whole = rows.size();
    rows.push_back(row_of(interfaces, first));
    rows[whole].counters = sum(counters, first);
    for (std::size_t i = first + std::size_t{1}; i < interfaces.size(); ++i) {
      const auto member = static_cast<InterfaceIndex>(i);
      if (!interfaces.exists(member) || interfaces[member].link != first) break;
      const InterfaceCount n = sum(counters, member);
      rows[whole].counters += n;
      ++rows[whole].members;
      if (n.rx_packets + n.tx_packets == 0 || ++members > kMostMemberRows) continue;
      rows.push_back(row_of(interfaces, member));
      rows.back().counters = n;
      rows.back().of = rows[whole].name;
    }
  }
  return rows;
}

}  // namespace surety
