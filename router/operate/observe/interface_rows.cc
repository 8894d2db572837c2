// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_merge.h"

#include <algorithm>

#include "router/operate/observe/field_table.h"

namespace surety {

namespace {

InterfaceReading row_of(const Interfaces& interfaces, InterfaceIndex i) {
  const InterfaceRecord& r = interfaces[i];
  InterfaceReading row;
  row.name = interfaces.name(i);
  row.port = interfaces.name(r.port);
  row.customer = interfaces.customer(i);
  row.mtu = r.mtu;
  if (r.tags.any()) row.tags = to_string(r);
  return row;
}

InterfaceCount sum(std::span<const InterfaceCounters* const> counters, InterfaceIndex i) {
  InterfaceCount n;
  for (const InterfaceCounters* c : counters) fields::add(n, (*c)[i]);
  return n;
}

// The rate to which each definition of an interface is shaped. none: it has no shaper.
std::vector<std::optional<double>> shapers(std::size_t definitions, std::span<const config::Sale> sold) {
  std::vector<std::optional<double>> shapes(definitions);
  for (const config::Sale& s : sold)
    if (s.of == config::Sale::Of::interface && s.way == config::Sale::Way::down && s.index < definitions)
      shapes[s.index] = s.sold.bytes_per_second();
  return shapes;
}

}  // namespace

std::vector<InterfaceReading> interface_rows(const Interfaces& interfaces,
                                             std::span<const InterfaceCounters* const> counters,
                                             std::span<const config::Sale> sold) {
  const auto shapes = shapers(interfaces.definitions(), sold);
  std::vector<InterfaceReading> rows;
  std::size_t members = 0;
  for (std::size_t d = 0; d < interfaces.definitions(); ++d) {
    const InterfaceIndex first = interfaces.of_definition(d);
    const std::size_t whole = rows.size();
    rows.push_back(row_of(interfaces, first));
    rows[whole].counters = sum(counters, first);
    rows[whole].shape_bytes_per_second = shapes[d];
    if (interfaces[first].link != first) {  // a tag of a template
      rows[whole].of = interfaces.name(interfaces[first].link);
      continue;
    }
    for (std::size_t i = first + std::size_t{1}; i < interfaces.size(); ++i) {
      const auto member = static_cast<InterfaceIndex>(i);
      if (!interfaces.exists(member) || interfaces[member].link != first) break;
      const InterfaceCount n = sum(counters, member);
      fields::add(rows[whole].counters, n);
      ++rows[whole].members;
      if (interfaces[member].definition != d) continue;  // a subscriber has a row of its own
      if (n.rx_packets + n.tx_packets == 0 || ++members > kMostMemberRows) continue;
      rows.push_back(row_of(interfaces, member));
      rows.back().counters = n;
      rows.back().of = rows[whole].name;
      rows.back().shape_bytes_per_second = shapes[d];
    }
  }
  return rows;
}

std::map<std::string, ShaperMinutes::Count> ShaperMinutes::counts(const Reading& workers) {
  std::map<std::string, Count> counts;
  for (const auto* queues : {&workers.interface_queues, &workers.member_queues})
    for (const QueueReading& q : *queues) {
      Count& count = counts[q.interface];
      for (std::size_t p = 0; p < kDropPrecedences; ++p) {
        const QueueCounters& c = q.counters[p];
        count.bytes[p == index(Precedence::in) ? 0 : 1] += c.departed_bytes;
        count.packets += c.departures;
        count.dropped += c.early_drops + c.forced_drops + c.overflow_drops;
      }
    }
  return counts;
}

namespace {

// Name of the queues, whatever plan they have: a tag of a template keeps them.
std::string queues_of(const InterfaceReading& i) {
  return i.of.empty() ? i.name : i.of + i.tags.substr(std::min(i.tags.find('.'), i.tags.size()));
}

}  // namespace

std::vector<ContractMinute> ShaperMinutes::take(std::span<const InterfaceReading> interfaces,
                                                const Reading& workers) {
  // A counter that has begun again counts from there.
  const auto grown = [](std::uint64_t now, std::uint64_t before) {
    return now - (now < before ? 0 : before);
  };
  std::vector<ContractMinute> rows;
  const auto now = counts(workers);
  std::map<std::string, Count> kept = now;
  for (const InterfaceReading& i : interfaces)
    if (const auto at = now.find(i.name); at != now.end()) kept[queues_of(i)] = at->second;
  for (const InterfaceReading& i : interfaces) {
    const auto at = now.find(i.name);
    if (!i.shape_bytes_per_second || i.members > 0 || at == now.end()) continue;
    const Count &count = at->second, &before = before_[queues_of(i)];
    const std::uint64_t in = grown(count.bytes[0], before.bytes[0]),
                        out = grown(count.bytes[1], before.bytes[1]);
    const std::uint64_t packets = grown(count.packets, before.packets),
                        dropped = grown(count.dropped, before.dropped);
    if (packets + dropped == 0) continue;
    ContractMinute& row = rows.emplace_back();
    row.customer = i.customer;
    row.service = kService;
    row.contract = i.name;
    row.down = true;
    row.tally = {.committed_bytes_per_second = *i.shape_bytes_per_second,
                 .offered_bytes = in + out + (packets > 0 ? dropped * (in + out) / packets : 0),
                 .delivered_in_bytes = in,
                 .delivered_out_bytes = out,
                 .lost_packets = dropped};
  }
  before_ = std::move(kept);
  return rows;
}

}  // namespace surety
