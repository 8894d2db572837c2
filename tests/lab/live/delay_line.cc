// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/delay_line.h"

#include <algorithm>

namespace surety::lab {

namespace {

constexpr std::size_t kEthernet = 14, kIpv6 = 40;
constexpr unsigned kArp = 0x0806, kIpv6Type = 0x86dd;
constexpr std::uint8_t kIcmpv6 = 58, kRouterSolicitation = 133, kRedirect = 137;

}  // namespace

void DelayLine::offer(std::span<const std::uint8_t> frame, Time now) {
  ++counters_.received;
  if (rng_.uniform() < impairment_.loss.value()) {
    ++counters_.lost;
    return;
  }
  if (full(now)) {
    ++counters_.overflowed;
    return;
  }
  const Time starts = std::max(now, free_at_);
  free_at_ = starts;
  if (impairment_.rate)
    free_at_ += transmission_time(Bytes(frame.size() - std::min(frame.size(), kEthernet)), *impairment_.rate);
  line_.push_back({starts, free_at_ + impairment_.delay, {frame.begin(), frame.end()}});
}

// Those that wait are the last ones: what has left the queue stands before what has not.
bool DelayLine::full(Time now) const {
  if (!impairment_.queue || free_at_ <= now) return false;
  const auto first =
      std::upper_bound(line_.begin(), line_.end(), now, [](Time t, const Flight& f) { return t < f.starts; });
  return line_.end() - first >= static_cast<std::ptrdiff_t>(*impairment_.queue);
}

bool is_discovery(std::span<const std::uint8_t> frame) {
  if (frame.size() < kEthernet) return false;
  const unsigned type = static_cast<unsigned>(frame[12]) << 8 | frame[13];
  if (type != kIpv6Type) return type == kArp;
  if (frame.size() <= kEthernet + kIpv6 || frame[kEthernet + 6] != kIcmpv6) return false;
  const std::uint8_t message = frame[kEthernet + kIpv6];
  return message >= kRouterSolicitation && message <= kRedirect;
}

}  // namespace surety::lab
