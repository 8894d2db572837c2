// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/remote_alpha.h"

#include <algorithm>

#include "router/pipeline/signals/contributors.h"

namespace surety {

namespace {
CsaParams with_t2_restarted(CsaParams params) {
  if (params.control == AlphaControl::paper) params.control = AlphaControl::periodic;
  return params;
}
Ratio first(const CsaParams& params) {
  return params.max == Ratio::unlimited() ? CsaParams().max : params.max;
}
}  // namespace

RemoteAlpha::RemoteAlpha(const CsaParams& params, Time now)
    : controller_(with_t2_restarted(params), now, first(params)),
      control_(params.control),
      heard_(now),
      sent_at_(now),
      now_(now) {}

void RemoteAlpha::follow_events(Time now) {
  if (events_) return;
  CsaParams params = controller_.params();
  params.control = control_;
  controller_ = CsaController(params, now, alpha());
  events_ = true;
}

void RemoteAlpha::signal(SignalKind kind, Time now) {
  advance(now);
  if (is_event(kind)) follow_events(now);
  if (is_event(kind)) congested_ = kind != SignalKind::clear;
  const bool stopped = controller_.next_event() == kNever;
  if (kind == SignalKind::onset && stopped) controller_ = CsaController(controller_.params(), now, alpha());
  if (kind != SignalKind::onset && kind != SignalKind::clear) controller_.eighth(now);
  heard_ = now;
  sent_ = 0;
  if (kind == SignalKind::reminder) reminded_ = now;
}

void RemoteAlpha::advance(Time now) {
  now_ = std::max(now_, now);
  if (events_) return controller_.advance(now, congested_);
  const Time expiry = controller_.next_event();
  if (now < expiry) return;
  const Duration t2 = controller_.params().t2;
  // Only the first of several expiries can follow a signal: each later one had T2 of silence.
  if (heard_ > expiry - t2) controller_.advance(expiry, true);
  if (reminded_ != Time::min() && heard_ - reminded_ < t2) {
    controller_.advance(std::min(now, sent_at_ + Contributors::kTrusted), false);
  } else if (sent_ >= kEnough && now >= controller_.next_event()) {
    controller_.advance(controller_.next_event(), false);
    sent_ = 0;
  }
  controller_.advance(now, true);  // the remaining silence means nothing
}

Time RemoteAlpha::next_event() const {
  if (at_rest()) return kNever;
  if (events_) return std::min(forgets(), controller_.next_event());
  return at_maximum() ? forgets() : controller_.next_event();
}

Time RemoteAlpha::forgets() const {
  const Time idle = std::max(heard_, sent_at_) + kIdle;
  if (!at_maximum() || congested_) return idle;
  const CsaParams& params = controller_.params();
  const Time learnt =
      params.control != AlphaControl::search ? heard_ : heard_ + AlphaSearch::kLongestWait * params.t2;
  return std::min(idle, learnt);
}

}  // namespace surety
