// SPDX-License-Identifier: BSD-3-Clause
// Limit of a DCCP connection's answers: at most eight of each kind in any second that begins with one (RFC
// 4340 7.5.4).
//
// Syncs and late Resets answer invalid packets, SyncAcks answer valid Syncs: two kinds, or an attacker that
// makes us send the former could stop the latter. Eight and not one per 125 ms: detecting a peer's restart
// takes two Syncs within a round trip. 8 bytes.
#pragma once

#include <array>
#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

class SyncLimit {
 public:
  static constexpr std::uint8_t kPerSecond = 8;
  enum class Kind : std::uint8_t { invalid, sync };

  bool permit(Kind kind, Time now) {
    const auto ms = static_cast<std::uint32_t>(now.time_since_epoch().count() / 1'000'000);
    if (!begun_ || ms - since_ >= 1000) {
      begun_ = true;
      since_ = ms;
      used_ = {};
    }
    std::uint8_t& used = used_[static_cast<std::size_t>(kind)];
    if (used == kPerSecond) return false;
    ++used;
    return true;
  }

 private:
  std::uint32_t since_ = 0;  // ms, modulo 2^32
  std::array<std::uint8_t, 2> used_{};
  bool begun_ = false;
};
static_assert(sizeof(SyncLimit) == 8);

}  // namespace surety::endpoints
