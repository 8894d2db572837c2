// SPDX-License-Identifier: BSD-3-Clause
// Committed rates: their sums with the uplinks that carry them, and each item's against its capacity.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace surety::config {

// Committed rates of each port, group, interface and queue, against their capacity: one model for `surety
// check`, `admission:`, `surety show commitments` and the metrics.
//
// Down are the shapers of what is below a port or a group. Up are the contracts' committed rates: on the
// interfaces, groups and ports they come by, on the ports towards the core, and in the queues there that IN
// packets go to. The routes decide later which port towards the core a packet takes: committed rates are
// split over these ports by their `shape`, so that the parts add up to the whole.
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

// Guaranteed rate of the uplinks' queues for IN packets with this DSCP, together. None where one of them is
// not shaped.
std::optional<Rate> sure_of(const Config& c, Dscp mark);

// Items with committed rates, in the order of the file: ports, groups, interfaces, then queues.
std::vector<Sale> sales(const Config& c);

// Sums in bit/s: rules whose excess is dropped (policed), and rules that may send more (open).
struct Promised {
  double policed = 0, open = 0;
  double both() const { return policed + open; }
  Rate all() const;
};

// The sum of the rules' committed rates. Interfaces of a group share one line: their sum counts as at most
// the group's `shape`, since no more than that comes from it.
class Promises {
 public:
  explicit Promises(const Config& c) : config_(c) {}

  void add(const Rule& rule);  // contracts_of() it
  Rate so_far() const { return Promised{.open = sum_}.all(); }
  Promised all() const;

 private:
  double at_most(std::size_t group, const Promised& of_it) const;

  const Config& config_;
  Promised others_;
  std::map<std::size_t, Promised> groups_;
  double sum_ = 0;
};

// Number of contracts of a rule: as given, or derived (validate_sold.cc); none where it has no bound.
std::size_t contracts_of(const Rule& rule, const Config& c);

// For each port: true if customers, or the core, are behind it or behind an interface of it.
std::vector<bool> towards(Port::Trust trust, const Config& c);

// A way towards the core: a port, or an interface of any port.
struct Uplink {
  std::string_view kind, word;  // "port" or "interface", and its name
  std::size_t port;
  std::optional<std::size_t> interface;
  const QueueSet* queues;    // null: one class
  std::optional<Rate> rate;  // upper bound of its rate
  std::string name() const;
};
std::vector<Uplink> uplinks(const Config& c);

// True if the rule matches no customer's packets.
bool from_core(const Rule& rule, const Config& c);

// Capacity of an uplink that is not a part of another one: a port, or an interface of a customers' port.
struct UplinkShare {
  Uplink uplink;
  // The rate of its own, its group's and its port's shapers, divided with other interfaces there, without the
  // wire's overhead; none: one of the uplinks is not shaped.
  std::optional<Rate> rate{};
  double part = 0;     // rate / way_out(); equal parts where that is not known
  double ip_part = 1;  // IP packets' part of the bytes on the wire
};
// With `packet`, for IP packets of that size; else for those as large as the MTU, of which most goes through.
std::vector<UplinkShare> uplink_shares(const Config& c, std::optional<Bytes> packet = {});

// The sum of the uplinks' rates; none when one of them is not shaped, or there is none.
std::optional<Rate> way_out(const Config& c, std::optional<Bytes> packet = {});

}  // namespace surety::config
