// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_links.h"

#include <future>

#include "tests/lab/live/live_spaces.h"

namespace surety::lab {

Impairment impairment_of(const LinkDirection& d) {
  return {d.delay, d.loss, d.rate, d.queue};
}

void lay(Wire& wire, const Plan& plan, const LiveLayout& layout, std::uint64_t seed) {
  for (const auto& i : layout.interfaces) wire.add(i.wire);
  for (LineNumber n = 0; n < plan.lines().size(); ++n) {
    const PlannedLine& l = plan.lines()[n];
    // Behind a router's port there may be several hosts.
    const auto only_to = l.to.router ? std::optional<MacAddress>() : plan.hosts()[l.to.node].mac;
    wire.connect(layout.interface_of(l.from), layout.interface_of(l.to), impairment_of(*l.parameters),
                 seed + n, only_to);
  }
}

LiveLinks::LiveLinks(const Plan& plan, const LiveLayout& layout, std::uint64_t seed) {
  std::promise<void> laid;
  thread_ = std::thread([&, this] {
    try {
      enter_space(layout.wire_space);
      lay(wire_, plan, layout, seed);
      laid.set_value();
    } catch (...) {
      laid.set_exception(std::current_exception());
      return;
    }
    wire_.run(stop_);
  });
  try {
    laid.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

LiveLinks::~LiveLinks() {
  end();
}

Wire::Counters LiveLinks::end() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return wire_.counters();
}

}  // namespace surety::lab
