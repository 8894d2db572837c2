// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/reading_merge.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace surety {
namespace {

template <std::size_t n>
void add(std::array<std::uint64_t, n>& into, const std::array<std::uint64_t, n>& part) {
  std::transform(into.begin(), into.end(), part.begin(), into.begin(), std::plus<>());
}

// Rows that workers find by themselves: the same ones need not stand at the same places.
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

void add(PortCounters& into, const PortCounters& part) {
  into.rx_packets += part.rx_packets;
  into.rx_bytes += part.rx_bytes;
  into.tx_packets += part.tx_packets;
  into.tx_bytes += part.tx_bytes;
  into.forwarded += part.forwarded;
  into.signals += part.signals;
  into.enqueued += part.enqueued;
  into.given += part.given;
  into.taken += part.taken;
  into.originated += part.originated;
  into.held += part.held;
  add(into.drops, part.drops);
  add(into.punted, part.punted);
  add(into.degraded, part.degraded);
}

void add(PortReading& into, const PortReading& part) {
  add(into.counters, part.counters);
  into.rx_missed += part.rx_missed;
  into.queued += part.queued;
  if (into.owner_core == 0) into.owner_core = part.owner_core;
  if (into.rx_cores.empty()) into.rx_cores = part.rx_cores;
  if (into.spread.empty()) into.spread = part.spread;
}

void add(QueueCounters& into, const QueueCounters& part) {
  into.arrivals += part.arrivals;
  into.departures += part.departures;
  into.early_drops += part.early_drops;
  into.forced_drops += part.forced_drops;
  into.overflow_drops += part.overflow_drops;
  into.ecn_marks += part.ecn_marks;
  into.departed_bytes += part.departed_bytes;
}

void add(QueueReading& into, const QueueReading& part) {
  for (std::size_t p = 0; p < kPrecedences; ++p) {
    add(into.counters[p], part.counters[p]);
    into.depth[p] += part.depth[p];
  }
  into.average_in += part.average_in;
  into.average_total += part.average_total;
  into.has_rio |= part.has_rio;
  into.congested |= part.congested;
  add(into.sojourn.counts, part.sojourn.counts);
  into.sojourn.sum_ns += part.sojourn.sum_ns;
}

void add(ServiceReading& into, const ServiceReading& part) {
  ServiceCounters& c = into.counters;
  add(c.packets, part.counters.packets);
  add(c.bytes, part.counters.bytes);
  c.dropped += part.counters.dropped;
  c.held += part.counters.held;
  c.contracts += part.counters.contracts;
  c.flows += part.counters.flows;
  into.committed_bytes_per_second += part.committed_bytes_per_second;
  into.achieved_bytes_per_second += part.achieved_bytes_per_second;
  into.achieved_in_bytes_per_second += part.achieved_in_bytes_per_second;
  if (into.committed_bytes_per_second > 0)
    into.respect_ratio = std::min(1.0, into.achieved_in_bytes_per_second / into.committed_bytes_per_second);
}

void add(DomainReading& into, const DomainReading& part) {
  into.alpha += part.alpha;
}

void add(AggregateReading& into, const AggregateReading& part) {
  into.tpr_bytes_per_second += part.tpr_bytes_per_second;
  into.lambda_in_bytes_per_second += part.lambda_in_bytes_per_second;
  into.lambda_out_bytes_per_second += part.lambda_out_bytes_per_second;
  into.tokens_bytes += part.tokens_bytes;
  into.remarked += part.remarked;
  into.dropped += part.dropped;
  into.passed_in += part.passed_in;
  into.passed_out += part.passed_out;
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
      into.paths, part.paths,
      [](const auto& s) { return std::tie(s.next_hop, s.next_hops, s.gateway, s.domain); },
      [](SignalPathReading& to, const SignalPathReading& s) {
        to.alpha = std::min(to.alpha, s.alpha);
        to.applied_alpha = std::min(to.applied_alpha, s.applied_alpha);
      });
}

}  // namespace

void merge(Reading& into, const Reading& part) {
  if (into.router_name.empty()) into.router_name = part.router_name;
  add_rows(into.ports, part.ports);
  for (PortReading& p : into.ports)
    p.handover = static_cast<std::int64_t>(p.counters.given - p.counters.taken);
  add_rows(into.queues, part.queues);
  add_rows(into.services, part.services);
  add_rows(into.domains, part.domains);
  add_rows(into.aggregates, part.aggregates);
  merge(into.top_flows, part.top_flows);
  into.flows += part.flows;
  into.flow_capacity += part.flow_capacity;
  into.workers.insert(into.workers.end(), part.workers.begin(), part.workers.end());
  add(into.stages.cycles, part.stages.cycles);
  add(into.stages.packets, part.stages.packets);
  merge(into.signalling, part.signalling);
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
