// SPDX-License-Identifier: BSD-3-Clause
// State that both ends of a TCP connection have: where it is, and its limit of answers to refused segments.
#pragma once

#include "conditioners/units.h"
#include "endpoints/engine/engine.h"

namespace surety::endpoints {

// Where a TCP connection is (RFC 9293 3.3.2, figure 5), and how it ended.
//
// Returns which state follows an event, for both ends, and nothing else: the packets, and the durations of
// FIN-WAIT-2 and TIME-WAIT, are the owner's affair. An event that is undefined in a state changes nothing:
// then its function returns false.
class TcpState {
 public:
  // In an order that comparisons rely on: before `established` there is no data, and from `fin_wait_2` on
  // (`closed` included) nothing of ours is left to be acknowledged.
  enum Name : std::uint8_t {
    idle,  // before an active open
    syn_sent,
    syn_received,
    established,
    close_wait,
    fin_wait_1,
    closing,
    last_ack,
    fin_wait_2,
    time_wait,
    closed
  };

  explicit TcpState(Name first) : name_(first) {}
  operator Name() const { return name_; }
  Failure failure() const { return failure_; }
  bool peer_sends() const {  // synchronised, and its FIN has not been taken
    return name_ == established || name_ == fin_wait_1 || name_ == fin_wait_2;
  }

  void on_syn_sent() { move(idle, syn_sent); }
  void on_syn_received() { move(syn_sent, syn_received); }  // both open at once
  void on_syn_acknowledged() { name_ = established; }
  // Our FIN is on its way.
  bool on_fin_sent() { return move(established, fin_wait_1) || move(close_wait, last_ack); }
  bool on_fin_acknowledged() {
    return move(fin_wait_1, fin_wait_2) || move(closing, time_wait) || move(last_ack, closed);
  }
  bool on_fin_received() {
    return move(established, close_wait) || move(fin_wait_1, closing) || move(fin_wait_2, time_wait);
  }
  void end(Failure failure) {
    name_ = closed;
    failure_ = failure;
  }

  // In TIME-WAIT both directions are over: it only answers a peer that repeats its FIN.
  FlowState flow_state() const {
    if (name_ >= time_wait) return FlowState::closed;
    if (name_ >= fin_wait_1) return FlowState::closing;
    if (name_ >= established) return FlowState::open;
    return name_ == idle ? FlowState::idle : FlowState::connecting;
  }

 private:
  bool move(Name from, Name to) {
    if (name_ != from) return false;
    name_ = to;
    return true;
  }

  Name name_;
  Failure failure_ = Failure::none;
};

// Limit of a connection's answers to refused segments: challenge ACKs and resets, at most ten in any second
// that begins with one (RFC 5961 7). Without it two ends that refuse each other's ACKs would answer for ever.
class ChallengeLimit {
 public:
  static constexpr std::uint32_t kPerSecond = 10;

  bool permit(Time now) {
    if (now >= until_) {
      until_ = now + std::chrono::seconds(1);
      left_ = kPerSecond;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  Time until_ = Time::min();
  std::uint32_t left_ = 0;
};

}  // namespace surety::endpoints
