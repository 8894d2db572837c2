// SPDX-License-Identifier: BSD-3-Clause
// Alpha of a path as its internal routers ask for it: the remote part of the CSA paper
// (conditioners/README.md).
//
// A path has a controller of the same kind as a local queue (CsaController). A signal is the 8th OUT arrival
// at a congested queue somewhere along the path, and "not congested" is: no signal for T2. An onset is not
// signalled: when the first signal leaves, the queue has been congested for seven arrivals, so that signal
// finds T1 expired and takes a step at once, as the first congestion indication of ISUP does (Q.764, T29 and
// T30), from which the paper has its timers.
#pragma once

#include "conditioners/csa_controller.h"

namespace surety {

class RemoteAlpha {
 public:
  RemoteAlpha(const CsaParams& params, Time now) : controller_(params, now), heard_(now), now_(now) {}

  // A signal came; what expires now comes first.
  void signal(Time now);
  // Lets T2 expire as often as it should have up to `now`.
  void advance(Time now);

  Ratio alpha() const { return controller_.alpha(); }
  // Back at the maximum for good: it may be forgotten. A search is kept until what it has learnt is older
  // than its longest wait.
  bool at_rest() const { return at_maximum() && now_ >= forgets(); }
  // When advance() has something to do; kNever at rest.
  Time next_event() const;

 private:
  bool at_maximum() const { return alpha() == controller_.params().max; }
  Time forgets() const;

  CsaController controller_;
  Time heard_;  // the last signal
  Time now_;    // of the last call
};

}  // namespace surety
