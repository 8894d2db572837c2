// SPDX-License-Identifier: BSD-3-Clause
// The sender's half of TFRC (RFC 5348 section 4, or RFC 3448 section 4) and gTFRC (gtfrc.h), without a wire:
// from feedback and the passing of time it computes when the next packet may leave.
//
// Rates count bytes of IP packets, as everywhere in Surety (so does the guarantee g); `segment` is the IP
// packet. The nofeedback timer and the limits by X_recv act on X; G = max(g, X) is what is sent at. Where the
// two specifications differ (the gTFRC paper follows RFC 3448 "entirely"):
//
//                             RFC 5348                                 RFC 3448
//   rate until feedback       1 packet/s; from the handshake's         1 packet/s, whatever the handshake
//     (4.2)                   round trip on, W_init / R                took
//   first feedback (4.3)      X = W_init / R, at p > 0 too             as any other
//   slow start, least (4.3)   W_init / R                               s / R
//   limit by X_recv (4.3)     twice the largest of two round trips     twice the last, from the first
//                             (X_recv_set), infinite at first          feedback on
//   data-limited (4.3, 8.2.1) the largest X_recv stays; at a loss      no case of its own
//                             0.85 of it, or half of the set
//   nofeedback timer (4.4)    halves X; at p > 0 halves X_recv_set     halves X_recv or, where the equation
//                                                                      limits, X_recv = X_calc / 4
//   and idle (4.4)            spares W_init / R; before feedback X     spares X_recv below 4 s / R
//
// W_init = min(4 s, max(2 s, 4380)). Alike: the equation, R, the timer's time (max(4 R, 2 s / X)), at least a
// packet in 64 s, scheduling (4.6, pacer.h); oscillation reduction (4.5, optional) is off. The receiver is
// the same. A flow whose application has a rate of its own sends rate * time in the long run, never faster
// than G.
#pragma once

#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/flow_reading.h"
#include "endpoints/tfrc/excess_share.h"
#include "endpoints/tfrc/gtfrc.h"
#include "endpoints/tfrc/pacer.h"
#include "endpoints/tfrc/receive_rate.h"
#include "endpoints/tfrc/sender_rtt.h"

namespace surety::endpoints {

enum class TfrcSpecification : std::uint8_t { rfc5348, rfc3448 };

struct TfrcParams {
  Bytes segment{1500};  // s: the IP packet; not zero
  TfrcSpecification specification = TfrcSpecification::rfc5348;
  Rate guarantee{};  // g of gTFRC; zero: plain TFRC
  // gTFRC: from the first feedback on ("literal", the paper), or only once slow start has ended.
  using Reading = GuaranteeReading;
  Reading reading = Reading::literal;
  double theta = 0;    // paper section 4: X < g / theta gives the guarantee up; 0: never
  bool fair = false;   // gTFRC: above g, the share of a TCP flow; false: G = max(g, X), the paper
  Rate repair{};       // gTFRC: G = g / (1 - lost part) up to this rate; zero: not above g
  Rate application{};  // the application offers no more than this; zero: as much as may be sent
};

class TfrcSender {
 public:
  struct Feedback {
    Time sent{};                  // sending time of the packet that it acknowledges
    Duration rtt_sample{};        // corrected for the receiver's delay
    double receive_rate = 0;      // X_recv, bytes/s of IP packets
    double loss_event_rate = 0;   // p
    bool new_loss_event = false;  // since the last feedback (also: p grew, which is noticed without it)
    double lost = 0;              // the lost part of the packets (LostPart)
  };

  // `start`: when the application begins to offer packets.
  TfrcSender(const TfrcParams& params, Time start);

  // The handshake's round-trip time, once, before the first feedback (4.2): the initial rate is then W_init /
  // R at once; no effect with RFC 3448, which has none.
  void on_handshake(Duration rtt_sample, Time now);
  // Any values may come (they are a peer's); what makes no sense is clamped.
  void on_feedback(const Feedback& f, Time now);
  // Takes the nofeedback timer's expiry at `now`, and restarts the timer.
  void on_nofeedback(Time now);
  Time nofeedback_timer() const { return timer_; }  // kNever before the first packet

  // The paced time of the next packet, the application's own rate included; in the past: now.
  Time next_send() const { return pacer_.next(); }
  void on_sent(Time now);

  Duration rtt() const { return rtt_.value(); }  // R; zero: none yet
  std::uint8_t window_counter(Time now) { return rtt_.window_counter(now); }

  bool slow_start() const { return p_ == 0; }    // no loss event so far
  double rate() const { return pacer_.rate(); }  // in force, bytes/s: G of gTFRC, X of TFRC
  void read(FlowReading& out) const;             // X, X_recv, p, R, g, sending, limited_by, guarantee_broken

 private:
  void sample_rtt(Duration r, Time now);
  void share_excess(Duration rtt_sample, bool loss, Time now);
  void begin_at_initial_rate(Time now);
  double receive_limit(Time sent, bool loss, Time now);
  void apply(double limit, Time now);
  bool spares_idle() const;
  void cut_rate(Time now);
  void cut_receive_rate(Time now);
  void set_x(double x, LimitedBy by, Time now);
  void restart_timer(Time now);
  double segment() const { return pacer_.bytes(); }
  double initial_rate() const;                          // the least of slow start; RFC 5348: recover_rate too
  double least_rate() const { return segment() / 64; }  // s / t_mbi
  LimitedBy limited_by() const;

  // The first three are what each packet needs.
  Pacer pacer_;
  DataLimits limits_;
  SenderRtt rtt_;
  bool idle_ = true;  // nothing was sent since the nofeedback timer was set
  bool rfc3448_;
  LimitedBy x_limit_ = LimitedBy::slow_start;
  Time timer_ = kNever;
  Guarantee::State state_;  // X, and what has happened
  double p_ = 0;
  double equation_ = 0;      // X_Bps
  double receive_rate_ = 0;  // X_recv
  Time last_doubled_{};      // tld
  ReceiveRateSet receive_rates_;
  Guarantee guarantee_;
  ExcessShare excess_;
  Time shared_at_{};        // the last feedback
  std::uint32_t sent_ = 0;  // packets since then
  std::uint64_t timeouts_ = 0;
};
static_assert(sizeof(TfrcSender) <= 528);

// The TCP throughput equation of TFRC (RFC 5348 3.1) and its inverse.
//
//   X = s / (R sqrt(2 b p / 3) + t_RTO (3 sqrt(3 b p / 8)) p (1 + 32 p^2)),   b = 1, t_RTO = 4 R
//
// Rates are bytes per second as double: a controller's variable, not a contract's rate.
//
// X in bytes/s; +infinity for p = 0. `segment` > 0, `rtt` > 0, 0 <= p <= 1.
double tfrc_throughput(Bytes segment, Duration rtt, double p);

// The p in [1e-8, 1] that gives `rate` (bytes/s), by bisection to a relative error of 1e-9;
// the nearest end beyond it.
double tfrc_loss_event_rate(Bytes segment, Duration rtt, double rate);

}  // namespace surety::endpoints
