// SPDX-License-Identifier: BSD-3-Clause
// The one timer of a TcpSender: for retransmission (RFC 6298 5), to probe a closed window (persist, RFC 9293
// 3.8.6.1), or to wait for the end; never for two of them at once.
//
// Each timeout doubles the RTO until the owner ends that: with a new sample, or an ACK of data that was sent
// once (rtt_timing.h). The owner says what is to be done when it expires.
#pragma once

#include "endpoints/tcp/rto.h"

namespace surety::endpoints {

class TcpTimer {
 public:
  enum class Kind : std::uint8_t { none, retransmit, persist, wait };

  // `tick`: an earlier tick of a coarse clock (rto.h).
  TcpTimer(const RtoParams& params, Time tick) : params_(params), tick_(tick) {}

  Kind kind() const { return kind_; }
  Time at() const { return at_; }                       // kNever: it does not run
  std::uint32_t timeouts() const { return timeouts_; }  // in a row

  void start(Kind kind, const RttEstimator& rtt, Time now) {
    kind_ = kind;
    at_ = RetransmissionTimeout::expiry(params_, now, rto_.value(params_, rtt), tick_);
  }
  void wait(Time until) {
    kind_ = Kind::wait;
    at_ = until;
  }
  void stop() {
    kind_ = Kind::none;
    at_ = kNever;
  }
  // Stops the expired timer and returns its kind. Backoff: RFC 6298 5.5.
  Kind expire() {
    const Kind kind = kind_;
    stop();
    if (kind == Kind::wait) return kind;
    ++timeouts_;
    rto_.backoff();
    return kind;
  }

  void on_syn_acknowledged() {
    if (timeouts_ > 0) rto_.on_syn_lost();
    rto_.reset();
    timeouts_ = 0;
    stop();
  }
  // Any ACK of a probe is an answer: a closed window is probed without end.
  void on_ack() {
    if (kind_ == Kind::persist) timeouts_ = 0;
  }
  // New data is acknowledged: RFC 6298 5.3. `partial`: in fast recovery, for a sender that prefers a timeout
  // to a round trip for each of many losses: only the first such ACK restarts the timer (RFC 6582 4: the
  // Impatient variant).
  void on_new_ack(bool partial, const RttEstimator& rtt, Time now) {
    timeouts_ = 0;
    if (kind_ == Kind::retransmit && !(partial && partial_seen_)) start(Kind::retransmit, rtt, now);
    partial_seen_ = partial;
  }
  void end_backoff() { rto_.reset(); }

 private:
  Time at_ = kNever;
  Kind kind_ = Kind::none;
  bool partial_seen_ = false;  // in this fast recovery
  std::uint32_t timeouts_ = 0;
  RetransmissionTimeout rto_;
  RtoParams params_;
  Time tick_;
};

}  // namespace surety::endpoints
