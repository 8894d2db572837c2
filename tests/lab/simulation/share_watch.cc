// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/share_watch.h"

#include "tests/lab/results/statistics.h"

namespace surety::lab {

namespace {

double per_second(std::uint64_t bytes, double seconds) {
  return 8 * static_cast<double>(bytes) / seconds;
}

double rate_of(const PortShaperParams& shaper) {
  return shaper.rate ? static_cast<double>(shaper.rate->bits_per_second()) : 0;
}

}  // namespace

PrecedenceResult difference(const QueueCounters& end, const QueueCounters& begin) {
  return {end.arrivals - begin.arrivals, end.early_drops - begin.early_drops,
          end.forced_drops - begin.forced_drops, end.overflow_drops - begin.overflow_drops,
          end.ecn_marks - begin.ecn_marks};
}

std::uint64_t ShareWatch::Queue::bytes() const {
  std::uint64_t n = 0;
  for (std::size_t p = 0; p < kDropPrecedences; ++p)
    n += at_end[p].departed_bytes - at_begin[p].departed_bytes;
  return n;
}

ShareWatch::ShareWatch(Network& network) : network_(network) {
  for (std::size_t r = 0; r < network.routers(); ++r)
    for (std::size_t p = 0; p < network.router(r).ports(); ++p) {
      const QueueTree* tree = network.router(r).egress(p).tree();
      if (tree == nullptr) continue;
      std::size_t queues = 0;
      for (const PortTree::Node& node : tree->plan().nodes) queues += node.count * node.classes.size();
      ports_.push_back({r, p, std::vector<Queue>(queues)});
    }
}

const QueueTree& ShareWatch::tree(const Port& port) {
  return *network_.router(port.router).egress(port.port).tree();
}

// False: a tag of the template has a node of its own.
bool ShareWatch::is_of(const PortTree::Node& node, std::uint32_t member, const Port& port) {
  const Interfaces& interfaces = *network_.router(port.router).snapshot().interfaces;
  return node.count == 1 ||
         interfaces[static_cast<InterfaceIndex>(node.first + member)].definition == node.definition;
}

template <class F>
void ShareWatch::for_each(Port& port, F f) {
  std::size_t queue = 0;
  for (const PortTree::Node& node : tree(port).plan().nodes)
    for (std::size_t c = 0; c < node.classes.size(); ++c)
      for (std::uint32_t member = 0; member < node.count; ++member, ++queue)
        if (is_of(node, member, port)) f(port.queues[queue], node, member, c);
}

void ShareWatch::mark(bool end) {
  for (Port& port : ports_) {
    const Hierarchy& hierarchy = tree(port).hierarchy();
    for_each(port, [&](Queue& q, const PortTree::Node& node, std::uint32_t member, std::size_t c) {
      for (const Precedence p : {Precedence::in, Precedence::out, Precedence::red})
        (end ? q.at_end : q.at_begin)[index(p)] = hierarchy.queue(node.first + member, c).counters(p);
    });
  }
}

void ShareWatch::tick() {
  ++ticks_;
  for (Port& port : ports_) {
    const Hierarchy& hierarchy = tree(port).hierarchy();
    for_each(port, [&](Queue& q, const PortTree::Node& node, std::uint32_t member, std::size_t c) {
      q.depths += hierarchy.queue(node.first + member, c).depth();
    });
  }
}

void ShareWatch::results(RunResult& result, double measured_s) {
  for (Port& port : ports_) {
    queue_results(port, result, measured_s);
    group_results(port, result, measured_s);
  }
}

void ShareWatch::queue_results(Port& port, RunResult& result, double measured_s) {
  for_each(port, [&](const Queue& q, const PortTree::Node& node, std::uint32_t member, std::size_t c) {
    QueueResult r = result_of(port, node, member, c, q, measured_s);
    std::uint64_t arrivals = 0;
    for (const PrecedenceResult& p : r.by_precedence) arrivals += p.arrivals;
    if (node.count == 1 || arrivals > 0) result.queues.push_back(std::move(r));
  });
}

QueueResult ShareWatch::result_of(const Port& port, const PortTree::Node& node, std::uint32_t member,
                                  std::size_t class_index, const Queue& q, double measured_s) {
  const Snapshot& snapshot = network_.router(port.router).snapshot();
  QueueResult r;
  r.router = network_.plan().scenario().routers[port.router].name;
  r.port = snapshot.config.ports[port.port].name;
  if (node.definition != kNoInterface) {
    r.interface = snapshot.interfaces->name(static_cast<InterfaceIndex>(node.first + member));
    r.definition = snapshot.config.interfaces[node.definition].name;
  }
  r.queue = node.classes[class_index].name;
  for (std::size_t p = 0; p < kDropPrecedences; ++p)
    r.by_precedence[p] = difference(q.at_end[p], q.at_begin[p]);
  if (ticks_ > 0) r.average_total_mean = q.depths / static_cast<double>(ticks_);
  r.rate_bps =
      rate_of(node.definition == kNoInterface ? snapshot.config.ports[port.port].shaper : node.shaper);
  r.departed_bps = per_second(q.bytes(), measured_s);
  if (r.rate_bps > 0) r.utilisation = r.departed_bps / r.rate_bps;
  return r;
}

void ShareWatch::group_results(Port& port, RunResult& result, double measured_s) {
  const PortTree& plan = tree(port).plan();
  struct Sum {
    std::uint64_t interfaces = 0, bytes = 0;
    std::vector<double> by_weight;  // of those that sent
  };
  std::vector<Sum> sums(plan.groups.size() + 1);  // the last one: beside the groups
  const auto group_of = [&](const PortTree::Node& node) {
    std::size_t g = 0;
    while (g < plan.groups.size() && plan.groups[g].number != node.parent) ++g;
    return g;
  };
  std::size_t first = 0;
  for (const PortTree::Node& node : plan.nodes) {
    Sum& sum = sums[group_of(node)];
    for (std::uint32_t member = 0; member < node.count; ++member) {
      if (!is_of(node, member, port)) continue;
      std::uint64_t bytes = 0;
      for (std::size_t c = 0; c < node.classes.size(); ++c)
        bytes += port.queues[first + c * node.count + member].bytes();
      sum.bytes += bytes;
      if (bytes > 0) sum.by_weight.push_back(static_cast<double>(bytes) / node.weight);
      ++sum.interfaces;
    }
    first += node.count * node.classes.size();
  }
  const Snapshot& snapshot = network_.router(port.router).snapshot();
  for (std::size_t g = 0; g < sums.size(); ++g) {
    GroupResult& r = result.groups.emplace_back();
    r.router = network_.plan().scenario().routers[port.router].name;
    r.port = snapshot.config.ports[port.port].name;
    if (g < plan.groups.size()) {
      r.group = plan.groups[g].name;
      r.limit_bps = rate_of(plan.groups[g].shaper);
    }
    r.interfaces = sums[g].interfaces;
    r.sending = sums[g].by_weight.size();
    r.departed_bps = per_second(sums[g].bytes, measured_s);
    if (r.sending > 0) r.jain = jain_index(sums[g].by_weight);
  }
}

}  // namespace surety::lab
