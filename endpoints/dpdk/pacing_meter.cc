// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/pacing_meter.h"

#include <algorithm>
#include <cmath>

#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints {

PacingMeter::PacingMeter(std::uint16_t frame, Duration due, Time from)
    : frame_(frame), due_(due), from_(from), last_(65536, kNever), counts_(kSteps) {}

void PacingMeter::on_departure(std::span<const std::uint8_t> frame, Time now) {
  constexpr std::size_t kSourcePort = 14 + 20;
  if (frame.size() != frame_ || now < from_) return;
  Time& last = last_[load_be16(frame.data() + kSourcePort)];
  if (last != kNever) {
    const Duration error = std::chrono::abs(now - last - due_);
    largest_ = std::max(largest_, error);
    ++counts_[std::min<std::size_t>(static_cast<std::size_t>(error / kStep), kSteps - 1)];
    ++packets_;
  }
  last = now;
}

Duration PacingMeter::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(packets_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kSteps; ++i)
    if ((seen += counts_[i]) >= wanted && seen > 0) return static_cast<std::int64_t>(i + 1) * kStep;
  return {};
}

}  // namespace surety::endpoints
