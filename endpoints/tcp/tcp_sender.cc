// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_sender.h"

#include <algorithm>

#include "conditioners/rng.h"

namespace surety::endpoints {

using tcp::Segment;
using Piece = SendSequence::Piece;
using Timer = TcpTimer::Kind;

namespace {
constexpr std::uint32_t kTimestampsOption = 12;
}

TcpSender::TcpSender(const TcpParams& params, const Tuple& tuple, const Schedule& schedule,
                     std::uint64_t seed)
    : sequence_(params.common.total_payload),
      timer_({params.min_rto, params.max_rto, params.timer_granularity}, schedule.start),
      rtt_(Rng(~seed).next(), schedule.start),
      window_(std::in_place_type<NewReno>, WindowParams{}),
      control_(&std::get<NewReno>(window_)),
      writer_(params.common, tuple, Rng(seed).next(), schedule.start),
      params_(&params),
      start_(schedule.start),
      stop_(schedule.stop) {}

void TcpSender::read(FlowReading& out) const {
  writer_.read(out);
  out.retransmitted_packets = sequence_.retransmitted();
  out.duplicate_packets = sequence_.board().duplicates();
  out.lost_packets = out.retransmitted_packets - std::min(out.retransmitted_packets, out.duplicate_packets);
  out.marks = marks_;
  out.payload_bytes = sequence_.payload_acknowledged();
  out.timeouts = timeouts_;
  out.loss_events = loss_events_;
  out.rtt = rtt_.estimate().smoothed();
  out.min_rtt = rtt_.estimate().least();
  out.in_flight = sequence_.max() - sequence_.una();
  if (sequence_.smss() == 0) return;
  out.cwnd = control_->cwnd();
  out.ssthresh = control_->ssthresh();
  out.cwnd_guaranteed = control_->cwnd_g();
  out.peer_window = peer_.right_edge() > sequence_.una() ? peer_.right_edge() - sequence_.una() : 0;
}

// --- reception

Refusal TcpSender::receive(const IpPacket& packet, Time now) {
  if (state_ == TcpState::closed) return Refusal::closed;
  if (state_ == TcpState::idle) return Refusal::state;
  all_sent_ = false;
  Segment s;
  if (const Refusal r = tcp::read(packet, s); r != Refusal::none) return r;
  if (state_ == TcpState::syn_sent) return on_syn_sent(s, now);

  Refusal refusal = Refusal::none;
  switch (peer_.admit(s, refusal)) {
    case TcpPeer::Verdict::accept:
      break;
    case TcpPeer::Verdict::drop:
      return refusal;
    case TcpPeer::Verdict::answer:
      if (state_ == TcpState::time_wait && s.has(tcp::kFin)) timer_.wait(now + kTimeWait);
      challenge(now);
      return refusal;
    case TcpPeer::Verdict::reset:
      on_reset();
      return Refusal::none;
  }
  std::int64_t ahead = static_cast<std::int32_t>(s.ack - writer_.sequence(sequence_.una()));
  if (refusal = check_ack(s, ahead, now); refusal != Refusal::none) return refusal;
  if (state_ == TcpState::syn_received) {  // the acknowledged byte is the SYN, which establish() counts
    establish(s, now);
    ahead = 0;
  }
  if (ahead >= 0) on_ack(s, sequence_.una() + static_cast<std::uint64_t>(ahead), now);
  if (s.length() != 0) on_text(s, now);
  settle(now);
  return Refusal::none;
}

// RFC 5961 5.2.
Refusal TcpSender::check_ack(const Segment& s, std::int64_t ahead, Time now) {
  if (state_ == TcpState::syn_received && ahead != 1) {  // RFC 9293 3.10.7.4
    reset(s.ack, now);
    return Refusal::tcp_ack;
  }
  const bool unsent = ahead > static_cast<std::int64_t>(sequence_.max() - sequence_.una());
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
  const Failure failure = sequence_.delivered() ? Failure::none : Failure::reset;
  end(state_ == TcpState::syn_received ? Failure::refused : failure);
}

// RFC 9293 3.10.7.3.
Refusal TcpSender::on_syn_sent(const Segment& s, Time now) {
  if (s.has(tcp::kAck) && (s.ack != writer_.sequence(1) || sequence_.max() == 0)) {
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
  peer_.open(s, params_->timestamps, params_->window_scale, params_->sack, writer_.default_mss());
  if (s.has(tcp::kAck)) {
    establish(s, now);
    settle(now);
    return Refusal::none;
  }
  state_.on_syn_received();
  sequence_.repeat_syn();
  return Refusal::none;
}

void TcpSender::establish(const Segment& s, Time now) {
  const CongestionControl& control = congestion_control(params_->flavour);
  const std::uint32_t options = peer_.timestamps() ? kTimestampsOption : 0;
  const std::uint32_t smss = std::min(writer_.mss(), peer_.mss()) - options;
  std::uint64_t limit = std::max<std::uint64_t>(params_->window.count(), smss);
  if (params_->window_packets != 0) limit = std::uint64_t{params_->window_packets} * smss;

  WindowParams w{.smss = smss, .initial = default_initial_window(smss)};
  const std::uint32_t initial =
      params_->initial_window != 0 ? params_->initial_window : control.initial_window;
  if (initial != 0) w.initial = std::uint64_t{initial} * smss;
  if (timer_.timeouts() > 1) w.initial = smss;  // RFC 6928 2: the SYN was lost more than once
  if (params_->initial_ssthresh != 0) w.ssthresh = params_->initial_ssthresh;
  control_ = control.begin(window_, {w, params_->reserved, writer_.packet_length(segment_at(1, now), smss)});

  timer_.on_syn_acknowledged();
  sample(s, 1, now);
  state_.on_syn_acknowledged();
  sequence_.on_syn_acknowledged(smss, limit);
  if (peer_.sacks()) sequence_.use_sack();
  if (s.has(tcp::kSyn)) ecn_.on_answer(s.flags);
  reply_ = Reply::ack;
}

void TcpSender::on_ack(const Segment& s, std::uint64_t ack, Time now) {
  Outstanding before = sequence_.outstanding(peer_);
  before.echo = ecn_.echoes(s.flags);
  before.now = now;
  before.rtt = rtt_.estimate().smoothed();
  const bool other_window = peer_.take_window(s, ack);
  timer_.on_ack();
  if (sequence_.selective())
    on_told(s, before, ack, now);
  else if (ack != before.una)
    on_new_ack(s, before, ack, now);
  else if (s.length() == 0 && !other_window && sequence_.in_flight())  // RFC 5681 2: a duplicate
    act(control_->on_duplicate_ack(before));
  if (!ecn_.on_ack(s.flags, ack)) return;
  control_->on_mark(before);
  ecn_.on_reduction(sequence_.max());
  ++marks_;
}

void TcpSender::on_new_ack(const Segment& s, const Outstanding& before, std::uint64_t ack, Time now) {
  sample(s, ack, now);
  const bool hole = control_->on_ack(before, ack) == Answer::retransmit;
  sequence_.on_ack(ack, hole);
  acknowledged(hole && !control_->patient(), now);
}

// With SACK a duplicate is an ACK with blocks beyond it, whatever else it carries (RFC 6675 2).
void TcpSender::on_told(const Segment& s, const Outstanding& before, std::uint64_t ack, Time now) {
  const bool fresh = ack != before.una;
  if (fresh) sample(s, ack, now);
  tcp::Blocks blocks;
  for (const tcp::Block& b : s.sack.all())
    blocks.add({b.begin - writer_.sequence(0), b.end - writer_.sequence(0)});
  const Scoreboard::Told told = sequence_.on_blocks(ack, blocks.all());
  if (fresh) sequence_.on_ack(ack, false);
  if (fresh || told.delivered != 0) act(control_->on_told(before, ack, told));
  if (fresh) acknowledged(false, now);
}

void TcpSender::acknowledged(bool partial, Time now) {
  timer_.on_new_ack(partial, rtt_.estimate(), now);
  if (sequence_.fin_acknowledged() && state_.on_fin_acknowledged()) wait_for_end(now);
}

void TcpSender::act(Answer answer) {
  if (answer == Answer::send_new) sequence_.force();
  if (answer != Answer::retransmit) return;
  sequence_.retransmit();
  on_loss();
}

void TcpSender::on_loss() {
  ++loss_events_;
  ecn_.on_reduction(sequence_.max());
}

void TcpSender::sample(const Segment& s, std::uint64_t ack, Time now) {
  std::optional<std::uint32_t> echo;
  if (peer_.timestamps()) echo = s.timestamps->echo;
  const Duration before = rtt_.estimate().least();
  const bool once = rtt_.sent_once(ack);
  if (rtt_.on_ack(ack, echo, now) || once) timer_.end_backoff();
  if (rtt_.estimate().least() != before) control_->on_least_rtt(rtt_.estimate().least());
}

void TcpSender::on_text(const Segment& s, Time now) {
  if (!state_.peer_sends()) return;
  reply_ = Reply::ack;
  if (peer_.take_text(s) && state_.on_fin_received()) wait_for_end(now);
}

// Starts the timer of a state that only time ends, or ends the connection.
void TcpSender::wait_for_end(Time now) {
  if (state_ == TcpState::fin_wait_2) timer_.wait(now + kFinWait2);
  if (state_ == TcpState::time_wait) timer_.wait(now + kTimeWait);
  if (state_ == TcpState::closed) end(Failure::none);
}

void TcpSender::close(Time now) {
  all_sent_ = false;
  switch (state_) {
    case TcpState::closed:
      return;
    case TcpState::idle:
      return end(Failure::none);
    case TcpState::syn_sent:
    case TcpState::syn_received:
      return end(timer_.timeouts() > 0 ? Failure::no_answer : Failure::none);
    default:
      sequence_.finish();
      settle(now);
  }
}

void TcpSender::end(Failure failure) {
  state_.end(failure);
  reply_ = Reply::none;
  timer_.stop();
}

// --- time

Time TcpSender::next_wakeup() const {
  if (state_ == TcpState::idle) return std::min(start_, stop_);
  if (state_ == TcpState::closed) return kNever;
  if (!all_sent_ && next_send() == kNow) return kNow;
  return std::min(timer_.at(), stop_);
}

// After every event: the retransmission timer runs while something is in flight, the persist timer while
// something is left that the peer's window does not let out.
void TcpSender::settle(Time now) {
  if (state_ < TcpState::established || state_ >= TcpState::fin_wait_2) return;
  if (sequence_.in_flight()) {
    if (timer_.kind() != Timer::retransmit) timer_.start(Timer::retransmit, rtt_.estimate(), now);
    return;
  }
  if (timer_.kind() == Timer::retransmit) timer_.stop();
  if (sequence_.probe_due()) return;
  const bool probing = timer_.kind() == Timer::persist;
  if (sequence_.blocked(control_->cwnd(), peer_)) {
    if (!probing) timer_.start(Timer::persist, rtt_.estimate(), now);
  } else if (probing) {
    timer_.stop();
    timer_.end_backoff();
  }
}

void TcpSender::on_timer(Time now) {
  const Timer timer = timer_.expire();
  if (timer == Timer::wait) return end(Failure::none);
  const bool opening = state_ < TcpState::established;
  if (timer_.timeouts() > (opening ? kSynRetries : params_->retries))
    return end(opening ? Failure::no_answer : Failure::timeout);
  if (opening) return sequence_.repeat_syn();
  if (timer == Timer::retransmit && peer_.right_edge() > sequence_.una()) {
    const bool again = timer_.timeouts() > 1;
    ++timeouts_;
    rtt_.on_timeout(now);
    control_->on_timeout(sequence_.outstanding(peer_), again);
    sequence_.go_back(again);
    on_loss();
  } else {  // closed, or closed over what was in flight: that says nothing about congestion
    sequence_.probe();
    timer_.start(Timer::persist, rtt_.estimate(), now);
  }
}

// --- transmission

std::size_t TcpSender::poll(Room room, Time now) {
  if (state_ == TcpState::closed) return 0;
  if (stop_ <= now) {
    stop_ = kNever;
    close(now);
  }
  if (state_ == TcpState::idle && start_ <= now) state_.on_syn_sent();
  if (timer_.at() <= now) on_timer(now);
  std::size_t n = 0;
  while (n < room.size() && build(room[n], now)) ++n;
  all_sent_ = n < room.size();
  if (n < room.size()) sequence_.forget_forced();  // not made up for: the peer's window forbids them
  settle(now);
  return n;
}

Piece TcpSender::due() const {
  if (state_ == TcpState::idle || state_ == TcpState::closed) return {};
  return sequence_.due(control_->cwnd(), peer_);
}

bool TcpSender::build(Slot& slot, Time now) {
  if (reply_ != Reply::none) {
    build_reply(slot, now);
    return true;
  }
  const Piece p = due();
  if (p.empty()) return false;
  const bool opens = p.kind == SendSequence::Kind::syn;
  Segment s = opens ? syn(now) : segment_at(p.from, now);
  if (p.fin) {
    s.flags |= tcp::kFin;
    state_.on_fin_sent();
  }
  if (p.length != 0 && p.from + p.length == sequence_.data_end()) s.flags |= tcp::kPsh;
  const bool again = p.from < sequence_.max();
  // RFC 3168 6.1.4 to 6.1.6: no control segments, retransmissions or probes.
  const bool ect = ecn_.capable() && !again && p.length != 0 && p.kind != SendSequence::Kind::probe;
  if (ect) s.flags |= ecn_.take_flags();
  writer_.write(s, {.offset = opens ? 0 : p.from - 1, .length = p.length}, slot, now, ect);
  rtt_.on_sent(p.end(), again, now);
  if (again && p.from > sequence_.una()) control_->on_sent_beyond_hole();
  control_->on_sent(p.length);
  sequence_.sent(p);
  if (opens) timer_.start(Timer::retransmit, rtt_.estimate(), now);
  return true;
}

// An ACK, or <SEQ=SEG.ACK><CTL=RST> (RFC 9293 3.10.7.3).
void TcpSender::build_reply(Slot& slot, Time now) {
  const bool ack = reply_ == Reply::ack;
  reply_ = Reply::none;
  writer_.write(ack ? segment_at(sequence_.max(), now) : writer_.segment(reset_, tcp::kRst), {}, slot, now);
}

Segment TcpSender::syn(Time now) {
  Segment s = segment_at(0, now);
  s.mss = writer_.mss();
  if (state_ == TcpState::syn_sent) {
    s.flags = ecn_.on_syn_sent(params_->ecn, timer_.timeouts() != 0);
    s.ack = 0;
    s.sack_permitted = params_->sack;
    if (params_->window_scale) s.window_scale = std::uint8_t{0};
    if (params_->timestamps) s.timestamps = tcp::Timestamps{rtt_.timestamp(now), 0};
  } else {
    if (peer_.scales()) s.window_scale = std::uint8_t{0};
    s.sack_permitted = peer_.sacks();
  }
  s.flags |= tcp::kSyn;
  return s;
}

Segment TcpSender::segment_at(std::uint64_t position, Time now) const {
  Segment s = writer_.segment(writer_.sequence(position), tcp::kAck);
  s.ack = peer_.next();
  s.window = TcpPeer::kReceiveWindow;
  if (peer_.timestamps()) s.timestamps = tcp::Timestamps{rtt_.timestamp(now), peer_.recent()};
  return s;
}

}  // namespace surety::endpoints
