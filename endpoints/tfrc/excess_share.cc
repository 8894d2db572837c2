// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/excess_share.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "endpoints/tfrc/loss_intervals.h"
#include "endpoints/tfrc/tfrc.h"

namespace surety::endpoints {

void ExcessShare::on_report(double packets, Duration rtt_sample) {
  if (closed_ > 0) open_ = std::max(0.0, open_ + packets);
  const bool first = smoothed_ == Duration{};
  const Duration off = rtt_sample > smoothed_ ? rtt_sample - smoothed_ : smoothed_ - rtt_sample;
  deviation_ = first ? rtt_sample / 2 : (3 * deviation_ + off) / 4;
  smoothed_ = first ? rtt_sample : (7 * smoothed_ + rtt_sample) / 8;
}

void ExcessShare::on_loss_event(Bytes segment, Duration rtt, double rate) {
  const double least = static_cast<double>(segment.count()) / seconds(rtt);  // a packet in a round trip
  if (closed_ == 0)
    open_ = 1 / tfrc_loss_event_rate(segment, rtt, std::max(rate, least));
  else if (open_ < 0.5)
    return;  // less than a packet
  std::copy_backward(history_.begin(), history_.end() - 1, history_.end());
  history_[0] = open_;
  closed_ = static_cast<std::uint8_t>(std::min<std::size_t>(closed_ + 1u, kIntervals));
  open_ = 0;
}

double ExcessShare::loss_event_rate() const {
  static constexpr std::array<double, kIntervals> kAlike{1, 1, 1, 1, 1, 1, 1, 1};
  if (closed_ == 0) return 0;
  const std::span past = std::span(history_).first(closed_), alike = std::span(kAlike).first(closed_);
  const double discount = general_discount(open_, mean_closed_interval(past, alike));
  return 1 / std::max(1.0, average_loss_interval(open_, past, alike, discount));
}

double ExcessShare::rate(Bytes segment, Duration rtt) const {
  const Duration rto = std::max(kLeastRto, smoothed_ + 4 * deviation_);
  return tcp_packets_per_rtt(loss_event_rate(), seconds(rto) / seconds(rtt)) *
         static_cast<double>(segment.count()) / seconds(rtt);
}

double tcp_packets_per_rtt(double p, double rto) {
  const double q = std::max(1 - p, 1e-3);  // the part that arrives
  const double window = 1 + std::sqrt(8 * q / (3 * p) + 1);
  // The part of loss events without three duplicate ACKs, and the part that ends in a timeout: these, and
  // those whose retransmission is lost.
  const double hidden = std::min(
      1.0, (1 - q * q * q) * (1 + q * q * q * (1 - std::pow(q, window - 3))) / (1 - std::pow(q, window)));
  const double timeout = 1 - (1 - hidden) * q;
  const double backoff = 1 + p * (1 + p * (2 + p * (4 + p * (8 + p * (16 + p * 32)))));
  return (q / p + window + timeout / q) / (window / 2 + 1 + timeout * rto * backoff / q);
}

}  // namespace surety::endpoints
