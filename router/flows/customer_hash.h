// SPDX-License-Identifier: BSD-3-Clause
// Whose a packet is, as far as it tells by itself.
//
// A customer is a port and the tags behind it; on an untagged link, where several may live, the source's /24
// or /56. Customers of a port are spread over kParts parts by a hash whose seed nobody knows: two that meet
// in one share it (one in 256 does), and who can speak from many sources has many parts, but of its own port
// only.
#pragma once

#include "conditioners/customer.h"
#include "router/flows/flow_hash.h"

namespace surety {

class CustomerHasher {
 public:
  explicit CustomerHasher(std::uint64_t seed) : hash_(seed) {}

  Customer operator()(const FlowKey& key, std::uint8_t port) const {
    return of(key.rest >> 32 & kTags, key.address[0], key.v6, port);
  }
  // Whether it is the tags that tell customers apart, from `rest` of a key: nobody can forge them.
  static bool tagged(std::uint64_t rest) { return (rest >> 32 & kTags) != 0; }
  // Of a frame as parse() leaves it. `l3_offset`: where its IP header is; 0: it has none, and what has no tag
  // either is the port's.
  Customer operator()(const std::uint8_t* frame, std::size_t l3_offset, std::uint8_t port) const;

 private:
  static constexpr std::uint64_t kTags = 0xffffff;
  static constexpr std::uint64_t kNet4 = 0xffffff, kNet6 = 0xff'ffff'ffff'ffff;  // of addresses as loaded
  Customer of(std::uint64_t tags, std::uint64_t source, bool v6, std::uint8_t port) const {
    const std::uint64_t who = source & (v6 ? kNet6 : kNet4);
    const std::uint64_t hash = tags != 0 ? hash_.v4(tags, 0, 0) : hash_.v4(0, who, v6);
    return static_cast<Customer>(std::uint64_t{port} << 8 | (hash & (kParts - 1)));
  }

  FlowHasher hash_;
};

}  // namespace surety
