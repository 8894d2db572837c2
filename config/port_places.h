// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a configuration's ports that are stable over reloads.
//
// Flows, queued packets, next hops and counters name a port by its number, which is its index in
// Config::ports. So an unchanged port keeps its number whatever its order in the file is, and the number of a
// removed one stays free for one more reload: until then something may still refer to that port.
#pragma once

#include <array>
#include <optional>

#include "config/config.h"

namespace surety::config {

// True if `b`, of the next configuration, is the open port `a`: its device need not be opened again.
bool goes_on(const Port& a, const Port& b);

class PortPlaces {
 public:
  // Returns `next` with its ports at their numbers, and with all references to them; Port::exists() is false
  // for the others of kMaxPorts. The first configuration's ports keep its order. Throws std::runtime_error
  // where there is no room, and then changes nothing.
  Config place(Config next);

 private:
  struct Place {
    std::optional<Port> port;
    bool resting = false;  // true: its port was removed by the last reload
  };
  using Places = std::array<Place, kMaxPorts>;
  static std::size_t find_room(const Places& before, const Places& next, const Port& port);

  Places places_;
};

}  // namespace surety::config
