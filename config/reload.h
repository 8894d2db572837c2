// SPDX-License-Identifier: BSD-3-Clause
// Another configuration for a router that runs.
//
// Taken over while it runs: routes, neighbours, services, classification, aggregates, interfaces, groups,
// filters, `pcp`, how many top flows and contracts are shown, ports (another device parameter makes another
// port: PortPlaces), the parameters of queues and classes, the creation rate of flows, the signalling's
// `key_file` and whether it observes or acts, the metrics' `tls` and `password_file`. Changes of the memory
// and threads made at start are refused, each at its place in the file: they take a restart. The same holds
// for the first rules that match `dscp`; for devices of kinds that need privileges which have been dropped;
// and with `router: {new_ports: off}` for all devices that would have to be opened.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/parse.h"

namespace surety::config {

// A difference from `running` that needs a restart.
struct Fixed {
  std::vector<std::string> path;  // keys of the file, and places in its lists, from 0: {"metrics", "listen"}
  std::string message;
};
std::vector<Fixed> fixed(const Config& running, const Config& next);

// Errors of a port's device, at the port's mark in the parsed tree.
std::vector<Diagnostic> port_error(const Tree& tree, std::string_view port, std::string_view message);

// Numbers of a configuration's ports that are stable over reloads.
//
// Flows, queued packets, next hops and counters name a port by its number, which is its index in
// Config::ports. So an unchanged port keeps its number whatever its order in the file is, and the number of a
// removed one stays free for one more reload: until then something may still refer to that port.

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
