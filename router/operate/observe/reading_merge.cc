// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <type_traits>

namespace surety {
namespace {

// Counters are 64-bit numbers and nothing else (counter_table.h), so their sum is that of their words.
template <class Counters>
void add(Counters& into, const Counters& part) {
  static_assert(std::has_unique_object_representations_v<Counters>, "a counter is a std::uint64_t");
  using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
  auto sums = std::bit_cast<Words>(into);
  const auto more = std::bit_cast<Words>(part);
  std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
  into = std::bit_cast<Counters>(sums);
}

// Adds rows whose index may differ between workers.
template <class Row, class KeyOf, class Add>
void add_found(std::vector<Row>& into, const std::vector<Row>& part, KeyOf key_of, Add add_row) {
  into.reserve(into.size() + part.size());  // keys look into the rows
  std::map<decltype(key_of(part[0])), std::size_t> places;
  for (std::size_t i = 0; i < into.size(); ++i) places.emplace(key_of(into[i]), i);
  for (const Row& row : part) {
    const auto found = places.find(key_of(row));
    if (found == places.end())
      into.push_back(row);
    else
      add_row(into[found->second], row);
  }
}

void add(PortReading& into, const PortReading& part) {
  add(into.counters, part.counters);
  into.rx_missed += part.rx_missed;
  into.queued += part.queued;
  if (into.sojourns && part.sojourns)
    for (std::size_t i = 0; i < part.sojourns->size(); ++i) add((*into.sojourns)[i], (*part.sojourns)[i]);
  if (into.owner_core == 0) into.owner_core = part.owner_core;
  if (into.rx_cores.empty()) into.rx_cores = part.rx_cores;
  if (into.spread.empty()) into.spread = part.spread;
}

void add(QueueReading& into, const QueueReading& part) {
  add(into.counters, part.counters);
  for (std::size_t p = 0; p < kPrecedences; ++p) into.depth[p] += part.depth[p];
  into.limit = std::max(into.limit, part.limit);
  into.out_limit = std::max(into.out_limit, part.out_limit);
  into.average_in += part.average_in;
  into.average_total += part.average_total;
  into.has_rio |= part.has_rio;
  into.congested |= part.congested;
  add(into.sojourn, part.sojourn);
}

void add(ServiceReading& into, const ServiceReading& part) {
  add(into.counters, part.counters);
  into.committed_bytes_per_second += part.committed_bytes_per_second;
  into.achieved_bytes_per_second += part.achieved_bytes_per_second;
  into.achieved_in_bytes_per_second += part.achieved_in_bytes_per_second;
  for (std::size_t p = 0; p < kPrecedences; ++p) into.delivered_bytes[p] += part.delivered_bytes[p];
}

void add(FilterReading& into, const FilterReading& part) {
  into.packets += part.packets;
}

void add(DomainReading& into, const DomainReading& part) {
  into.alpha += part.alpha;
}

void add(AggregateReading& into, const AggregateReading& part) {
  into.tpr_bytes_per_second += part.tpr_bytes_per_second;
  into.lambda_in_bytes_per_second += part.lambda_in_bytes_per_second;
  into.lambda_out_bytes_per_second += part.lambda_out_bytes_per_second;
  into.tokens_bytes += part.tokens_bytes;
  add(into.counters, part.counters);
}

template <class Row>
void add_rows(std::vector<Row>& into, const std::vector<Row>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i < into.size())
      add(into[i], part[i]);
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
  add(into.received, part.received);
  add_found(
      into.senders, part.senders, [](const auto& s) { return std::tie(s.port, s.queue); },
      [](SignalSenderReading& to, const SignalSenderReading& s) {
        to.sent += s.sent;
        to.limited += s.limited;
        to.lost += s.lost;
      });
  add_found(
      into.sources, part.sources, [](const auto& s) { return std::tie(s.router, s.port, s.queue); },
      [](SignalSourceReading& to, const SignalSourceReading& s) {
        to.signals += s.signals;
        to.age_seconds = std::min(to.age_seconds, s.age_seconds);
      });
  add_found(
      into.paths, part.paths, [](const auto& s) { return std::tie(s.path, s.domain); },
      [](SignalPathReading& to, const SignalPathReading& s) {
        to.alpha = std::min(to.alpha, s.alpha);
        to.applied_alpha = std::min(to.applied_alpha, s.applied_alpha);
      });
}

}  // namespace

void merge(Reading& into, const Reading& part) {
  if (into.router_name.empty()) into.router_name = part.router_name;
  add_rows(into.ports, part.ports);
  add(into.gone, part.gone);
  for (PortReading& p : into.ports)
    p.handover = static_cast<std::int64_t>(p.counters.handed_over - p.counters.taken_over);
  add_rows(into.queues, part.queues);
  add_rows(into.interface_queues, part.interface_queues);
  const auto members = std::span(part.member_queues).first(part.used_members);
  into.member_queues.insert(into.member_queues.end(), members.begin(), members.end());
  into.used_members = into.member_queues.size();
  add_rows(into.services, part.services);
  add_rows(into.filters, part.filters);
  add_rows(into.domains, part.domains);
  add_rows(into.aggregates, part.aggregates);
  merge(into.top_flows, part.top_flows);
  into.flows += part.flows;
  into.flow_capacity += part.flow_capacity;
  into.workers.insert(into.workers.end(), part.workers.begin(), part.workers.end());
  add(into.stages, part.stages);
  merge(into.signalling, part.signalling);
}

void settle_gone(Reading& reading) {
  PortReading gone;
  gone.name = kGonePorts;
  gone.up = false;
  gone.counters = reading.gone;
  for (const PortReading& p : reading.ports) {
    if (!p.name.empty()) continue;
    add(gone, p);
    for (std::size_t i = 0; i < gone.exceptions.size(); ++i) gone.exceptions[i] += p.exceptions[i];
  }
  std::erase_if(reading.ports, [](const PortReading& p) { return p.name.empty(); });
  const PortCounters& c = gone.counters;
  gone.handover = static_cast<std::int64_t>(c.handed_over - c.taken_over);
  if (c.rx_packets + c.fragments + c.enqueued + c.handed_over > 0) reading.ports.push_back(std::move(gone));
}

void add_numbers(QueueReading& into, const QueueReading& part) {
  add(into, part);
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
      add(*now, old);
    else if (c.flows + c.contracts + c.held > 0)
      rows.push_back(std::move(old));
  }
  reading.services = std::move(rows);
}

}  // namespace surety
