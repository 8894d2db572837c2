// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_sender.h"

#include <algorithm>

#include "conditioners/rng.h"

namespace surety::endpoints {

using tcp::Segment;

namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint32_t kHeader = 20, kTimestampsOption = 12;
constexpr std::uint64_t kFarAway = std::uint64_t{1} << 62;

std::uint16_t mss_of(const TcpParams& p, std::size_t ip_header) {
  const std::uint64_t packet = std::min<std::uint64_t>(p.common.packet.count(), kMaxPacket);
  const std::uint64_t headers = ip_header + kHeader;
  return static_cast<std::uint16_t>(std::max<std::uint64_t>(packet, headers + TcpPeer::kLeastMss) - headers);
}

}  // namespace

TcpSender::TcpSender(const TcpParams& params, const Tuple& tuple, const Schedule& schedule,
                     std::uint64_t seed)
    : data_end_(params.common.total_payload == 0 ? kFarAway : 1 + params.common.total_payload),
      initial_(Rng(seed).next()),
      closing_(params.common.total_payload != 0),
      window_(std::in_place_type<NewReno>, WindowParams{}),
      params_(&params),
      rto_params_{params.min_rto, params.max_rto, params.timer_granularity},
      marker_(params.common, schedule.start),
      ip_(tuple, kTcp),
      local_port_(tuple.local_port),
      remote_port_(tuple.remote_port),
      mss_(mss_of(params, ip_.header_length())),
      default_mss_(tuple.local.is_v6() ? 1220 : 536),  // RFC 9293 3.7.1
      clock_(Rng(~seed).next()),
      start_(schedule.start),
      stop_(schedule.stop) {}

FlowState TcpSender::state() const {
  switch (state_) {
    case State::idle:
      return FlowState::idle;
    case State::syn_sent:
    case State::syn_received:
      return FlowState::connecting;
    case State::established:
    case State::close_wait:
      return FlowState::open;
    case State::time_wait:  // both directions are over; it only answers a peer that repeats its FIN
    case State::closed:
      return FlowState::closed;
    default:
      return FlowState::closing;
  }
}

void TcpSender::read(FlowReading& out) const {
  out.sent_packets = sent_packets_;
  out.sent_bytes = sent_bytes_;
  out.sent_in_packets = sent_in_packets_;
  out.retransmitted_packets = out.lost_packets = retransmitted_;
  out.payload_bytes = una_ == 0 ? 0 : std::min(una_, data_end_) - 1;
  out.timeouts = timeouts_;
  out.loss_events = loss_events_;
  out.rtt = rtt_.smoothed();
  out.min_rtt = rtt_.least();
  out.in_flight = max_ - una_;
  if (smss_ == 0) return;
  out.cwnd = control_->cwnd();
  out.ssthresh = control_->ssthresh();
  out.cwnd_guaranteed = control_->cwnd_g();
  out.peer_window = peer_.right_edge() > una_ ? peer_.right_edge() - una_ : 0;
}

Refusal TcpSender::receive(const IpPacket& packet, Time now) {
  if (state_ == State::closed) return Refusal::closed;
  if (state_ == State::idle) return Refusal::state;
  Segment s;
  if (const Refusal r = tcp::read(packet, s); r != Refusal::none) return r;
  if (state_ == State::syn_sent) return on_syn_sent(s, now);

  Refusal refusal = Refusal::none;
  switch (peer_.admit(s, refusal)) {
    case TcpPeer::Verdict::accept:
      break;
    case TcpPeer::Verdict::drop:
      return refusal;
    case TcpPeer::Verdict::answer:
      if (state_ == State::time_wait && s.has(tcp::kFin)) wait(State::time_wait, kTimeWait, now);
      challenge(now);
      return refusal;
    case TcpPeer::Verdict::reset:
      on_reset();
      return Refusal::none;
  }
  std::int64_t ahead = static_cast<std::int32_t>(s.ack - wire(una_));
  if (refusal = check_ack(s, ahead, now); refusal != Refusal::none) return refusal;
  if (state_ == State::syn_received) {  // what it acknowledges is the SYN, which establish() counts
    establish(s, now);
    ahead = 0;
  }
  if (ahead >= 0) on_ack(s, una_ + static_cast<std::uint64_t>(ahead), now);
  if (s.length() != 0) on_text(s, now);
  settle(now);
  return Refusal::none;
}

// RFC 5961 5.2.
Refusal TcpSender::check_ack(const Segment& s, std::int64_t ahead, Time now) {
  if (state_ == State::syn_received && ahead != 1) {  // RFC 9293 3.10.7.4
    reset(s.ack, now);
    return Refusal::tcp_ack;
  }
  const bool unsent = ahead > static_cast<std::int64_t>(max_ - una_);
  if (!unsent && -ahead <= static_cast<std::int64_t>(peer_.largest_window())) return Refusal::none;
  challenge(now);
  return unsent ? Refusal::tcp_ack : Refusal::tcp_old_ack;
}

void TcpSender::challenge(Time now) {
  if (challenges_.permit(now)) reply_ = Reply::ack;
}

void TcpSender::reset(std::uint32_t sequence, Time now) {
  if (!challenges_.permit(now)) return;
  reply_ = Reply::reset;
  reset_ = sequence;
}

void TcpSender::on_reset() {
  const bool delivered = closing_ && una_ >= data_end_;
  end(state_ == State::syn_received ? Failure::refused : delivered ? Failure::none : Failure::reset);
}

// RFC 9293 3.10.7.3.
Refusal TcpSender::on_syn_sent(const Segment& s, Time now) {
  if (s.has(tcp::kAck) && (s.ack != wire(1) || max_ == 0)) {
    if (s.has(tcp::kRst)) return Refusal::tcp_reset;
    reset(s.ack, now);
    return Refusal::tcp_ack;
  }
  if (s.has(tcp::kRst)) {
    if (!s.has(tcp::kAck)) return Refusal::tcp_reset;
    end(Failure::refused);
    return Refusal::none;
  }
  if (!s.has(tcp::kSyn)) return Refusal::state;
  peer_.open(s, params_->timestamps, params_->window_scale, default_mss_);
  if (s.has(tcp::kAck)) {
    establish(s, now);
    settle(now);
    return Refusal::none;
  }
  state_ = State::syn_received;  // both opened at once
  next_ = 0;
  return Refusal::none;
}

void TcpSender::establish(const Segment& s, Time now) {
  const bool gtcp = params_->flavour == TcpFlavour::gtcp;
  const std::uint32_t options = peer_.timestamps() ? kTimestampsOption : 0;
  smss_ = std::min(mss_, peer_.mss()) - options;
  limit_ = std::max<std::uint64_t>(params_->window.count(), smss_);
  if (params_->window_packets != 0) limit_ = std::uint64_t{params_->window_packets} * smss_;

  WindowParams w{.smss = smss_, .partial_acks = params_->flavour != TcpFlavour::reno};
  w.initial = gtcp ? 2 * std::uint64_t{smss_} : default_initial_window(smss_);
  if (params_->initial_window != 0) w.initial = std::uint64_t{params_->initial_window} * smss_;
  if (timeouts_in_row_ > 1) w.initial = smss_;  // RFC 6928 2: the SYN was lost more than once
  if (params_->initial_ssthresh != 0) w.ssthresh = params_->initial_ssthresh;
  if (gtcp) {
    const auto headers = static_cast<std::uint32_t>(ip_.header_length()) + kHeader + options;
    control_ = &window_.emplace<Gtcp>(GtcpParams{w, params_->reserved, smss_ + headers});
  } else {
    control_ = &window_.emplace<NewReno>(w);
  }

  if (timeouts_in_row_ > 0) rto_.on_syn_lost();
  rto_.reset();
  timeouts_in_row_ = 0;
  sample(s, 1, now);
  state_ = State::established;
  una_ = next_ = max_ = 1;
  stop_timer();
  reply_ = Reply::ack;
}

void TcpSender::on_ack(const Segment& s, std::uint64_t ack, Time now) {
  const bool other_window = peer_.take_window(s, ack);
  if (timer_ == Timer::persist) timeouts_in_row_ = 0;
  if (ack != una_)
    on_new_ack(s, ack, now);
  else if (s.length() == 0 && !other_window && next_ != una_)  // RFC 5681 2: a duplicate
    on_duplicate_ack();
}

void TcpSender::on_new_ack(const Segment& s, std::uint64_t ack, Time now) {
  sample(s, ack, now);
  const Answer answer = control_->on_ack(outstanding(), ack);
  una_ = ack;
  advance(ack);
  timeouts_in_row_ = 0;
  lost_due_ = answer == Answer::retransmit;
  // RFC 6298 5.3; in fast recovery only the first partial ACK does it (RFC 6582 3.2 step 3), so that many
  // losses end in a slow start and not in a round trip for each.
  if (timer_ == Timer::retransmit && !(lost_due_ && partial_seen_)) start(Timer::retransmit, now);
  partial_seen_ = lost_due_;
  if (una_ > data_end_) on_fin_acknowledged(now);
}

void TcpSender::on_duplicate_ack() {
  switch (control_->on_duplicate_ack(outstanding())) {
    case Answer::retransmit:
      lost_due_ = true;
      partial_seen_ = false;
      ++loss_events_;
      break;
    case Answer::send_new:
      ++forced_due_;
      break;
    case Answer::none:
      break;
  }
}

// By the peer's echo of our timestamp (RFC 7323 4), else by one timed segment at a time that was sent once
// (RFC 6298 3). An echo from before a timeout is Karn's case too: if the segment arrived and its ACK was
// lost, it measures our timeout, and would make the next one longer.
void TcpSender::sample(const Segment& s, std::uint64_t ack, Time now) {
  const bool timed = timed_end_ != 0 && ack >= timed_end_;
  const Duration before = rtt_.least();
  Duration r;
  if (peer_.timestamps()) {
    const auto passed = static_cast<std::int32_t>(ticks(now) - s.timestamps->echo);
    r = Duration(std::int64_t{passed} * kTick.count());
    if (passed < 0 || r > now - std::max(start_, timed_out_at_) + kTick) return;  // or what we never said
  } else {
    if (!timed) return;
    r = now - timed_at_;
  }
  if (timed || timed_end_ == 0) {
    rtt_.on_sample(r);
    rto_.reset();
    timed_end_ = 0;
  } else {
    rtt_.on_further_sample(r);
  }
  if (rtt_.least() != before) control_->on_least_rtt(rtt_.least());
}

void TcpSender::on_fin_acknowledged(Time now) {
  switch (state_) {
    case State::fin_wait_1:
      return wait(State::fin_wait_2, kFinWait2, now);
    case State::closing:
      return wait(State::time_wait, kTimeWait, now);
    case State::last_ack:
      return end(Failure::none);
    default:
      return;
  }
}

void TcpSender::on_text(const Segment& s, Time now) {
  if (state_ == State::closed || peer_closed_) return;
  reply_ = Reply::ack;
  if (!peer_.take_text(s)) return;
  peer_closed_ = true;
  if (state_ == State::established)
    state_ = State::close_wait;
  else if (state_ == State::fin_wait_1)
    state_ = State::closing;
  else if (state_ == State::fin_wait_2)
    wait(State::time_wait, kTimeWait, now);
}

void TcpSender::close(Time now) {
  switch (state_) {
    case State::closed:
      return;
    case State::idle:
      return end(Failure::none);
    case State::syn_sent:
    case State::syn_received:
      return end(timeouts_in_row_ > 0 ? Failure::no_answer : Failure::none);
    default:
      closing_ = true;
      data_end_ = std::min(data_end_, max_);
      settle(now);
  }
}

void TcpSender::end(Failure failure) {
  state_ = State::closed;
  failure_ = failure;
  reply_ = Reply::none;
  stop_timer();
}

}  // namespace surety::endpoints
