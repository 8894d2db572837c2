// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control_reading.h"

#include <algorithm>

#include "router/daemon/control.h"

namespace surety {
namespace {

template <class Infos, class Counts>
std::vector<NamedCount> named(const Infos& infos, const Counts& counts) {
  std::vector<NamedCount> rows;
  for (std::size_t i = 0; i < infos.size(); ++i) rows.push_back({infos[i].name, infos[i].help, counts[i]});
  return rows;
}

std::vector<KernelCount> kernel_counts(const Steer& steer) {
  std::vector<KernelCount> rows;
  const SteerStats stats = steer.stats();
  for (std::size_t i = 0; i < stats.size(); ++i) {
    const SteerDecisionInfo& info = kSteerDecisionInfo[i];
    rows.push_back({info.frame_class, info.result, info.help, stats[i]});
  }
  return rows;
}

}  // namespace

void ControlReading::take(const Control& control) {
  ports_.clear();
  for (const ControlPort& p : control.ports()) {
    Port& port = ports_.emplace_back();
    port.exceptions = p.counters;
    port.exceptions[static_cast<std::size_t>(ExceptionResult::forwarded)] +=
        (p.programs.guard ? p.programs.guard->refused() : 0) +
        (p.programs.divert ? p.programs.divert->refused() : 0);
    port.link_changes = p.state.changes;
    if (p.programs.steer) port.kernel = kernel_counts(*p.programs.steer);
    if (p.responder) port.responder = named(kResponderResultInfo, p.responder->results());
  }
  icmp_errors_ = named(kIcmpErrorResultInfo, control.icmp_errors().results());
  const Routes& routes = control.routes();
  routes_ = routes.routes();
  routes_rejected_ = routes.rejected();
  neighbors_ = routes.neighbors();
}

void ControlReading::apply(Reading& reading) const {
  for (std::size_t p = 0; p < std::min(ports_.size(), reading.ports.size()); ++p) {
    reading.ports[p].exceptions = ports_[p].exceptions;
    reading.ports[p].link_changes = ports_[p].link_changes;
    reading.ports[p].responder = ports_[p].responder;
    reading.ports[p].kernel = ports_[p].kernel;
  }
  reading.icmp_errors = icmp_errors_;
  reading.routes = routes_;
  reading.routes_rejected = routes_rejected_;
  reading.neighbors = neighbors_;
}

}  // namespace surety
