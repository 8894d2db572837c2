// SPDX-License-Identifier: BSD-3-Clause
// Alpha of a path, controlled by signals of internal routers: the remote part of the CSA paper
// (conditioners/README.md).
//
// A path has a controller of the same kind as a local queue (CsaController). A signal means that a queue
// somewhere along the path is congested; "not congested" means no signal for T2 when one was to be expected.
// An onset is not signalled: the first signal is sent after seven arrivals in congestion, so T1 counts as
// expired and the signal takes a step at once, as the first congestion indication of ISUP (Q.764, T29 and
// T30), the origin of the paper's timers. Without another maximum the step is from the paper's, 0.4: the
// share of a path in a shared queue is unknown. T2 is restarted when it expires in congestion, also with
// `control: paper`: without signals of onsets it would stop for good.
//
// Events (`report: events` at the router of the queue) replace the meaning of silence: each eighth takes a
// step down once T1 has passed since the last one, T2 follows the state of the queue at each expiry, with the
// rule of the path's `control`, and an onset starts a stopped T2. T1 runs from the last step down, as in
// ISUP: an onset that started it again would keep alpha up, as many periods of congestion are shorter.
//
// Expected signals: reminders come from a router that has stored the path, and continue while its queue is
// congested (contributors.h), so silence for T2 means no congestion while that router still has the path's
// OUT packets. Samples come at the 8th OUT arrival from any source: if the queue stayed congested, one of 24
// OUT packets would have caused one with 96 % (1 - (7/8)^24), so only silence for 24 packets means no
// congestion, and returns one step. Any other silence means nothing, and alpha stays.
#pragma once

#include "conditioners/csa_controller.h"
#include "router/pipeline/signals/congestion_signal.h"

namespace surety {

class RemoteAlpha {
 public:
  static constexpr std::uint32_t kEnough = 24;  // OUT packets
  // A path without signals and without packets for this time may be removed: its alpha has no effect.
  static constexpr Duration kIdle = std::chrono::seconds(30);

  RemoteAlpha(const CsaParams& params, Time now);

  // Handles a signal, after timers that expire now.
  void signal(SignalKind kind, Time now);
  // An OUT packet has left by this path; called after an advance() to the same `now`, or to one not long
  // before.
  void sent(Time now) {
    ++sent_;
    sent_at_ = now;
  }
  // Runs T2 as often as it expires up to `now`.
  void advance(Time now);

  Ratio alpha() const { return controller_.alpha(); }
  // True if the path may be removed: alpha is back at the maximum for good, or the path is idle. A search is
  // kept until its result is older than its longest wait.
  bool at_rest() const { return now_ >= forgets(); }
  // Due time of advance(); kNever at rest.
  Time next_event() const;

 private:
  void follow_events(Time now);
  bool at_maximum() const { return alpha() == controller_.params().max; }
  Time forgets() const;

  CsaController controller_;
  AlphaControl control_;
  bool events_ = false, congested_ = false;  // follows events; the queue's state by the last one
  Time heard_;                               // time of the last signal
  Time reminded_ = Time::min();              // time of the last reminder
  Time sent_at_;            // time of the last OUT packet; at first of the one that caused a signal
  std::uint32_t sent_ = 0;  // OUT packets since the last signal, or the last silence that counted
  Time now_;                // time of the last call
};

}  // namespace surety
