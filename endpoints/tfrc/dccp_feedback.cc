// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_feedback.h"

#include <algorithm>
#include <cmath>

#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints::dccp {

namespace {

constexpr std::uint32_t kNoLoss = 0xffff'ffff;  // RFC 4342 8.5: p = 0
constexpr std::uint64_t kMost24 = 0xff'ffff, kMost23 = 0x7f'ffff;

std::uint32_t load24(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 16 | std::uint32_t{p[1]} << 8 | p[2];
}

void read_intervals(std::span<const std::uint8_t> data, Feedback& out) {
  out.skip = data[0];
  out.interval_count = std::min((data.size() - 1) / 9, out.intervals.size());
  for (std::size_t i = 0; i < out.interval_count; ++i) {
    const std::uint8_t* const p = data.data() + 1 + 9 * i;
    out.intervals[i] = {load24(p), load24(p + 3) & kMost23};
  }
}

void read_echo(std::span<const std::uint8_t> data, Feedback& out) {
  out.timestamp_echo = load_be32(data.data());
  if (data.size() == 6) out.elapsed = load_be16(data.data() + 4);
  if (data.size() == 8) out.elapsed = load_be32(data.data() + 4);
}

void read_elapsed(std::span<const std::uint8_t> data, Feedback& out) {
  out.elapsed = data.size() == 2 ? load_be16(data.data()) : load_be32(data.data());
}

std::uint32_t inverse(double p) {
  if (p <= 0) return kNoLoss;
  return static_cast<std::uint32_t>(std::clamp(std::ceil(1 / p), 1.0, double{kNoLoss - 1}));
}

}  // namespace

Feedback read_feedback(std::span<const std::uint8_t> options) {
  Feedback f;
  OptionReader reader(options);
  for (Option o; reader.next(o);) {
    switch (o.type) {
      case kTimestampEcho:
        read_echo(o.data, f);
        break;
      case kElapsedTime:
        read_elapsed(o.data, f);
        break;
      case kReceiveRate:
        f.receive_rate = load_be32(o.data.data());
        break;
      case kLossIntervals:
        read_intervals(o.data, f);
        break;
      case kLossEventRate: {
        const std::uint32_t n = load_be32(o.data.data());
        f.loss_event_rate = n == kNoLoss ? 0.0 : 1.0 / std::max(n, 1u);
        break;
      }
      default:
        break;
    }
  }
  return f;
}

void write_feedback(OptionWriter& to, const Feedback& f) {
  if (f.timestamp_echo)
    to.timestamp_echo(*f.timestamp_echo, f.elapsed);
  else
    to.put32(kElapsedTime, f.elapsed);
  if (f.loss_event_rate) to.put32(kLossEventRate, inverse(*f.loss_event_rate));
  if (f.receive_rate)
    to.put32(kReceiveRate, static_cast<std::uint32_t>(std::clamp(*f.receive_rate, 0.0, double{kNoLoss})));
  if (f.interval_count == 0) return;
  to.loss_intervals(f.skip);
  for (std::size_t i = 0; i < f.interval_count; ++i) {
    const auto& [lossless, loss] = f.intervals[i];
    to.interval(static_cast<std::uint32_t>(std::min(lossless, kMost24)),
                static_cast<std::uint32_t>(std::min(loss, kMost23)),
                static_cast<std::uint32_t>(std::min(lossless + loss, kMost24)));
  }
}

double loss_event_rate(const Feedback& f) {
  if (f.loss_event_rate) return *f.loss_event_rate;
  if (f.interval_count < 2) return 0;
  std::array<double, LossIntervals::kIntervals> history{}, discounts{};
  const auto length = [&](std::size_t i) {
    return static_cast<double>(f.intervals[i].lossless + f.intervals[i].loss);
  };
  const std::size_t closed = f.interval_count - 1;
  for (std::size_t i = 0; i < closed; ++i) history[i] = length(i + 1);
  discounts.fill(1);
  const std::span past = std::span(history).first(closed), factors = std::span(discounts).first(closed);
  const double general = general_discount(length(0), mean_closed_interval(past, factors));
  return 1 / std::max(average_loss_interval(length(0), past, factors, general), 1.0);
}

bool LossAccount::on_feedback(std::uint64_t ack, const Feedback& f) {
  std::uint64_t end = ack - f.skip, newest = edge_;
  bool event = false;
  for (std::size_t i = 0; i < f.interval_count; ++i) {
    const auto& [lossless, loss] = f.intervals[i];
    // The part before a saturated length has no known position, and has been reported before.
    if (lossless == kMost24 || end <= edge_) break;
    const std::uint64_t last = end - lossless, first = last - loss + 1;
    if (loss > 0 && last > edge_) {
      lost_ += last - std::max(edge_, first - 1);
      const bool begins = first > edge_;
      events_ += begins ? 1 : 0;
      event = event || begins;
      newest = std::max(newest, last);
    }
    end = first - 1;
  }
  edge_ = newest;
  return event;
}

}  // namespace surety::endpoints::dccp
