// SPDX-License-Identifier: BSD-3-Clause
// What rules promise in all, and the way out that it is promised on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace surety::config {

// In bit/s: to those that get no more than that, and to those that may have more.
struct Promised {
  double policed = 0, open = 0;
  double both() const { return policed + open; }
  Rate all() const;
};

// The sum of what rules promise. Interfaces of a group share one line: what is promised to them all counts as
// at most what the group is shaped to, since no more than that comes of it.
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

// How many contracts a rule sells: what it says, or what is derived (validate_sold.cc); none where it has no
// bound.
std::size_t contracts_of(const Rule& rule, const Config& c);

// Which ports have customers, or the core, behind them or behind an interface of theirs.
std::vector<bool> towards(Port::Trust trust, const Config& c);

// What leaves towards the core: ports, and interfaces of any port.
struct Uplink {
  std::string_view kind, word;  // "port" or "interface", and its name
  std::size_t port;
  std::optional<std::size_t> interface;
  const QueueSet* queues;    // null: one class
  std::optional<Rate> rate;  // at which it is served at most
  std::string name() const;
};
std::vector<Uplink> uplinks(const Config& c);

// Whether no customer's packets match the rule.
bool from_core(const Rule& rule, const Config& c);

// The rate of the way out: all core ports together; none when one of them is not shaped, or there is none. Of
// IP packets of some size it is what remains beside what the wire adds to each.
std::optional<Rate> way_out(const Config& c, std::optional<Bytes> packet = {});

}  // namespace surety::config
