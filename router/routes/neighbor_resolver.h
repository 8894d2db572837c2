// SPDX-License-Identifier: BSD-3-Clause
// Which station has which address on a port's link, kept by the router itself: who is to be asked and when,
// and what follows of the answers (RFC 826; RFC 4861 7.3 in outline; RFC 6583 for who asks for too much).
//
// Known is only what has answered us. Somebody wants an address: it is asked for kTries times, kRetry apart,
// then ever more seldom (up to kSlowest), and forgotten when nobody wants it any more. What answered is asked
// again, that station alone, after kReachable, whether packets go to it or not; when it is silent kTries
// times, it is dead. What a station says of itself unasked, or another says of its address, moves nothing: it
// is a reason to ask now, the known station first.
//
// Time is an argument; bounded: `capacity` addresses, `asking` of them not known, and at most one request for
// each per kRetry. An address that never answered gives way to the next, the oldest first. One that is known
// gives way only where its station has most of all and more than its part (station_addresses.h): first those
// that nobody wants.
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
#include "router/routes/station_addresses.h"

namespace surety {

class NeighborResolver {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(1), kReachable = std::chrono::seconds(30),
                            kSlowest = std::chrono::seconds(4), kForgotten = std::chrono::milliseconds(20);
  static constexpr unsigned kTries = 3;

  explicit NeighborResolver(std::size_t capacity = 4096, std::size_t asking = 1024)
      : capacity_(capacity), most_asking_(asking) {}

  // Its packets wait, or routes lead by it. False: the table is full of stations that are known, and none has
  // more than its part.
  bool want(const IpAddress& address, Time now);

  enum class Learned : std::uint8_t {
    learned,
    unasked,    // nobody here has asked
    contested,  // another station is known, and asked first
  };
  // A message says that `mac` has `address`; `answer`: it is to us, and in answer to a question.
  Learned learn(const IpAddress& address, const MacAddress& mac, bool answer, Time now);
  // A station that asks for us, and so is about to send to us: asked for, if it is not known. False: no room.
  bool meet(const IpAddress& address, const MacAddress& mac, Time now);
  // meet(), of a station whose word is enough: nobody else can be where it is. It is known at once.
  bool believe(const IpAddress& address, const MacAddress& mac, Time now);
  // Somebody has reason to think that what is known of it is wrong: it is asked.
  void doubt(const IpAddress& address, Time now);
  // Somebody says that what is known of it is to be forgotten: everybody is asked, after kForgotten, in which
  // who empties a table sees that it is empty.
  void forget(const IpAddress& address, Time now);
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
  // When it was asked or heard of for the last time; none: nobody has wanted it.
  std::optional<Time> last(const IpAddress& address) const {
    const auto at = entries_.find(address);
    return at == entries_.end() ? std::nullopt : std::optional(at->second.last);
  }
  // Calls f(address, unreachable, last) for those that are asked for.
  template <class F>
  void for_each_unknown(F&& f) const {
    for (const auto& [turn, address] : asking_) f(address, unreachable(address), entries_.at(address).last);
  }
  bool contains(const IpAddress& address) const { return entries_.contains(address); }
  std::size_t size() const { return entries_.size(); }
  std::size_t asking() const { return asking_.size(); }
  std::size_t capacity() const { return capacity_; }

 private:
  struct Entry {
    std::optional<MacAddress> mac;
    bool wanted = false;
    unsigned tries = 0;
    Time due{}, last{};      // to be asked; asked, heard of or forgotten
    std::uint64_t turn = 0;  // among those not known, or those of its station
  };
  using Entries = std::map<IpAddress, Entry>;

  Entry* add(const IpAddress& address, Time now);
  bool make_room();
  void known(const IpAddress& address, Entry& e, const MacAddress& mac, Time now);
  void set_due(const IpAddress& address, Entry& e, Time due);
  void hasten(const IpAddress& address, Entry& e, Time now);
  void begin_asking(const IpAddress& address, Entry& e);
  void restart(const IpAddress& address, Entry& e, Time due);
  void remove(Entries::iterator it);
  bool give_up(Entries::iterator it);

  std::size_t capacity_, most_asking_;
  Entries entries_;
  std::set<std::pair<Time, IpAddress>> schedule_;  // every entry, by `due`
  std::map<std::uint64_t, IpAddress> asking_;      // those not known, by `turn`
  StationAddresses stations_;                      // those known
  std::uint64_t turns_ = 0;
  std::deque<Change> changes_;
};

}  // namespace surety
