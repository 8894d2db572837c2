// SPDX-License-Identifier: BSD-3-Clause
// Which station has which address: ARP's and neighbour discovery's memory (RFC 826, RFC 4861 7.3 in outline).
//
// Only addresses that we ourselves want to reach are in it, so nobody can fill it with answers that were not
// asked for. An address is asked for at most once a second; what is known is asked for again, of its own
// station, from kRefresh on while it is used, and forgotten at kForget.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/wire/ethernet.h"
#include "router/wire/ip.h"

namespace surety::endpoints {

class NeighborCache {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(1);
  static constexpr Duration kRefresh = std::chrono::seconds(30), kForget = std::chrono::seconds(90);
  static constexpr unsigned kTries = 5;  // then it is forgotten that it was wanted, unless it is kept

  explicit NeighborCache(std::uint32_t capacity = 4096);

  // The MAC address of its station; null while unknown: then it will be asked for.
  // A full cache takes no new ones.
  const MacAddress* look_up(const IpAddress& address, Time now);
  // Asks for it, too, and never forgets it: a gateway.
  void keep(const IpAddress& address, Time now);
  // As look_up(), but asks for nothing and notes no use.
  const MacAddress* peek(const IpAddress& address) const;

  // What an answer, a request or an announcement says. `override_known`: even if another station is known
  // (RFC 4861 7.2.5; always for ARP); `confirms`: it answers us.
  void learn(const IpAddress& address, const MacAddress& mac, bool override_known, bool confirms, Time now);
  // A station that asks for us is about to send to us: its address is remembered even if nobody asked for it
  // (RFC 826, RFC 4861 7.2.3), or our first answer would be lost.
  void meet(const IpAddress& address, const MacAddress& mac, Time now);

  struct Request {
    IpAddress address;
    bool known = false;  // ask `mac` alone
    MacAddress mac{};
  };
  // What is to be asked now; false: nothing (more).
  bool next_request(Time now, Request& out);
  Time next_event() const { return next_event_; }

  // Changes when an answer of look_up() may be another, and when it must be called again so that the cache
  // knows what is used: once a second. Until then the answer holds.
  std::uint64_t version() const { return version_; }
  std::uint32_t size() const { return size_; }

 private:
  struct Entry {
    IpAddress address;
    MacAddress mac{};
    bool live = false, known = false, kept = false, used = false;
    std::uint8_t tries = 0;
    std::uint32_t next = kNone;  // of its chain
    Time confirmed{};
    Time check = kNever;
  };
  static constexpr std::uint32_t kNone = ~0u;

  std::uint32_t& head(const IpAddress& a) {
    const std::uint64_t h = (a.high ^ a.low * 0x9e37'79b9'7f4a'7c15) * 0xbf58'476d'1ce4'e5b9;
    return heads_[h >> 32 & (heads_.size() - 1)];
  }
  std::uint32_t find(const IpAddress& a) const;
  Entry* find_or_add(const IpAddress& a, Time now);
  void check_at(Entry& e, Time when);
  bool reclaim();
  void forget(std::uint32_t i);
  bool examine(std::uint32_t i, Time now, Request& out);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> heads_, free_;
  std::uint32_t size_ = 0, cursor_ = 0, hand_ = 0;  // hand_: of reclaim()
  std::uint64_t version_ = 1;
  Time next_event_ = kNever;
};

}  // namespace surety::endpoints
