// SPDX-License-Identifier: BSD-3-Clause
// The customer of a packet, from the packet alone: ingress port and VLAN tags, or the source network.
//
// A customer is a port and its tags; on an untagged link, which several may share, the source's /24 or /56.
// Customers of a port are spread over kParts parts by a hash with a secret seed: two customers in one part
// share it (one in 256), and a sender with many sources has many parts, but only of its own port.
#pragma once

#include "conditioners/customer.h"
#include "router/pipeline/flows/flow_hash.h"

namespace surety {

class CustomerHasher {
 public:
  explicit CustomerHasher(std::uint64_t seed) : hash_(seed) {}

  Customer operator()(const FlowKey& key, std::uint8_t port) const {
    return of(key.rest >> 32 & kTags, key.address[0], key.v6, port);
  }
  // True if the tags in `rest` of a key identify the customer: tags cannot be forged.
  static bool tagged(std::uint64_t rest) { return (rest >> 32 & kTags) != 0; }
  // The customer of a frame as parse() leaves it. `l3_offset`: offset of its IP header; 0: it has none, and
  // without a tag the customer is the port.
  Customer operator()(const std::uint8_t* frame, std::size_t l3_offset, std::uint8_t port) const;

 private:
  static constexpr std::uint64_t kTags = 0xffffff;
  static constexpr std::uint64_t kNet4 = 0xffffff,
                                 kNet6 = 0xff'ffff'ffff'ffff;  // masks for addresses as loaded
  Customer of(std::uint64_t tags, std::uint64_t source, bool v6, std::uint8_t port) const {
    const std::uint64_t who = source & (v6 ? kNet6 : kNet4);
    const std::uint64_t hash = tags != 0 ? hash_.v4(tags, 0, 0) : hash_.v4(0, who, v6);
    return static_cast<Customer>(std::uint64_t{port} << 8 | (hash & (kParts - 1)));
  }

  FlowHasher hash_;
};

}  // namespace surety
