// SPDX-License-Identifier: BSD-3-Clause
// Alpha of a path as its internal routers ask for it: the remote part of the CSA paper
// (conditioners/README.md).
//
// A path has a controller of the same kind as a local queue (CsaController). A signal says that a queue
// somewhere along the path is congested, and "not congested" is: no signal for T2, where one was to be
// expected. An onset is not signalled: when the first signal leaves, the queue has been congested for seven
// arrivals, so that signal finds T1 expired and takes a step at once, as the first congestion indication of
// ISUP does (Q.764, T29 and T30), from which the paper has its timers. That step is from the paper's maximum,
// 0.4, where there is no other: of a queue that others share, no path knows how much it could have. And T2
// that expires in congestion is restarted, whatever `control` says: to the letter of the paper it would stand
// still until an onset.
//
// When a signal is to be expected. A reminder comes from a router that knows the path and goes on reminding
// as long as its queue is congested (contributors.h): its silence for T2 is an answer as long as it remembers
// the path's OUT packets. A sample comes at the 8th OUT arrival, whoever's that is: if the queue stayed
// congested, one of 24 OUT packets would have drawn one with 96 % (1 - (7/8)^24), so only a silence that long
// is an answer, and gives one step back. Whatever else is silent says nothing, and alpha stays.
#pragma once

#include "conditioners/csa_controller.h"
#include "router/signals/congestion_signal.h"

namespace surety {

class RemoteAlpha {
 public:
  static constexpr std::uint32_t kEnough = 24;  // OUT packets
  // A path of which nothing is heard and on which nothing is sent for so long may be forgotten: nobody has
  // the use of its alpha.
  static constexpr Duration kIdle = std::chrono::seconds(30);

  RemoteAlpha(const CsaParams& params, Time now);

  // A signal came; what expires now comes first.
  void signal(SignalKind kind, Time now);
  // An OUT packet left by this path; after an advance() to the same `now`, or one not long before.
  void sent(Time now) {
    ++sent_;
    sent_at_ = now;
  }
  // Lets T2 expire as often as it should have up to `now`.
  void advance(Time now);

  Ratio alpha() const { return controller_.alpha(); }
  // Back at the maximum for good, or idle: it may be forgotten. A search is kept until what it has learnt is
  // older than its longest wait.
  bool at_rest() const { return now_ >= forgets(); }
  // When advance() has something to do; kNever at rest.
  Time next_event() const;

 private:
  bool at_maximum() const { return alpha() == controller_.params().max; }
  Time forgets() const;

  CsaController controller_;
  Time heard_;                   // the last signal
  Time reminded_ = Time::min();  // the last reminder
  Time sent_at_;                 // the last OUT packet; at first the one that drew a signal
  std::uint32_t sent_ = 0;       // OUT packets since the last signal, or the last answer
  Time now_;                     // of the last call
};

}  // namespace surety
