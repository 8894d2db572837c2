// SPDX-License-Identifier: BSD-3-Clause
// The counters of a worker by port, service and interface. No count is lost by a reload: services keep theirs
// in larger memory, and those of a removed port, whose place another gets, stay in the sum of gone ports.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "router/operate/observe/reading.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/interfaces/interface_counters.h"

namespace surety {

class KeptCounters {
 public:
  KeptCounters(std::size_t ports, std::size_t services) : ports_(ports), services_(services) {}

  // Stays at its place.
  std::span<PortCounters> ports() { return ports_; }
  std::span<const PortCounters> ports() const { return ports_; }
  // Valid until adopt().
  std::span<ServiceCounters> services() { return services_; }
  std::span<const ServiceCounters> services() const { return services_; }
  InterfaceCounters& interfaces() { return interfaces_; }
  const InterfaceCounters& interfaces() const { return interfaces_; }

  // Starts the counters of a port that gets the place of a removed one.
  void begin_port(std::size_t place) { start_anew(ports_[place], gone_); }
  // Continues the services' counters in `larger`, with zeros for new services, and exchanges it for the
  // previous memory.
  void adopt(std::vector<ServiceCounters>& larger) {
    std::copy(services_.begin(), services_.end(), larger.begin());
    services_.swap(larger);
  }
  // Writes the ports' numbers.
  void fill(Reading& r) const {
    for (std::size_t p = 0; p < ports_.size(); ++p) r.ports[p].counters = ports_[p];
    r.gone = gone_;
  }

 private:
  std::vector<PortCounters> ports_;
  PortCounters gone_;  // counts of removed ports whose places are in use again
  std::vector<ServiceCounters> services_;
  InterfaceCounters interfaces_;
};

}  // namespace surety
