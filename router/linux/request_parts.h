// SPDX-License-Identifier: BSD-3-Clause
// How often packets may make a port ask for stations it has never heard of (RFC 6583 6.2): so many a second
// for each port that they come by, and beside these a few for each of kParts groups of sources, so that who
// scans a subnet does not take away the questions of others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/wire/reply_limit.h"

namespace surety {

class RequestParts {
 public:
  static constexpr std::size_t kParts = 16;
  static constexpr std::uint32_t kShared = 1000, kOfEach = 50, kAtOnce = 50;

  bool permit(std::size_t port, const IpAddress& source, Time now) {
    return permit_to(port, part_of(source), now);
  }
  // To one of another kind of group, by its number.
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
  // Of one IPv6 subnet all.
  static std::size_t part_of(const IpAddress& source) {
    const auto network = std::span(source.data(), std::min<std::size_t>(source.size(), 8));
    return std::accumulate(network.begin(), network.end(), std::size_t{0});
  }

  std::vector<Port> ports_;
};

}  // namespace surety
