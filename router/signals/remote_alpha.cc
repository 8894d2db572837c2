// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/remote_alpha.h"

#include <algorithm>

namespace surety {

void RemoteAlpha::signal(Time now) {
  advance(now);
  controller_.eighth(now);
  heard_ = now;
}

void RemoteAlpha::advance(Time now) {
  now_ = std::max(now_, now);
  const Time expiry = controller_.next_event();
  if (now < expiry) return;
  // Of several expiries only the first can have heard a signal: each later one has had T2 of silence.
  if (heard_ > expiry - controller_.params().t2) controller_.advance(expiry, true);
  controller_.advance(now, false);
}

Time RemoteAlpha::next_event() const {
  if (!at_maximum()) return controller_.next_event();
  return at_rest() ? kNever : forgets();
}

Time RemoteAlpha::forgets() const {
  const CsaParams& params = controller_.params();
  return params.control != AlphaControl::search ? heard_ : heard_ + AlphaSearch::kLongestWait * params.t2;
}

}  // namespace surety
