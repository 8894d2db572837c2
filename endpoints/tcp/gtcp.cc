// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/gtcp.h"

#include <algorithm>

namespace surety::endpoints {

Gtcp::Gtcp(const GtcpParams& params)
    : NewReno(params.window), rate_(params.reserved.bits_per_second()), packet_(params.packet) {}

void Gtcp::on_least_rtt(Duration rtt_base) {
  constexpr std::uint64_t kBitNanoseconds = 8'000'000'000;  // in a byte second
  const auto payload = static_cast<unsigned __int128>(rate_) * static_cast<std::uint64_t>(rtt_base.count()) *
                       smss() / (kBitNanoseconds * packet_);
  cwnd_g_ = static_cast<std::uint64_t>(payload);
  if (!in_timeout_recovery_) guaranteed_ = cwnd_g_;
}

// At least so many: rounded up, or the reserved rate would not be reached.
std::uint32_t Gtcp::segments(std::uint64_t bytes) const {
  return static_cast<std::uint32_t>((bytes + smss() - 1) / smss());
}

Answer Gtcp::on_ack(const Outstanding& before, std::uint64_t ack) {
  const Answer answer = NewReno::on_ack(before, ack);
  if (in_fast_recovery()) {
    forced_left_ = segments(cwnd_g_);
    if (cwnd_g_ > 0 && ack - before.una >= smss()) cwnd_ -= smss();
    // The reserved part may be in flight, though duplicate ACKs were lost.
    cwnd_ = std::max({cwnd_, cwnd_g_, std::uint64_t{smss()}});
  } else {
    recover_from_timeout(before, ack);
  }
  forget_arrived(before, ack);
  return answer;
}

void Gtcp::recover_from_timeout(const Outstanding& before, std::uint64_t ack) {
  if (!in_timeout_recovery_) return;
  if (counted_ && old_duplicates_ > 0) --old_duplicates_;  // the ACK has filled a hole
  counted_ = ack < before.next;
  if (ack < ss_exit_) return;
  in_timeout_recovery_ = false;
  guaranteed_ = cwnd_g_;
  cwnd_ += cwnd_g_;
}

Answer Gtcp::on_told(const Outstanding& before, std::uint64_t ack, const Scoreboard::Told& told) {
  arrived_ = told.sacked;
  if (in_timeout_recovery_ && ack == before.una) return on_duplicate_after_timeout();
  const Answer answer = NewReno::on_told(before, ack, told);
  if (in_fast_recovery())
    cwnd_ = std::max(cwnd_, cwnd_g_);
  else
    recover_from_timeout(before, ack);
  return answer;
}

// Duplicate ACKs had counted the bytes that a hole's ACK covers, except the hole; without holes none were.
void Gtcp::forget_arrived(const Outstanding& before, std::uint64_t ack) {
  const std::uint64_t told = std::max<std::uint64_t>(ack - before.una, smss()) - smss();
  const bool holes = in_fast_recovery() || in_timeout_recovery_;
  arrived_ = holes ? std::min(arrived_ - std::min(arrived_, told), before.max - ack) : 0;
}

Answer Gtcp::on_duplicate_ack(const Outstanding& now) {
  arrived_ = std::min(arrived_ + smss(), now.max - now.una);
  if (in_timeout_recovery_) return on_duplicate_after_timeout();
  const bool detected = in_fast_recovery();
  const std::uint64_t cwnd = cwnd_;
  const Answer answer = NewReno::on_duplicate_ack(now);
  if (!detected) {
    forced_left_ = segments(cwnd_g_);
    return answer;
  }
  if (forced_left_ == 0 || cwnd_ == cwnd) return answer;
  --forced_left_;
  return permits_new(now) ? answer : Answer::send_new;
}

void Gtcp::on_timeout(const Outstanding& now, bool again) {
  NewReno::on_timeout(now, again);
  if (cwnd_g_ == 0) return;
  in_timeout_recovery_ = true;
  guaranteed_ = 0;
  ss_exit_ = now.max;
  forced_left_ = segments(cwnd_g_);
  old_duplicates_ = segments(now.max - now.una - arrived_);
  counted_ = false;
}

void Gtcp::on_sent_beyond_hole() {
  if (in_timeout_recovery_) ++old_duplicates_;
}

Answer Gtcp::on_duplicate_after_timeout() {
  if (old_duplicates_ > 0)
    --old_duplicates_;
  else
    return Answer::send_new;
  if (forced_left_ == 0) return Answer::none;
  --forced_left_;
  return Answer::send_new;
}

}  // namespace surety::endpoints
