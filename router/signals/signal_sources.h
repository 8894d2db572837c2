// SPDX-License-Identifier: BSD-3-Clause
// The limit of each address that signals come from, in a table of fixed size: an address may be anything
// before the signal is authenticated.
//
// An address that finds no room shares the bucket of another one. Only a bucket that is full again makes room
// (nothing is lost by that): however many addresses a flood makes up, no bucket is refilled by it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/config.h"
#include "router/signals/signal_limit.h"

namespace surety {

class SignalSources {
 public:
  // `secret` decides which addresses may have to share: nobody else can make them collide.
  SignalSources(std::uint32_t per_second, const std::array<std::uint8_t, 16>& secret);

  // Whether one more signal of `source` is within its limit; counts it.
  bool permit(const IpAddress& source, Time now);

  static constexpr std::size_t kSets = 1024, kWays = 4;

 private:
  struct Entry {
    std::uint64_t tag = 0;  // hash of the address; 0: free
    TokenBucket bucket;
  };
  using Set = std::array<Entry, kWays>;

  SignalLimit limit_;
  std::array<std::uint8_t, 16> secret_;
  std::vector<Set> sets_;
};

}  // namespace surety
