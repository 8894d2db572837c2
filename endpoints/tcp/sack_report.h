// SPDX-License-Identifier: BSD-3-Clause
// The blocks that a receiver's ACK reports (RFC 2018 4, RFC 2883 4): first the duplicate data, then the block
// with the segment that causes this ACK, then those that were reported last, so that each is reported several
// times though ACKs are lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "endpoints/tcp/range_set.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class SackReport {
 public:
  // A segment that begins at `at`, beyond RCV.NXT, causes the next ACK.
  void note(std::uint32_t at) {
    std::copy_backward(recent_.begin(), recent_.end() - 1, recent_.end());
    recent_[0] = at;
    count_ = std::min<std::uint8_t>(static_cast<std::uint8_t>(count_ + 1), kRecent);
  }

  // At most `room` blocks of `arrived`; `twice` (empty: nothing) is what came again.
  tcp::Blocks blocks(const RangeSet& arrived, const tcp::Block& twice, std::size_t room) {
    tcp::Blocks out;
    if (!twice.empty()) out.add(twice);
    const std::size_t first = out.count;
    std::uint8_t kept = 0;
    for (std::uint8_t i = 0; i < count_; ++i) {
      const std::size_t n = arrived.behind(recent_[i]);
      if (n == arrived.size() || tcp::before(recent_[i], arrived[n].begin))
        continue;  // RCV.NXT has passed it
      const auto told = out.all().subspan(first);
      if (std::find(told.begin(), told.end(), arrived[n]) != told.end()) continue;  // one with a later one
      recent_[kept++] = recent_[i];
      if (out.count < room) out.add(arrived[n]);
    }
    count_ = kept;
    return out;
  }

 private:
  static constexpr std::uint8_t kRecent = 4;

  std::array<std::uint32_t, kRecent> recent_{};
  std::uint8_t count_ = 0;
};

}  // namespace surety::endpoints
