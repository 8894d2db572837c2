// SPDX-License-Identifier: BSD-3-Clause
// Limits how often packets make a port resolve unknown neighbours (RFC 6583 6.2): kShared a second for each
// ingress port, and kOfEach for each of kParts groups of sources, so that a source that scans a subnet does
// not use up the requests of others. Sources are spread over the groups by a hash with a secret seed, so that
// a sender cannot choose its group.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "conditioners/rng.h"
#include "config/config.h"
#include "router/pipeline/wire/reply_limit.h"

namespace surety {

class RequestParts {
 public:
  static constexpr std::size_t kParts = 16;
  static constexpr std::uint32_t kShared = 1000, kOfEach = 50, kAtOnce = 50;

  explicit RequestParts(std::uint64_t seed) {
    Rng rng(seed);
    for (std::uint64_t& key : keys_) key = std::uint64_t{rng.next()} << 32 | rng.next() | 1;
  }

  bool permit(std::size_t port, const IpAddress& source, Time now) {
    return permit_to(port, part_of(source), now);
  }
  // permit() for another kind of group, by its number.
  bool permit_to(std::size_t port, std::size_t group, Time now) {
    while (ports_.size() <= port) ports_.emplace_back(now);
    return ports_[port].parts[group % kParts].permit(now) || ports_[port].shared.permit(now);
  }

 private:
  struct Port {
    explicit Port(Time now)
        : shared(kShared, kAtOnce, now), parts(kParts, ReplyLimit(kOfEach, kAtOnce, now)) {}
    ReplyLimit shared;
    std::vector<ReplyLimit> parts;
  };
  // All sources of an IPv6 /64 share one part.
  std::size_t part_of(const IpAddress& source) const {
    std::uint64_t network = 0;
    std::memcpy(&network, source.data(), std::min(source.size(), sizeof network));
    return fold(fold(network ^ keys_[0], keys_[1]) ^ keys_[2], keys_[3]);
  }

  // Folds as FlowHasher does (router/pipeline/flows/flow_hash.h).
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  std::array<std::uint64_t, 4> keys_{};
  std::vector<Port> ports_;
};

}  // namespace surety
