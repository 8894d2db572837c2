// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/newreno.h"

#include <algorithm>

namespace surety::endpoints {

namespace {
constexpr std::uint32_t kThreshold = 3;  // RFC 5681 3.2
}

std::uint64_t default_initial_window(std::uint32_t smss) {
  const std::uint64_t s = smss;
  return std::min(10 * s, std::max<std::uint64_t>(2 * s, 14600));
}

Answer NewReno::on_ack(const Outstanding& before, std::uint64_t ack) {
  const std::uint64_t acked = ack - before.una;
  duplicates_ = 0;
  if (!in_recovery_) {
    grow(before, acked);
    return Answer::none;
  }
  if (!partial_acks_ || ack >= recover_) {
    in_recovery_ = false;
    cwnd_ = ssthresh_ + guaranteed_;
    acked_ = 0;
    return Answer::none;
  }
  // RFC 6582 3.2 step 3, partial.
  cwnd_ -= std::min(cwnd_, acked);
  if (acked >= smss_) cwnd_ += smss_;
  cwnd_ = std::max<std::uint64_t>(cwnd_, smss_);
  return Answer::retransmit;
}

void NewReno::grow(const Outstanding& before, std::uint64_t acked) {
  if (before.echo) return;
  // Flight when the last segment left, and the growth by the ACKs since then in slow start.
  if (cwnd_ > before.most || before.flight() + 2 * before.answered + smss_ <= cwnd_) return on_unused(before);
  if (cwnd_ < ssthresh_ + guaranteed_) {
    cwnd_ += std::min<std::uint64_t>(acked, smss_);
    return;
  }
  avoid(before, acked);
}

void NewReno::avoid(const Outstanding&, std::uint64_t acked) {
  acked_ += acked;
  if (acked_ < cwnd_) return;
  acked_ = std::min(acked_ - cwnd_, cwnd_);  // one SMSS per ACK, however much it acknowledges
  cwnd_ += smss_;
}

// RFC 5681 equation 4, for the part under congestion control: for GTCP half of cwnd_BE (III.D). FlightSize
// would count all that arrived beyond a hole: while the reserved rate continues, many windows of it. ACKs
// that came together with the first sign of the loss, and before it, would have released as much.
void NewReno::set_ssthresh(const Outstanding& o) {
  const std::uint64_t full = std::min(o.flight() + o.answered, cwnd_);
  const std::uint64_t flight = guaranteed_ > 0 ? full : std::max(o.flight(), full);
  const std::uint64_t best_effort = flight > guaranteed_ ? flight - guaranteed_ : 0;
  ssthresh_ = std::max<std::uint64_t>(reduced(best_effort), 2 * std::uint64_t{smss_});
  acked_ = 0;
}

// A loss from before the reduction for a mark does not reduce ssthresh again.
void NewReno::on_loss(const Outstanding& o) {
  if (o.una >= marked_) set_ssthresh(o);
}

Answer NewReno::on_duplicate_ack(const Outstanding& now) {
  ++duplicates_;
  if (in_recovery_) {
    // An honest peer sends no more duplicates than segments are out (RFC 5681 3.2, the remark on step 4).
    if (std::uint64_t{duplicates_} * smss_ <= now.max - now.una) cwnd_ += smss_;
    return Answer::none;
  }
  if (duplicates_ != kThreshold || now.una <= recover_) return Answer::none;
  on_loss(now);
  in_recovery_ = true;
  if (partial_acks_) recover_ = now.max;
  cwnd_ = ssthresh_ + guaranteed_ + kThreshold * smss_;
  return Answer::retransmit;
}

Answer NewReno::on_told(const Outstanding& before, std::uint64_t ack, const Scoreboard::Told& told) {
  Answer answer = Answer::none;
  if (in_recovery_ && ack >= recover_) {
    in_recovery_ = false;
    cwnd_ = ssthresh_ + guaranteed_;
    acked_ = std::min(told.delivered, cwnd_);  // a round trip of a window of four is long
    return answer;
  }
  if (!in_recovery_) {
    if (ack > before.una) grow(before, ack - before.una);
    if (!told.lost || ack < recover_) return answer;
    // Flight excludes segments of limited transmit (RFC 5681 3.2, step 2).
    on_loss({.una = ack,
             .next = ack + std::min(before.max - ack, cwnd_),
             .max = before.max,
             .answered = before.answered + ack - before.una});
    in_recovery_ = true;
    recover_ = before.max;
    prr_.begin(before.max - before.una, before.answered);
    answer = Answer::retransmit;
  }
  const std::uint64_t target = ssthresh_ + guaranteed_;
  cwnd_ = told.pipe + prr_.on_ack(told.delivered, told.pipe, target, smss_);
  return answer;
}

void NewReno::on_mark(const Outstanding& before) {
  set_ssthresh(before);
  cwnd_ = std::min(cwnd_, ssthresh_ + guaranteed_);
  marked_ = before.max;
}

void NewReno::on_timeout(const Outstanding& now, bool again) {
  // In fast recovery the loss has been answered for, and FlightSize would count all that arrived since beyond
  // the holes (a hundred round trips of it, perhaps): half of that is no measure of the path.
  if (!again && !in_recovery_) on_loss({.una = now.una, .next = now.next, .max = now.max});
  duplicates_ = 0;
  in_recovery_ = false;
  acked_ = 0;
  recover_ = now.max;
  cwnd_ = smss_;
}

}  // namespace surety::endpoints
