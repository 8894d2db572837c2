// SPDX-License-Identifier: BSD-3-Clause
// A TFRC sender in virtual time, with 1000-byte packets and a receiver that answers as told, 100 ms away, so
// that W_init / R = 40 kB/s.
#pragma once

#include "endpoints/tfrc/tfrc.h"

namespace surety::endpoints {

inline constexpr Time kStart = Time(std::chrono::seconds(1000));
inline constexpr Duration kRtt = std::chrono::milliseconds(100);
inline constexpr double kPlenty = 1e12;  // an X_recv that limits nothing

struct TfrcFlow {
  explicit TfrcFlow(TfrcParams p = {}) : sender((p.segment = Bytes(1000), p), kStart) {}

  TfrcSender sender;
  Time now = kStart;
  std::uint64_t sent = 0;

  // Sends all that may be sent, up to `end`, on time.
  void send_until(Time end) {
    for (Time t; (t = std::max(sender.next_send(), now)) <= end; ++sent) {
      now = t;
      sender.on_sent(now);
    }
    now = end;
  }
  void send_for(Duration d) { send_until(now + d); }
  void feedback(double receive_rate, double p = 0, Duration rtt = kRtt) {
    sender.on_feedback({now - rtt, rtt, receive_rate, p, false}, now);
  }
  // The first packet and its answer.
  void open() {
    send_for(kRtt);
    feedback(0);
  }
  // Open, one loss event seen, and X = the equation's: nothing else limits.
  void avoid_congestion(double p = 0.01) {
    open();
    send_for(kRtt);
    feedback(kPlenty, p);
  }
  void expire() {
    now = sender.nofeedback_timer();
    sender.on_nofeedback(now);
  }
  double x() const { return static_cast<double>(reading().x.bits_per_second()) / 8; }
  FlowReading reading() const {
    FlowReading r;
    sender.read(r);
    return r;
  }
  LimitedBy limited_by() const { return reading().limited_by; }
};

inline double equation(double p, Duration rtt = kRtt) {
  return tfrc_throughput(Bytes(1000), rtt, p);
}

}  // namespace surety::endpoints
