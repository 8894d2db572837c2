// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/workers/worker_reading.h"

#include "router/dpdk/ports/port.h"

namespace surety {

namespace {

// The configuration's services in its order, then our own.
void place(std::span<ServiceReading> rows, const Snapshot& snapshot) {
  const auto own = static_cast<unsigned>(snapshot.service_of.size());
  for (ServiceReading& row : rows) row.place = own;
  for (unsigned i = 0; i < own; ++i) rows[snapshot.service_of[i]].place = i;
}

}  // namespace

Reading blank_reading(const Snapshot& snapshot, unsigned core) {
  Reading r;
  const config::Config& c = snapshot.config;
  r.router_name = c.router.name;
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    PortReading port;
    port.name = c.ports[p].name;
    if (!c.ports[p].exists()) {
      r.ports.push_back(std::move(port));
      continue;
    }
    port.device = DpdkPort::describe(c.ports[p].device);
    if (c.ports[p].shaper.rate) port.shape_bytes_per_second = c.ports[p].shaper.rate->bytes_per_second();
    r.ports.push_back(std::move(port));
    for (const auto& cls : snapshot.queues[p].classes) {
      QueueReading q;
      q.port = c.ports[p].name;
      q.name = cls.scheduling.name;
      r.queues.push_back(std::move(q));
    }
  }
  for (const auto& s : snapshot.services) {
    ServiceReading service;
    service.name = s.name;
    service.conditioner = s.conditioner;
    service.retired = s.retired;
    r.services.push_back(std::move(service));
  }
  place(r.services, snapshot);
  for (std::size_t f = 0; f < snapshot.filters.size(); ++f)
    for (const auto& counter : snapshot.filters[f].counters())
      r.filters.push_back({snapshot.filters[f].config().name, counter.name, counter.permit, 0});
  for (const auto& d : snapshot.domains) r.domains.push_back({d.name, 0, d.retired});
  for (const auto& a : c.aggregates) {
    AggregateReading aggregate;
    aggregate.name = a.name;
    aggregate.port = c.ports[a.port].name;
    aggregate.queue = snapshot.queues[a.port].classes[a.class_index].scheduling.name;
    r.aggregates.push_back(std::move(aggregate));
  }
  r.flow_capacity = c.flow_table.capacity;
  r.workers.push_back({.core = core, .counters = {}, .flows = 0});
  return r;
}

namespace {

void fill(QueueReading& r, const ActiveQueue& q) {
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    r.counters[index(p)] = q.counters(p);
    r.depth[index(p)] = q.depth(p);
  }
  r.has_rio = q.rio() != nullptr;
  if (r.has_rio) {
    r.average_in = q.rio()->average_in();
    r.average_total = q.rio()->average_total();
  }
  r.congested = q.congested();
  r.sojourn = q.sojourn();
}

void fill(QueueReading& r, const PlainQueue& q) {
  r.counters[index(Precedence::out)] = q.counters();
  r.depth[index(Precedence::out)] = q.depth();
  r.sojourn = q.sojourn();
}

void fill(QueueReading& r, const Hierarchy& h, InterfaceIndex interface, std::size_t class_index) {
  const PooledQueue& q = h.queue(interface, class_index);
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    r.counters[index(p)] = q.counters(p);
    r.depth[index(p)] = q.depth_of(p);
  }
  r.has_rio = h.params(interface).of(class_index).rio.has_value();
  if (r.has_rio) {
    r.average_in = q.rio().in.value;
    r.average_total = q.rio().total.value;
  }
  r.congested = h.congested(interface, class_index);
}

void fill(AggregateReading& r, const Egress::Aggregate& a) {
  r.tpr_bytes_per_second = a.marker.tpr().bytes_per_second();
  r.lambda_in_bytes_per_second = a.marker.lambda_in();
  r.lambda_out_bytes_per_second = a.marker.lambda_out();
  r.tokens_bytes = static_cast<double>(a.marker.tokens()) / static_cast<double>(kCreditPerByte);
  r.counters = a.counters;
}

void fill(std::span<QueueReading> rows, std::vector<AggregateReading>& aggregates, const Egress& e) {
  if (e.plain() != nullptr) return fill(rows[0], *e.plain());
  if (const QueueTree* const tree = e.tree()) {
    for (std::size_t c = 0; c < rows.size(); ++c) fill(rows[c], tree->hierarchy(), tree->plan().port, c);
  } else {
    for (std::size_t c = 0; c < rows.size(); ++c) fill(rows[c], e.scheduler().queue(c));
  }
  for (const auto& a : e.aggregates()) fill(aggregates[a.config_index], a);
}

}  // namespace

void fill_egresses(Reading& r, std::span<const std::unique_ptr<Egress>> egresses, const Snapshot& snapshot) {
  std::span<QueueReading> rest = r.queues;
  for (std::size_t p = 0; p < egresses.size(); ++p) {
    if (!snapshot.config.ports[p].exists()) continue;
    const std::size_t classes = snapshot.queues[p].classes.size();
    const auto rows = rest.first(classes);
    rest = rest.subspan(classes);
    if (egresses[p]) fill(rows, r.aggregates, *egresses[p]);
  }
  for (std::size_t d = 0; d < snapshot.domains.size(); ++d)
    if (const Egress* e = egresses[snapshot.domains[d].port].get())
      r.domains[d].alpha = e->alpha(static_cast<std::uint16_t>(d)).value();
}

}  // namespace surety
