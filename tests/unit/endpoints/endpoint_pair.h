// SPDX-License-Identifier: BSD-3-Clause
// Two ports of one configuration on a cable, in virtual time: what Traffic plans really runs.
#pragma once

#include <gtest/gtest.h>

#include "endpoints/config/endpoints.h"
#include "endpoints/dpdk/traffic.h"

namespace surety::endpoints::test {

inline constexpr std::array<MacAddress, 2> kMacs{{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}};

inline config::Endpoints parsed(const std::string& rest) {
  const auto result = config::parse_endpoints(
      "version: 1\n"
      "ports:\n"
      "  p0: {device: \"null\", addresses: [10.0.0.1/24]}\n"
      "  p1: {device: \"null\", addresses: [10.0.0.2/24]}\n" +
          rest,
      "test.yaml");
  for (const auto& d : result.diagnostics)
    if (d.severity == config::Diagnostic::Severity::error) ADD_FAILURE() << d.format();
  return result.config.value_or(config::Endpoints{});
}

// Moves frames both ways, some rounds at most: without delay a TCP sender would never come to
// an end. Returns how many.
inline std::size_t exchange(const Traffic& t, Time now) {
  std::vector<std::uint8_t> bytes(64 * 2048);
  std::array<FrameSlot, 64> room;
  std::size_t total = 0;
  bool any = true;
  for (int rounds = 0; any && rounds < 8; ++rounds) {
    any = false;
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t i = 0; i < 64; ++i) room[i] = {bytes.data() + i * 2048, 2048, 0};
      const std::size_t n = t.station(p).poll(room, now);
      for (std::size_t i = 0; i < n; ++i) {
        const std::array<std::span<const std::uint8_t>, 1> frame{{{room[i].data, room[i].length}}};
        t.station(1 - p).receive(frame, now);
      }
      any |= n > 0;
      total += n;
    }
  }
  return total;
}

// In steps of `step`, from `from` until `to`; calls each(now) after each.
template <class Each>
void run(const Traffic& t, Time from, Time to, Duration step, Each&& each) {
  for (Time now = from; now <= to; now += step) {
    exchange(t, now);
    each(now);
  }
}

// Both stations know each other.
inline void introduce(const Traffic& t, Time now) {
  t.station(0).resolve(IpAddress::v4(10, 0, 0, 2), now);
  t.station(1).resolve(IpAddress::v4(10, 0, 0, 1), now);
  exchange(t, now);
}

}  // namespace surety::endpoints::test
