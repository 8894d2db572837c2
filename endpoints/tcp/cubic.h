// SPDX-License-Identifier: BSD-3-Clause
// CUBIC (RFC 9438): NewReno whose window, once a loss has been met, grows by a cubic function of the time
// since then, and which keeps 0.7 of it, not half, at a loss. On short paths it grows as Reno does (4.3). The
// arithmetic, in whole segments and milliseconds, is that of gtcp_cubic.h.
//
// Slow start is NewReno's: no HyStart++ (RFC 9406). A congestion mark counts as a loss.
#pragma once

#include <algorithm>

#include "endpoints/tcp/gtcp_cubic.h"
#include "endpoints/tcp/newreno.h"

namespace surety::endpoints {

class Cubic final : public NewReno {
 public:
  using NewReno::NewReno;

 private:
  void avoid(const Outstanding& before, std::uint64_t acked) override {
    rest_ += acked;
    const auto whole = static_cast<std::uint32_t>(rest_ / smss()), window = segments(cwnd_);
    rest_ %= smss();
    const auto rtt = static_cast<std::uint32_t>(milliseconds(before.rtt));
    if (whole > 0)
      cwnd_ += std::uint64_t{gtcp_cubic_grow(&curve_, window, window, whole, clock(before), rtt)} * smss();
  }
  void on_unused(const Outstanding& before) override { gtcp_cubic_pause(&curve_, clock(before)); }
  std::uint64_t reduced(std::uint64_t flight) override {
    return std::uint64_t{gtcp_cubic_reduce(&curve_, segments(flight))} * smss();
  }

  std::uint32_t segments(std::uint64_t bytes) const {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / smss(), 1));
  }
  static std::int64_t milliseconds(Duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  }
  // From 1 on: 0 is no time.
  static std::uint64_t clock(const Outstanding& o) {
    return static_cast<std::uint64_t>(milliseconds(o.now.time_since_epoch())) + 1;
  }

  gtcp_cubic curve_{};
  std::uint64_t rest_ = 0;  // acknowledged bytes of a segment
};

}  // namespace surety::endpoints
