// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/subscriber_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace surety {
namespace {

// A link, and tags or prefixes there.
std::string place_of(const config::Interface& i, const config::Config& c) {
  std::string place = i.within ? c.interfaces[*i.within].name : c.ports[i.port].name;
  if (i.is_tag_of_template()) place += fmt::format(".{}", i.first_inner);
  if (i.has_link()) {
    place += fmt::format(" {}", i.vlan);
    if (i.first_inner != 0) place += fmt::format(".{}", i.first_inner);
    if (i.is_template()) place += fmt::format("-{}", i.last_inner);
  }
  for (const Prefix& p : i.prefixes)
    place += ' ' + (p.length == (p.address.is_v6() ? 128 : 32) ? to_string(p.address) : to_string(p));
  return place;
}

void add(SubscriberReading& row, const ContractReading& c) {
  row.committed_bytes_per_second += c.committed_bytes_per_second;
  row.offered_bytes_per_second += c.offered_bytes_per_second;
  row.delivered_bytes_per_second += c.delivered_bytes_per_second;
  row.demanding_seconds += c.demanding_seconds;
  row.met_seconds += c.met_seconds;
  if (c.met) row.met = row.met.value_or(true) && *c.met;
}

}  // namespace

std::vector<SubscriberReading> subscriber_rows(const config::Config& config) {
  std::vector<SubscriberReading> rows;
  rows.reserve(config.subscribers.size());
  for (const config::Subscriber& s : config.subscribers) {
    const config::Interface& interface = config.interfaces[s.interface];
    SubscriberReading& row = rows.emplace_back();
    row.name = interface.name;
    row.plan = s.plan;
    row.owner = s.owner.empty() ? "file" : s.owner;
    row.place = place_of(interface, config);
    row.suspended = s.suspended;
    if (interface.shaper.rate) row.shape_bytes_per_second = interface.shaper.rate->bytes_per_second();
  }
  std::ranges::sort(rows, {}, &SubscriberReading::name);
  return rows;
}

std::vector<SubscriberReading> subscriber_rows(const Reading& reading) {
  if (!reading.subscribers) return {};
  std::vector<SubscriberReading> rows = *reading.subscribers;
  std::unordered_map<std::string_view, SubscriberReading*> by_name;
  by_name.reserve(rows.size());
  for (SubscriberReading& row : rows) by_name.emplace(row.name, &row);
  for (const ContractReading& c : reading.contracts)
    if (const auto row = by_name.find(c.customer); row != by_name.end()) add(*row->second, c);
  for (const InterfaceReading& i : reading.interfaces)
    if (const auto row = by_name.find(i.name); row != by_name.end()) row->second->counters = i.counters;
  return rows;
}

}  // namespace surety
