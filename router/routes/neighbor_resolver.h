// SPDX-License-Identifier: BSD-3-Clause
// Which station has which address on a port's link, kept by the router itself where no kernel does: who is to
// be asked and when, and what follows of the answers (RFC 826; RFC 4861 7.3 in outline).
//
// Somebody wants an address: it is asked for kTries times, kRetry apart, then ever more seldom (up to
// kSlowest), and forgotten when nobody wants it any more. What answered is asked again, that station alone,
// after kReachable; when it is silent kTries times, it is dead. Stations that ask for us are remembered too,
// as far as there is room: in a full table they give way to addresses that are wanted.
//
// Time is an argument; bounded: `capacity` addresses, and at most one request for each of them per kRetry.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "conditioners/units.h"
#include "config/config.h"
#include "router/routes/prefixes.h"

namespace surety {

class NeighborResolver {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(1), kReachable = std::chrono::seconds(30),
                            kSlowest = std::chrono::seconds(32);
  static constexpr unsigned kTries = 3;

  explicit NeighborResolver(std::size_t capacity = 4096) : capacity_(capacity) {}

  // Its packets wait, or routes lead by it. False: the table is full of others that are wanted.
  bool want(const IpAddress& address, Time now);
  // An answer, an announcement or a request says who has `address`; ignored unless it is in the table.
  // `override_known`: even if another station is known (RFC 4861 7.2.5; always with ARP); `confirms`: it
  // answers us. False: ignored.
  bool learn(const IpAddress& address, const MacAddress& mac, bool override_known, bool confirms, Time now);
  // A station that asks for us, and so is about to send to us: enters its address where it is not in the
  // table, then learns it. False: no room.
  bool meet(const IpAddress& address, const MacAddress& mac, Time now);
  // The link is up again, maybe to others than before: nothing is known any more,
  // everything is asked for now.
  void restart(Time now);

  struct Request {
    IpAddress address;
    std::optional<MacAddress> mac;  // ask this station alone
    friend bool operator==(const Request&, const Request&) = default;
  };
  // What is to be asked now; none: nothing (more).
  std::optional<Request> next_request(Time now);
  Time next_event() const { return schedule_.empty() ? kNever : schedule_.begin()->first; }

  struct Change {
    IpAddress address;
    std::optional<MacAddress> mac;  // none: not known any more
    bool unreachable = false;       // asked for in vain, or never asked for: it had to make room
    friend bool operator==(const Change&, const Change&) = default;
  };
  // What has become known, in order; none: nothing (more).
  std::optional<Change> next_change();

  // Asked for kTries times in vain, and not answered since.
  bool unreachable(const IpAddress& address) const;
  const MacAddress* find(const IpAddress& address) const;  // null: not known
  template <class F>
  void for_each_known(F&& f) const {
    for (const auto& [address, e] : entries_)
      if (e.mac) f(address, *e.mac);
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::optional<MacAddress> mac;
    bool wanted = false;
    unsigned tries = 0;
    Time due{};
  };
  using Entries = std::map<IpAddress, Entry>;

  Entry* add(const IpAddress& address, bool wanted, Time now);
  bool make_room();
  void set_due(const IpAddress& address, Entry& e, Time due);
  void forget(Entries::iterator it);
  bool give_up(Entries::iterator it);

  std::size_t capacity_;
  Entries entries_;
  std::set<std::pair<Time, IpAddress>> schedule_;  // every entry, by `due`
  std::deque<Change> changes_;
};

}  // namespace surety
