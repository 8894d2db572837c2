// SPDX-License-Identifier: BSD-3-Clause
// Maps a flow key to its possible places in the index of the flow table.
#pragma once

#include <array>
#include <cstdint>

#include "conditioners/packet.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// 64-bit keyed hash of a flow key, in registers: multiply to 128 bits and fold, as wyhash does. Without the
// seed, colliding keys cannot be chosen.
class FlowHasher {
 public:
  explicit FlowHasher(std::uint64_t seed);

  std::uint64_t operator()(const FlowKey& key) const {
    return key.v6 ? v6(key) : v4(key.rest, key.address[0], key.dscp);
  }
  std::uint64_t v4(std::uint64_t rest, std::uint64_t address, std::uint8_t dscp) const {
    return fold(fold(rest ^ s_[0], address ^ s_[1]) ^ s_[2], spread(dscp) ^ s_[3]);
  }
  // A hash of the two ends of a connection that does not depend on which comes first.
  std::uint64_t both_ways(std::uint64_t end, std::uint64_t other, std::uint8_t protocol) const {
    return fold(fold(end ^ s_[0], other ^ s_[0]) ^ s_[2], spread(protocol) ^ s_[3]);
  }

 private:
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  // One more multiplication is too few for six bits at the bottom of an operand.
  static std::uint64_t spread(std::uint8_t dscp) { return dscp * 0x9e3779b97f4a7c15u; }
  std::uint64_t v6(const FlowKey& key) const {
    const auto& a = key.address;
    const std::uint64_t most = fold(key.rest ^ s_[0], a[0] ^ s_[1]) ^ fold(a[1] ^ s_[4], a[2] ^ s_[5]);
    return fold(fold(most ^ s_[2], a[3] ^ s_[6]), spread(key.dscp) ^ s_[3]);
  }

  std::array<std::uint64_t, 7> s_;
};

// The places of a flow in an index of `buckets` buckets: two different buckets (if there are two) and a tag.
struct FlowChoice {
  std::uint32_t first, second;
  static std::uint32_t first_of(std::uint64_t hash, std::uint32_t buckets) {
    return scale(hash >> 32, buckets);
  }
  static FlowChoice of(std::uint64_t hash, std::uint32_t buckets) {
    const std::uint32_t first = first_of(hash, buckets);
    const std::uint32_t second = first + 1 + scale(hash & 0xffffffff, buckets - 1);
    return {first, second < buckets ? second : second - buckets};
  }
  // The bits that count least for either bucket.
  static std::uint16_t tag(std::uint64_t hash) { return static_cast<std::uint16_t>(hash); }

 private:
  static std::uint32_t scale(std::uint64_t half, std::uint32_t n) {
    return static_cast<std::uint32_t>((half * n) >> 32);
  }
};

// The customer of a packet, from the packet alone: ingress port and VLAN tags, or the source network.
//
// A customer is a port and its tags; on an untagged link, which several may share, the source's /24 or /56.
// Customers of a port are spread over kParts parts by a hash with a secret seed: two customers in one part
// share it (one in 256), and a sender with many sources has many parts, but only of its own port.
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
