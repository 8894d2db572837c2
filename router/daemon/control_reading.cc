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
  taken_.ports.clear();
  for (const ControlPort& p : control.ports()) {
    PortReading& port = taken_.ports.emplace_back();
    port.exceptions = p.counters;
    port.exceptions[static_cast<std::size_t>(ExceptionResult::forwarded)] +=
        (p.programs.guard ? p.programs.guard->refused() : 0) +
        (p.programs.divert ? p.programs.divert->refused() : 0);
    port.link_changes = p.state.changes;
    if (p.programs.steer) port.kernel = kernel_counts(*p.programs.steer);
    if (p.responder) port.responder = named(kResponderResultInfo, p.responder->results());
  }
  taken_.icmp_errors = named(kIcmpErrorResultInfo, control.icmp_errors().results());
  taken_.netlink_defects = named(kNetlinkDefectInfo, control.netlink_defects());
  const Routes& routes = control.routes();
  taken_.routes = routes.routes();
  taken_.routes_rejected = routes.rejected();
  taken_.neighbors = routes.neighbors();
}

void ControlReading::apply(Reading& reading) const {
  for (std::size_t p = 0; p < std::min(taken_.ports.size(), reading.ports.size()); ++p) {
    const PortReading& taken = taken_.ports[p];
    PortReading& port = reading.ports[p];
    port.exceptions = taken.exceptions;
    port.link_changes = taken.link_changes;
    port.responder = taken.responder;
    port.kernel = taken.kernel;
  }
  reading.icmp_errors = taken_.icmp_errors;
  reading.netlink_defects = taken_.netlink_defects;
  reading.routes = taken_.routes;
  reading.routes_rejected = taken_.routes_rejected;
  reading.neighbors = taken_.neighbors;
}

}  // namespace surety
