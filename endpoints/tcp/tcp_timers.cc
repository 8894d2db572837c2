// SPDX-License-Identifier: BSD-3-Clause
// A TcpSender's timers: retransmission (RFC 6298), persist (RFC 9293 3.8.6.1), and the waits of its end.
#include <algorithm>

#include "endpoints/tcp/tcp_sender.h"

namespace surety::endpoints {

Time TcpSender::next_wakeup() const {
  if (state_ == State::idle) return std::min(start_, stop_);
  if (state_ == State::closed) return kNever;
  if (next_send() == kNow) return kNow;
  return std::min(timer_at_, stop_);
}

void TcpSender::start(Timer timer, Time now) {
  timer_ = timer;
  timer_at_ = RetransmissionTimeout::expiry(rto_params_, now, rto_.value(rto_params_, rtt_), start_);
}

void TcpSender::stop_timer() {
  timer_ = Timer::none;
  timer_at_ = kNever;
}

void TcpSender::wait(State state, Duration time, Time now) {
  state_ = state;
  timer_ = Timer::wait;
  timer_at_ = now + time;
}

// After every event: the retransmission timer runs while something is in flight, the persist timer while
// something is left that the peer's window does not let out.
void TcpSender::settle(Time now) {
  if (state_ < State::established || state_ >= State::fin_wait_2) return;
  if (next_ != una_) {
    if (timer_ != Timer::retransmit) start(Timer::retransmit, now);
    return;
  }
  if (timer_ == Timer::retransmit) stop_timer();
  const bool left = next_ < data_end_ || (next_ == data_end_ && closing_);
  const bool blocked = left && !probe_due_ && piece(next_, permitted()).empty();
  if (blocked && timer_ == Timer::none) start(Timer::persist, now);
  if (blocked || timer_ != Timer::persist || probe_due_) return;
  stop_timer();
  rto_.reset();
}

void TcpSender::on_timer(Time now) {
  const Timer timer = timer_;
  stop_timer();
  if (timer == Timer::wait) return end(Failure::none);
  const bool opening = state_ < State::established;
  if (++timeouts_in_row_ > (opening ? kSynRetries : params_->retries))
    return end(opening ? Failure::no_answer : Failure::timeout);
  if (opening) {
    next_ = 0;
    rto_.backoff();
  } else if (timer == Timer::retransmit && peer_.right_edge() > una_) {
    on_timeout(now);
  } else {
    // Closed, or closed over what was in flight: that says nothing about congestion.
    go_back();
    probe_due_ = true;
    rto_.backoff();
    start(Timer::persist, now);
  }
}

void TcpSender::on_timeout(Time now) {
  ++timeouts_;
  timed_out_at_ = now;
  ++loss_events_;
  control_->on_timeout(outstanding(), timeouts_in_row_ > 1);
  go_back();
  rto_.backoff();
}

void TcpSender::go_back() {
  next_ = una_;
  resend_end_ = max_;
  timed_end_ = 0;  // Karn: what will be acknowledged may have been sent twice
  lost_due_ = false;
  forced_due_ = 0;
}

}  // namespace surety::endpoints
