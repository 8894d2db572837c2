// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "router/operate/observe/reading_fields.h"

namespace surety {
namespace {

// Adds rows whose index may differ between workers.
template <class Row, class KeyOf>
void add_found(const fields::Table<Row>& table, std::vector<Row>& into, const std::vector<Row>& part,
               KeyOf key_of) {
  into.reserve(into.size() + part.size());  // keys look into the rows
  std::map<decltype(key_of(part[0])), std::size_t> places;
  for (std::size_t i = 0; i < into.size(); ++i) places.emplace(key_of(into[i]), i);
  for (const Row& row : part) {
    const auto found = places.find(key_of(row));
    if (found == places.end())
      into.push_back(row);
    else
      table.merge(into[found->second], row);
  }
}

template <class Row>
void add_rows(const fields::Table<Row>& table, std::vector<Row>& into, const std::vector<Row>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i < into.size())
      table.merge(into[i], part[i]);
    else
      into.push_back(part[i]);
  }
}

void merge(std::vector<FlowReading>& into, const std::vector<FlowReading>& part) {
  into.insert(into.end(), part.begin(), part.end());
  std::stable_sort(into.begin(), into.end(), [](const FlowReading& a, const FlowReading& b) {
    return a.in_bytes + a.out_bytes > b.in_bytes + b.out_bytes;
  });
}

void merge(SignallingReading& into, const SignallingReading& part) {
  if (into.mode.empty()) into.mode = part.mode;
  fields::add(into.received, part.received);
  add_found(fields::kSenders, into.senders, part.senders,
            [](const auto& s) { return std::tie(s.port, s.queue); });
  add_found(fields::kSources, into.sources, part.sources,
            [](const auto& s) { return std::tie(s.router, s.port, s.queue); });
  add_found(fields::kPaths, into.paths, part.paths, [](const auto& s) { return std::tie(s.path, s.domain); });
}

}  // namespace

void merge(Reading& into, const Reading& part) {
  fields::kRouter.merge(into, part);
  add_rows(fields::kPorts, into.ports, part.ports);
  fields::add(into.gone, part.gone);
  for (PortReading& p : into.ports)
    p.handover = static_cast<std::int64_t>(p.counters.handed_over - p.counters.taken_over);
  add_rows(fields::kQueues, into.queues, part.queues);
  add_rows(fields::kQueues, into.interface_queues, part.interface_queues);
  const auto members = std::span(part.member_queues).first(part.used_members);
  into.member_queues.insert(into.member_queues.end(), members.begin(), members.end());
  into.used_members = into.member_queues.size();
  add_rows(fields::kServices, into.services, part.services);
  add_rows(fields::kFilters, into.filters, part.filters);
  add_rows(fields::kDomains, into.domains, part.domains);
  add_rows(fields::kAggregates, into.aggregates, part.aggregates);
  merge(into.top_flows, part.top_flows);
  into.workers.insert(into.workers.end(), part.workers.begin(), part.workers.end());
  fields::add(into.stages, part.stages);
  merge(into.signalling, part.signalling);
}

void settle_gone(Reading& reading) {
  PortReading gone;
  gone.name = kGonePorts;
  gone.up = false;
  gone.counters = reading.gone;
  for (const PortReading& p : reading.ports)
    if (p.name.empty()) fields::kPorts.merge(gone, p);
  std::erase_if(reading.ports, [](const PortReading& p) { return p.name.empty(); });
  const PortCounters& c = gone.counters;
  gone.handover = static_cast<std::int64_t>(c.handed_over - c.taken_over);
  if (c.rx_packets + c.fragments + c.enqueued + c.handed_over > 0) reading.ports.push_back(std::move(gone));
}

void add_numbers(QueueReading& into, const QueueReading& part) {
  fields::kQueues.merge(into, part);
}

void settle_below(Reading& reading) {
  for (auto* rows : {&reading.interface_queues, &reading.member_queues}) {
    std::ranges::move(*rows, std::back_inserter(reading.queues));
    rows->clear();
  }
  reading.used_members = 0;
}

void settle_retired(Reading& reading) {
  std::erase_if(reading.domains, [](const DomainReading& d) { return d.retired; });
  std::vector<ServiceReading> rows, retired;
  for (ServiceReading& s : reading.services) (s.retired ? retired : rows).push_back(std::move(s));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ServiceReading& a, const ServiceReading& b) { return a.place < b.place; });
  for (ServiceReading& old : retired) {
    const auto now =
        std::find_if(rows.begin(), rows.end(), [&](const ServiceReading& s) { return s.name == old.name; });
    const ServiceCounters& c = old.counters;
    if (now != rows.end())
      fields::kServices.merge(*now, old);
    else if (c.flows + c.contracts + c.held > 0)
      rows.push_back(std::move(old));
  }
  reading.services = std::move(rows);
}

}  // namespace surety
