// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker_reading.h"

#include <algorithm>

#include "router/daemon/ports/port.h"
#include "router/operate/observe/reading_merge.h"
#include "router/pipeline/egress.h"

namespace surety {

namespace {

// The configuration's services in its order, then our own.
void place(std::span<ServiceReading> rows, const Snapshot& snapshot) {
  const auto own = static_cast<unsigned>(snapshot.service_of.size());
  for (ServiceReading& row : rows) row.place = own;
  for (unsigned i = 0; i < own; ++i) rows[snapshot.service_of[i]].place = i;
}

// Sets the class's name, limit and thresholds in a row.
void name_after(QueueReading& row, const ClassParams& of) {
  row.name = of.name;
  row.limit = of.queue.limit;
  row.out_limit = of.queue.limit - of.queue.reserved;
  row.thresholds.reset();
  const auto& rio = of.queue.rio;
  row.has_red = rio && rio->red;
  if (rio) row.thresholds = {rio->in, rio->out, rio->red.value_or(rio->out)};
}

// A row for each class of each definition (TreeCopy).
void place_interfaces(Reading& r, const PortTree& tree, const config::Config& c) {
  for (const PortTree::Node& n : std::span(tree.nodes).subspan(1)) {
    for (const ClassParams& cls : n.classes) {
      QueueReading q;
      q.port = c.ports[tree.port].name;
      name_after(q, cls);
      q.interface = c.interfaces[n.definition].name;
      q.members = c.interfaces[n.definition].members();
      if (q.members > 0) q.thresholds.reset();  // a sum has none
      q.has_sojourn = false;
      r.interface_queues.push_back(std::move(q));
    }
  }
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
    port.device = describe(c.ports[p].device);
    if (c.ports[p].shaper.rate) port.shape_bytes_per_second = c.ports[p].shaper.rate->bytes_per_second();
    r.ports.push_back(std::move(port));
    const PortTree* const tree = snapshot.queues[p].tree.get();
    for (const auto& cls : snapshot.queues[p].classes) {
      QueueReading q;
      q.port = c.ports[p].name;
      name_after(q, cls.scheduling);
      q.has_sojourn = tree == nullptr;
      r.queues.push_back(std::move(q));
    }
    if (tree == nullptr) continue;
    r.ports[p].sojourns.emplace();
    place_interfaces(r, *tree, c);
  }
  if (!r.interface_queues.empty()) r.member_queues.resize(kMostMemberRows);
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
    aggregate.queue = c.queues_before(a)->classes[a.class_index].scheduling.name;
    r.aggregates.push_back(std::move(aggregate));
  }
  r.flow_capacity = c.flow_table.capacity;
  r.workers.push_back({.core = core, .counters = {}, .flows = 0});
  return r;
}

namespace {

// Sets the numbers of a queue; the row's names stay.
void fill(QueueReading& r, const QueueStatus& q) {
  r.counters = q.counters;
  r.depth = q.depth;
  r.has_rio = q.has_rio;
  r.average_in = q.average_in;
  r.average_total = q.average_total;
  r.congested = q.congested;
}

void fill_tree_row(QueueReading& row, const Hierarchy& h, InterfaceIndex interface, std::size_t class_index) {
  fill(row, h.status(interface, class_index));
  if (!h.queue(interface, class_index).empty()) return;
  // In an empty queue the averages are those of its last packet: they decay with the next arrival.
  row.average_in = row.average_total = 0;
  row.congested = false;
}

void fill(AggregateReading& r, const Egress::Aggregate& a) {
  r.tpr_bytes_per_second = a.marker.tpr().bytes_per_second();
  r.lambda_in_bytes_per_second = a.marker.lambda_in();
  r.lambda_out_bytes_per_second = a.marker.lambda_out();
  r.tokens_bytes = static_cast<double>(a.marker.tokens()) / static_cast<double>(kCreditPerByte);
  r.counters = a.counters;
}

void fill(std::span<QueueReading> rows, const Egress& e) {
  const auto fill_row = [](QueueReading& row, const auto& queue) {
    fill(row, queue.status());
    row.sojourn = queue.sojourn();
  };
  if (const PlainQueue* const plain = e.plain()) return fill_row(rows[0], *plain);
  const QueueTree* const tree = e.tree();
  for (std::size_t c = 0; c < rows.size(); ++c)
    if (tree != nullptr)
      fill_tree_row(rows[c], tree->hierarchy(), tree->plan().port, c);
    else
      fill_row(rows[c], e.scheduler()->queue(c));
}

}  // namespace

void fill_egresses(Reading& r, std::span<const std::unique_ptr<Egress>> egresses, const Snapshot& snapshot) {
  std::span<QueueReading> rest = r.queues;
  for (std::size_t p = 0; p < egresses.size(); ++p) {
    if (!snapshot.config.ports[p].exists()) continue;
    if (const QueueTree* const tree = egresses[p] ? egresses[p]->tree() : nullptr;
        tree && r.ports[p].sojourns)
      for (const Plane plane : {Plane::strict, Plane::data})
        (*r.ports[p].sojourns)[index(plane)] = tree->hierarchy().sojourn(plane);
    const std::size_t classes = snapshot.queues[p].classes.size();
    const auto rows = rest.first(classes);
    rest = rest.subspan(classes);
    if (egresses[p]) fill(rows, *egresses[p]);
  }
}

bool fill_some(Reading& r, const ManyRows& rows, const Snapshot& snapshot, std::size_t& done) {
  const std::size_t last = done + kRowsAtOnce;
  std::size_t first = 0;  // first row of the current table
  const auto table = [&](std::size_t count, auto fill_row) {
    for (; done < std::min(last, first + count); ++done) fill_row(done - first);
    first += count;
  };
  table(rows.services.size(), [&](std::size_t s) {
    ServiceCounters& counters = r.services[s].counters = rows.services[s];
    const Loss loss = rows.losses.of_service(static_cast<std::uint16_t>(s));
    counters.lost = loss.packets;
    counters.lost_bytes = loss.bytes;
  });
  table(rows.filters.size(), [&](std::size_t f) { r.filters[f].packets = rows.filters[f]; });
  table(snapshot.domains.size(), [&](std::size_t d) {
    if (const Egress* e = rows.egresses[snapshot.domains[d].port].get())
      r.domains[d].alpha = e->alpha(static_cast<std::uint16_t>(d)).value();
  });
  for (const auto& e : rows.egresses) {
    const auto aggregates = e ? e->aggregates() : std::span<const Egress::Aggregate>();
    table(aggregates.size(),
          [&](std::size_t a) { fill(r.aggregates[aggregates[a].config_index], aggregates[a]); });
  }
  return done == first;
}

void name_members(Reading& r, const Snapshot& snapshot) {
  const Interfaces& interfaces = *snapshot.interfaces;
  for (QueueReading& q : std::span(r.member_queues).first(r.used_members)) {
    const InterfaceRecord& record = interfaces[q.index];
    const PortTree& tree = *snapshot.queues[record.port].tree;
    q.port = snapshot.config.ports[record.port].name;
    q.interface = interfaces.name(q.index);
    q.of = interfaces.name(record.link);
    name_after(q, tree.classes(q.index)[q.members]);
    q.members = 0;
    q.has_sojourn = false;
  }
}

void TreeCopy::start(Reading& r) {
  port_ = row_ = 0;
  node_ = 1;
  member_ = 0;
  r.used_members = 0;
  for (QueueReading& q : r.interface_queues) {
    q.counters = {};
    q.depth = {};
    q.average_in = q.average_total = 0;
    q.congested = q.has_rio = false;
  }
}

bool TreeCopy::step(Reading& r, const Snapshot& snapshot) {
  std::uint32_t left = kStep;
  for (; port_ < snapshot.queues.size(); ++port_, node_ = 1) {
    const PortTree* const plan = snapshot.queues[port_].tree.get();
    if (plan == nullptr) continue;
    const QueueTree* const tree = egresses_[port_] != nullptr ? egresses_[port_]->tree() : nullptr;
    for (; node_ < plan->nodes.size(); ++node_, member_ = 0) {
      const PortTree::Node& node = plan->nodes[node_];
      for (; tree != nullptr && member_ < node.count; ++member_) {
        if (left-- == 0) return false;
        const auto i = static_cast<InterfaceIndex>(node.first + member_);
        if (plan->node_of[i] != node_) continue;  // a tag with a node of its own
        copy(r, *tree, node, i);
      }
      row_ += node.classes.size();
    }
  }
  return true;
}

// All members of a template make one row; members with traffic also have rows of their own.
void TreeCopy::copy(Reading& r, const QueueTree& tree, const PortTree::Node& node, InterfaceIndex i) {
  const Hierarchy& h = tree.hierarchy();
  // A reload in progress has not added the interface yet, or not its classes.
  if (!h.has(i) || h.params(i).classes().size() != node.classes.size()) return;
  QueueReading* const rows = r.interface_queues.data() + row_;
  for (std::size_t c = 0; c < node.classes.size(); ++c) {
    if (node.count == 1) {
      fill_tree_row(rows[c], h, i, c);
      continue;
    }
    rows[c].has_rio |= h.params(i).of(c).rio.has_value();
    const PooledQueue& queue = h.queue(i, c);
    const auto none = [&](Precedence p) { return queue.counters(p).arrivals == 0; };
    if (none(Precedence::in) && none(Precedence::out) && none(Precedence::red)) continue;
    const bool room = r.used_members < r.member_queues.size();
    QueueReading& member = room ? r.member_queues[r.used_members] : scratch_;
    fill_tree_row(member, h, i, c);
    add_numbers(rows[c], member);
    member.index = i;
    member.members = c;  // the class: named by name_members()
    r.used_members += room;
  }
}

}  // namespace surety
