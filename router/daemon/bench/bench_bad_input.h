// SPDX-License-Identifier: BSD-3-Clause
// Rows of `surety bench --worst`: `everything`, but with the most expensive input for one stage or another.
//
//   new       each packet of a new flow; beyond the creation rate (default: a quarter of the table a second)
//             they are forwarded as best effort
//   new-made  new, without a creation rate: each packet makes a flow, and displaces an old one
//   one-flow  all packets of one flow
//   classes   a class for each DSCP, packets of all 64 at random; all are of one class in `everything`
//   1500      packets of 1500 bytes
//   imix      of 64, 576 and 1500 bytes, 7:4:1
//   options   a Router Alert in each IPv4 header
//   families  IPv4 and IPv6 in turn
//   ports     as many ports as there can be; packets leave by all of them at random
//   dropping  half of the packets OUT, a quarter more than the port takes: RIO drops half of those
//   held      half of the flows send four packets in a row where their contract lets two go
//
// Contracts, shapers and ageing behave the same on every machine: packets drive the clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "router/daemon/bench/bench_traffic.h"
#include "router/pipeline/counters.h"

namespace surety {

struct BadInput {
  std::string_view path;
  Duration per_packet = std::chrono::nanoseconds(40);  // advance of the clock
  bool of_ipv6 = true;                                 // the row exists for IPv6, too
};

std::span<const BadInput> bad_inputs();
const BadInput* bad_input(const std::string& path);  // null: an ordinary path
// Ports of a path's router: one that receives and one or more that transmit.
std::size_t ports_of(const std::string& path);
// Changes the configuration or the traffic of `everything` into the row's.
void spoil(config::Config& config, const BadInput& bad);
void spoil(BenchTraffic& traffic, const BadInput& bad, std::span<const Prefix> other_family);
// True if the row may drop packets for this reason.
bool may_drop(const BadInput* bad, DropReason reason);

}  // namespace surety
