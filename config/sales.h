// SPDX-License-Identifier: BSD-3-Clause
// Committed rates of each port, group, interface and queue, against their capacity: one model for `surety
// check`, `admission:`, `surety show commitments` and the metrics.
//
// Down are the shapers of what is below a port or a group. Up are the contracts' committed rates: on the
// interfaces, groups and ports they come by, on the ports towards the core, and in the queues there that IN
// packets go to. The routes decide later which port towards the core a packet takes: committed rates are
// split over these ports by their `shape`, so that the parts add up to the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace surety::config {

struct Sale {
  enum class Of : std::uint8_t { port, group, interface, queue };
  enum class Way : std::uint8_t { up, down };
  Of of = Of::port;
  Way way = Way::up;
  std::size_t index = 0;  // port (a queue's, too), group or interface
  std::string port{}, group{}, interface {
  }, queue{};               // names of the item and of those it is below
  std::size_t members = 0;  // members of a template, each with these numbers; else 0
  std::size_t sellers = 0;  // shapers or contracts that are counted
  Rate sold{};
  std::optional<Rate> capacity{};     // none: not configured
  std::optional<std::size_t> rule{};  // on an uplink: the rule that oversubscribes it
  bool oversold() const { return capacity && sold > *capacity; }
};

// Guaranteed rate of the core ports' queues for IN packets with this DSCP, together. None where a core port
// is not shaped.
std::optional<Rate> sure_of(const Config& c, Dscp mark);

// Items with committed rates, in the order of the file: ports, groups, interfaces, then queues.
std::vector<Sale> sales(const Config& c);

}  // namespace surety::config
