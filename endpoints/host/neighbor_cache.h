// SPDX-License-Identifier: BSD-3-Clause
// MAC addresses of neighbors: the cache of ARP and neighbour discovery (RFC 826, RFC 4861 7.3 in outline).
//
// Only addresses that the host sends to are in it, so that unsolicited answers cannot fill it. An address is
// requested at most once a second; a known one is requested again, by unicast, from kRefresh on while it is
// used, and forgotten at kForget.
//
// router/pipeline/routes/neighbor_resolver.h has other needs. This cache is read on the way of packets: a
// hash table of fixed memory, whose entries are verified only while they are used, and whose host is one
// customer. A router holds packets for addresses that others name: the resolver trusts only answers to its
// requests, slows requests down, reports each change to the FIB, and divides its entries among neighbors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

class NeighborCache {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(1);
  static constexpr Duration kRefresh = std::chrono::seconds(30), kForget = std::chrono::seconds(90);
  static constexpr unsigned kTries = 5;  // requests before an unknown address is forgotten, unless it is kept

  explicit NeighborCache(std::uint32_t capacity = 4096);

  // The neighbor's MAC address; null while unknown: then a request becomes due. A full cache takes no new
  // ones.
  const MacAddress* look_up(const IpAddress& address, Time now);
  // Resolves an address, too, and never forgets it: a gateway.
  void keep(const IpAddress& address, Time now);
  // Like look_up(), but causes no request and no use.
  const MacAddress* peek(const IpAddress& address) const;

  // Takes an answer, a request or an announcement. `override_known`: even if another MAC address is known
  // (RFC 4861 7.2.5; always for ARP); `confirms`: it answers a request.
  void learn(const IpAddress& address, const MacAddress& mac, bool override_known, bool confirms, Time now);
  // Stores the address of a neighbor that resolves ours and is about to send, even if it was not requested
  // (RFC 826, RFC 4861 7.2.3), or our first answer would be lost.
  void meet(const IpAddress& address, const MacAddress& mac, Time now);

  struct Request {
    IpAddress address;
    bool known = false;  // true: unicast to `mac`
    MacAddress mac{};
  };
  // The next request that is due; false: none (any more).
  bool next_request(Time now, Request& out);
  Time next_event() const { return next_event_; }

  // Changes when look_up() may return something else, and when it must be called again so that the cache
  // notes the use: once a second. Until then its result holds.
  std::uint64_t version() const { return version_; }
  std::uint32_t size() const { return size_; }

 private:
  struct Entry {
    IpAddress address;
    MacAddress mac{};
    bool live = false, known = false, kept = false, used = false;
    std::uint8_t tries = 0;
    std::uint32_t next = kNone;  // next entry of its chain
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
