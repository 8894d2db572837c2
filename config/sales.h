// SPDX-License-Identifier: BSD-3-Clause
// What is sold of each port, group, interface and queue, against what it has: one model for `surety check`,
// `admission:`, `surety show sold` and the metrics.
//
// Down is what shapers let through of what lies on a port or a group. Up is what contracts commit: of the
// interfaces, groups and ports they come by, of the ports towards the core, and of the queues there that IN
// packets go to. Which port towards the core a packet takes, routes say as they come: what is sold is split
// over these by what they are shaped to, so that a sum over them is what is sold.
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
  std::size_t index = 0;  // of the port (that of a queue too), group or interface
  std::string port{}, group{}, interface {
  }, queue{};               // those that it is, or lies on
  std::size_t members = 0;  // of a template: the numbers are of each
  std::size_t sellers = 0;  // shapers or contracts that are counted
  Rate sold{};
  std::optional<Rate> capacity{};     // none: nobody has said
  std::optional<std::size_t> rule{};  // of an uplink: the one with which it is oversold
  bool oversold() const { return capacity && sold > *capacity; }
};

// What the queues of core ports that IN packets with this DSCP go to are sure of, together. None where a core
// port is not shaped.
std::optional<Rate> sure_of(const Config& c, Dscp mark);

// Those of which anything is sold, in the order of the file: ports, groups, interfaces, then queues.
std::vector<Sale> sales(const Config& c);

}  // namespace surety::config
