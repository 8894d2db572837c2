// SPDX-License-Identifier: BSD-3-Clause
// Where the ports of a configuration stand, over reloads.
//
// Flows, packets that wait, next hops and counters name a port by its number, which is its index in
// Config::ports. So a port that goes on keeps its place whatever its order in the file is, and the place of
// one that has gone stays empty for one more reload: until then something may still mean that port.
#pragma once

#include <array>
#include <optional>

#include "config/config.h"

namespace surety::config {

// Whether `b`, of the next configuration, is the port `a` that is open: its device need not be opened again.
bool goes_on(const Port& a, const Port& b);

class PortPlaces {
 public:
  // `next` with its ports at their places, and all that names them; Port::exists() is false for the others of
  // kMaxPorts. Those of the first configuration stand in its order. Throws std::runtime_error where there is
  // no room, and then changes nothing.
  Config place(Config next);

 private:
  struct Place {
    std::optional<Port> port;
    bool resting = false;  // that of the configuration before has gone
  };
  using Places = std::array<Place, kMaxPorts>;
  static std::size_t find_room(const Places& before, const Places& next, const Port& port);

  Places places_;
};

}  // namespace surety::config
