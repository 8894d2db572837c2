// SPDX-License-Identifier: BSD-3-Clause
// Resolves addresses on a port's link to MAC addresses, by the router itself: schedules requests and
// evaluates answers (RFC 826; RFC 4861 7.3 in outline; RFC 6583 against excessive requests).
//
// An address is known only after an answer to the router. A wanted address is requested kTries times, kRetry
// apart, then at growing intervals (up to kSlowest), and removed when it is not wanted any more. A known
// neighbour is verified by unicast after kReachable, whether packets go to it or not; after kTries requests
// without an answer it is removed. Unsolicited messages, from the neighbour or from another, change no entry:
// they only trigger a request, first to the known neighbour.
//
// Time is an argument; bounded: `capacity` addresses, `asking` of them unknown, and at most one request for
// each per kRetry. Addresses that never answered are displaced, the oldest first. A known address is
// displaced only if its MAC address has the most of all and more than its part (neighbor_addresses.h): first
// unwanted ones.
//
// endpoints/host/neighbor_cache.h, which says why, is another table for hosts.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "conditioners/units.h"
#include "config/config.h"
#include "router/pipeline/routes/neighbor_addresses.h"
#include "router/pipeline/routes/prefix_table.h"

namespace surety {

class NeighborResolver {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(1), kReachable = std::chrono::seconds(30),
                            kSlowest = std::chrono::seconds(4), kForgotten = std::chrono::milliseconds(20);
  static constexpr unsigned kTries = 3;

  explicit NeighborResolver(std::size_t capacity = 4096, std::size_t asking = 1024)
      : capacity_(capacity), most_asking_(asking) {}

  // Packets or routes need this address. False: the table is full of known neighbours, and none has more than
  // its part.
  bool want(const IpAddress& address, Time now);

  enum class Learned : std::uint8_t {
    learned,
    unasked,    // there was no request
    contested,  // another neighbour is known, and is verified first
  };
  // A message that `mac` has `address`; `answer`: it is addressed to us and answers a request.
  Learned learn(const IpAddress& address, const MacAddress& mac, bool answer, Time now);
  // A neighbour requests our address, and is about to send to us: resolved, if it is not known. False: no
  // room.
  bool meet(const IpAddress& address, const MacAddress& mac, Time now);
  // meet() for a neighbour that needs no verification, since no other can be at its place: known at once.
  bool believe(const IpAddress& address, const MacAddress& mac, Time now);
  // Verifies an entry that may be wrong.
  void doubt(const IpAddress& address, Time now);
  // Removes its entry, and resolves it again after kForgotten, so that a cleared table is empty for a moment.
  void forget(const IpAddress& address, Time now);
  // The link is up again, maybe to other neighbours: all entries become unknown, and are requested now.
  void restart(Time now);

  struct Request {
    IpAddress address;
    std::optional<MacAddress> mac;  // unicast to this MAC address
    friend bool operator==(const Request&, const Request&) = default;
  };
  // The next request to be sent now; nullopt: none.
  std::optional<Request> next_request(Time now);
  Time next_event() const { return schedule_.empty() ? kNever : schedule_.begin()->first; }

  struct Change {
    IpAddress address;
    std::optional<MacAddress> mac;  // nullopt: not known any more
    bool unreachable = false;       // requested without an answer, or displaced before a request
    friend bool operator==(const Change&, const Change&) = default;
  };
  // Changes of entries, in order; nullopt: none.
  std::optional<Change> next_change();

  // True if kTries requests had no answer, and none has come since.
  bool unreachable(const IpAddress& address) const;
  const MacAddress* find(const IpAddress& address) const;  // nullptr: not known
  template <class F>
  void for_each_known(F&& f) const {
    for (const auto& [address, e] : entries_)
      if (e.mac) f(address, *e.mac);
  }
  // Time of the last request or answer; nullopt: not wanted.
  std::optional<Time> last(const IpAddress& address) const {
    const auto at = entries_.find(address);
    return at == entries_.end() ? std::nullopt : std::optional(at->second.last);
  }
  // Calls f(address, unreachable, last) for the addresses that are being requested.
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
    Time due{}, last{};      // next request; last request, answer or removal
    std::uint64_t turn = 0;  // order among the unknown ones, or among those of its MAC address
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
  std::set<std::pair<Time, IpAddress>> schedule_;  // all entries, by `due`
  std::map<std::uint64_t, IpAddress> asking_;      // unknown ones, by `turn`
  NeighborAddresses stations_;                     // known ones
  std::uint64_t turns_ = 0;
  std::deque<Change> changes_;
};

}  // namespace surety
