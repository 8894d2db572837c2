// SPDX-License-Identifier: BSD-3-Clause
// The options that the SYNs of a sink's connection settle: segment sizes and windows (RFC 9293 3.7.1, RFC
// 7323 2), and the timestamps (RFC 7323 3 to 5).
#pragma once

#include <algorithm>
#include <cstdint>

#include "endpoints/engine/sink_params.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

// Sizes that hold for the whole connection. The window that the sink advertises is exactly its RCV.WND.
class SinkOptions {
 public:
  SinkOptions(const SinkParams& params, bool v6, const tcp::Segment& syn)
      : mss_(static_cast<std::uint16_t>(params.mtu - (v6 ? 60 : 40))),
        scaled_(syn.window_scale.has_value()),
        sack_(syn.sack_permitted),
        peer_scale_(syn.window_scale.value_or(0)) {
    const std::uint64_t window = params.window.count();
    while (scaled_ && scale_ < kLargestScale && window >> scale_ > kLargestUnscaled) ++scale_;
    field_ = static_cast<std::uint16_t>(std::min<std::uint64_t>(window >> scale_, kLargestUnscaled));
    const std::uint16_t asked = syn.mss.value_or(v6 ? 1220 : 536);
    segment_ = static_cast<std::uint16_t>(std::min(std::max(asked, kLeastMss), mss_) -
                                          (syn.timestamps.has_value() ? 12 : 0));
  }

  bool sack() const { return sack_; }
  std::uint32_t window() const { return std::uint32_t{field_} << scale_; }  // RCV.WND, bytes
  std::uint16_t window_field() const { return field_; }
  std::uint16_t segment() const { return segment_; }  // most bytes that we send in one
  std::uint32_t peer_window(const tcp::Segment& s) const { return std::uint32_t{s.window} << peer_scale_; }
  // Our own SYN, whose window is never scaled (RFC 7323 2.2).
  void put(tcp::Segment& syn) const {
    syn.window = static_cast<std::uint16_t>(std::min<std::uint32_t>(window(), kLargestUnscaled));
    syn.mss = mss_;
    if (scaled_) syn.window_scale = scale_;
    syn.sack_permitted = sack_;
  }

 private:
  static constexpr std::uint8_t kLargestScale = 14;
  static constexpr std::uint16_t kLargestUnscaled = 65535;
  static constexpr std::uint16_t kLeastMss = 64;  // lower bound of a peer's MSS

  std::uint16_t mss_;  // the MSS that we offer
  std::uint16_t field_ = 0, segment_ = 0;
  bool scaled_, sack_;
  std::uint8_t scale_ = 0, peer_scale_;
};

// The timestamps of a receiver: echoes those of its peer, and refuses older ones.
class TimestampEcho {
 public:
  // `clock`: offset of our timestamps to milliseconds.
  TimestampEcho(const tcp::Segment& syn, std::uint32_t clock)
      : on_(syn.timestamps.has_value()), recent_(on_ ? syn.timestamps->value : 0), clock_(clock) {}

  bool on() const { return on_; }
  bool missing(const tcp::Segment& s) const { return on_ && !s.timestamps; }  // 3.2
  // 5.3 R1; not missing().
  bool outdated(const tcp::Segment& s) const { return on_ && tcp::before(s.timestamps->value, recent_); }
  // 4.3 (2): an acceptable segment that is neither of them, when `last_ack` was the last ACK sent.
  void note(const tcp::Segment& s, std::uint32_t last_ack) {
    if (on_ && !tcp::before(last_ack, s.sequence)) recent_ = s.timestamps->value;
  }
  void put(tcp::Segment& s, Time now) const {
    if (!on_) return;
    const auto ms = static_cast<std::uint32_t>(now.time_since_epoch().count() / 1'000'000);
    s.timestamps = tcp::Timestamps{clock_ + ms, recent_};
  }

 private:
  bool on_;
  std::uint32_t recent_;  // TS.Recent
  std::uint32_t clock_;
};

}  // namespace surety::endpoints
