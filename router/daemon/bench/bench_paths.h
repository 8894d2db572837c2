// SPDX-License-Identifier: BSD-3-Clause
// The paths of `surety bench`, by their names: the interfaces of their packets, and the rows of bad input.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conditioners/drop_reason.h"
#include "config/config.h"

namespace surety {

struct BenchTraffic;

// The interfaces of a path: their number, and the two tags of each. Those with the same outer tag are one
// definition, a template.
struct BenchInterfaces {
  static constexpr std::uint32_t kMostPerTag = 4000, kMost = 16 * kMostPerTag, kGroups = 8;

  std::uint32_t count = 0;  // 0: none, untagged
  std::uint32_t per_tag = kMostPerTag;
  bool by_address = false;  // no tags: each is a definition, the subscriber of one of the edge's routes
  std::uint32_t outer(std::uint32_t interface) const { return 100 + interface / per_tag; }
  std::uint32_t inner(std::uint32_t interface) const { return 1 + interface % per_tag; }
  friend auto operator<=>(const BenchInterfaces&, const BenchInterfaces&) = default;
};

inline bool is_access(const std::string& path) {
  return path.starts_with("access");
}
inline bool is_below(const std::string& path) {
  return path.starts_with("below");
}
// Customers' interfaces that packets of two classes leave by, with queues of their own or without.
inline bool has_customers(const std::string& path) {
  return path.starts_with("flat") || is_below(path);
}
inline bool by_one(const std::string& path) {
  return path.ends_with("-one");
}
// One interface per flow or per two flows, up to the maximum; customers' interfaces in groups of equal size.
inline BenchInterfaces bench_interfaces(const std::string& path, std::uint32_t flows) {
  if (is_access(path)) return {std::min(flows, BenchInterfaces::kMost)};
  if (!has_customers(path)) return {};
  const std::uint32_t count = std::clamp(flows / 2, 4 * BenchInterfaces::kGroups, BenchInterfaces::kMost);
  const std::uint32_t of_group = (count + BenchInterfaces::kGroups - 1) / BenchInterfaces::kGroups;
  return {count, std::min(of_group, BenchInterfaces::kMostPerTag), path == "below-hosts"};
}

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
