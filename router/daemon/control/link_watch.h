// SPDX-License-Identifier: BSD-3-Clause
// The state of the links: read from the devices, or reported by the kernel for its own ones. A change goes to
// the routes, the TAP mirror and the responder, and of a port to the event log: of a port that flaps
// kEventsAtOnce changes, then one in kEventEvery, and its last state in any case, so that the events of other
// ports have room in the log.
#pragma once

#include <cstddef>
#include <functional>

#include "conditioners/units.h"
#include "router/daemon/control/control_links.h"
#include "router/operate/observe/events.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class KernelEntries;
class Routes;

class LinkWatch {
 public:
  static constexpr Duration kEvery = std::chrono::milliseconds(20);
  static constexpr Duration kEventEvery = std::chrono::seconds(1);
  static constexpr int kEventsAtOnce = 8;

  // True if the device of a port is open and its link is up.
  using LinkUp = std::function<bool(std::size_t port)>;
  LinkWatch(ControlLinks& links, Routes& routes, KernelEntries& kernel, EventLog& events, LinkUp link_up)
      : links_(links), routes_(routes), kernel_(kernel), events_(events), link_up_(std::move(link_up)) {}

  // Reads the links that the kernel does not report, if kEvery has passed. True: it has read them.
  bool look(Time now);
  // Reads them at once.
  void read(Time now);
  // Reads the link of an interface that has been opened.
  void read(ControlPort& c, Time now) { follow(c, link_up_(links_.port_of(c)), now); }
  // Handles an event of the kernel.
  void on(const LinkEvent& event, Time now);

 private:
  bool is_port(const ControlPort& c) const { return c.index < links_.ports().size(); }
  void follow(ControlPort& c, bool up, Time now);
  void tell(ControlPort& c, bool up, Time now);

  ControlLinks& links_;
  Routes& routes_;
  KernelEntries& kernel_;
  EventLog& events_;
  LinkUp link_up_;
  Time next_look_{};
};

}  // namespace surety
