// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "endpoints/engine/engine.h"

namespace surety::endpoints {
namespace {

constexpr double kMostReported = 1e15;  // X_recv

double clamped(double x, double most) {
  return x > 0 ? std::min(x, most) : 0;  // NaN too
}

}  // namespace

TfrcSender::TfrcSender(const TfrcParams& params, Time start)
    : pacer_(params.segment, params.application, start),
      rtt_(start),
      rfc3448_(params.specification == TfrcSpecification::rfc3448),
      last_doubled_(start - SenderRtt::kMost),
      receive_rates_(start),
      guarantee_{params.guarantee.bytes_per_second(), params.theta, params.reading, params.fair,
                 params.repair.bytes_per_second()} {
  set_x(segment(), LimitedBy::slow_start, start);
}

void TfrcSender::on_sent(Time now) {
  const bool first = !pacer_.begun();
  limits_.on_sent(pacer_.on_sent(now), now);
  if (first) restart_timer(now);
  idle_ = false;
  ++sent_;
}

void TfrcSender::sample_rtt(Duration r, Time now) {
  rtt_.on_sample(r, now);
  pacer_.set_rtt(rtt_.value());
}

double TfrcSender::initial_rate() const {
  const double window = rfc3448_ ? segment() : std::min(4 * segment(), std::max(2 * segment(), 4380.0));
  return window / seconds(rtt_.value());
}

// 4.2.
void TfrcSender::on_handshake(Duration rtt_sample, Time now) {
  if (rtt_.known() || rfc3448_) return;
  sample_rtt(rtt_sample, now);
  begin_at_initial_rate(now);
}

void TfrcSender::begin_at_initial_rate(Time now) {
  receive_rates_.replace(ReceiveRateSet::kUnlimited, now);
  last_doubled_ = now;
  set_x(initial_rate(), LimitedBy::slow_start, now);
}

// 4.3, by its steps; RFC 5348: the first sample's initial rate is instead of step 4.
void TfrcSender::on_feedback(const Feedback& f, Time now) {
  const double p = clamped(f.loss_event_rate, 1);
  const bool loss = f.new_loss_event || p > p_, first = !rtt_.known();
  receive_rate_ = clamped(f.receive_rate, kMostReported);
  p_ = p;
  state_.feedback = true;
  state_.loss = p > 0;
  state_.cut_short = false;
  state_.lost = clamped(f.lost, 1);
  sample_rtt(f.rtt_sample, now);
  equation_ = tfrc_throughput(pacer_.segment(), rtt_.value(), p_);
  if (guarantee_.fair) share_excess(f.rtt_sample, loss, now);
  if (first && !rfc3448_) {
    begin_at_initial_rate(now);
    limits_.on_feedback(f.sent, rtt_.value());
  } else {
    apply(receive_limit(f.sent, loss, now), now);
  }
  restart_timer(now);
}

// The receive rate and the nofeedback timer limit X_be in the proportion in which they limit X.
void TfrcSender::share_excess(Duration rtt_sample, bool loss, Time now) {
  const double least = guarantee_.least(state_), of_g = least * seconds(now - shared_at_) / segment();
  excess_.on_report(sent_ - of_g, std::clamp(rtt_sample, SenderRtt::kLeast, SenderRtt::kMost));
  if (loss) excess_.on_loss_event(pacer_.segment(), rtt_.value(), rate() - least);
  if (p_ > 0) state_.excess = excess_.rate(pacer_.segment(), rtt_.value()) / equation_;
  shared_at_ = now;
  sent_ = 0;
}

// Step 4, its first half: what X_recv_set becomes, and recv_limit.
double TfrcSender::receive_limit(Time sent, bool loss, Time now) {
  if (rfc3448_) {
    receive_rates_.replace(receive_rate_, now);
    return 2 * receive_rate_;
  }
  if (!limits_.on_feedback(sent, rtt_.value())) {
    receive_rates_.update(receive_rate_, now, 2 * rtt_.value());
    return 2 * receive_rates_.max();
  }
  if (!loss) {
    receive_rates_.maximize(receive_rate_, now);
    return 2 * receive_rates_.max();
  }
  receive_rates_.halve();
  receive_rates_.maximize(0.85 * receive_rate_, now);
  return receive_rates_.max();
}

// Step 4, its second half.
void TfrcSender::apply(double limit, Time now) {
  double x = state_.x;
  LimitedBy by = x_limit_;
  if (p_ > 0) {
    x = std::min(equation_, limit);
    by = equation_ <= limit ? LimitedBy::equation : LimitedBy::receive_rate;
  } else if (now - last_doubled_ >= rtt_.value()) {
    const double climbed = std::max(2 * state_.x, initial_rate());
    x = std::max(std::min(climbed, limit), initial_rate());
    by = x == climbed ? LimitedBy::slow_start : LimitedBy::receive_rate;
    last_doubled_ = now;
  }
  set_x(x, by, now);
}

// 4.4.
void TfrcSender::on_nofeedback(Time now) {
  if (!idle_ || !spares_idle()) {
    ++timeouts_;
    state_.cut_short = true;
    if (rfc3448_ && rtt_.known())
      cut_receive_rate(now);
    else
      cut_rate(now);
  }
  restart_timer(now);
}

// An idle sender gets no feedback; it keeps what it may have again when it resumes (RFC 5348: recover_rate).
bool TfrcSender::spares_idle() const {
  if (!rtt_.known()) return !rfc3448_;
  const double reported = receive_rates_.max();
  if (rfc3448_) return reported < 4 * segment() / seconds(rtt_.value());
  return p_ > 0 ? reported < initial_rate() : state_.x < 2 * initial_rate();
}

// RFC 5348; of RFC 3448 before any feedback.
void TfrcSender::cut_rate(Time now) {
  const double half = p_ > 0 ? std::min(receive_rates_.max(), equation_ / 2) : state_.x / 2;
  // In congestion avoidance the cut is in X_recv_set, so that feedback does not undo it at once.
  if (p_ > 0) receive_rates_.replace(std::max(half, least_rate()) / 2, now);
  set_x(half, LimitedBy::no_feedback, now);
}

// RFC 3448: the cut is in X_recv, and X is what 4.3 makes of it; but where more arrived than X, as of a
// guarantee, 4.3 might raise it.
void TfrcSender::cut_receive_rate(Time now) {
  const double reported = receive_rates_.max();
  const bool by_equation = p_ > 0 && equation_ <= 2 * reported;
  const double cut = by_equation ? equation_ / 4 : std::max(reported, least_rate()) / 2;
  receive_rates_.replace(cut, now);
  apply(std::min(2 * cut, state_.x), now);
  x_limit_ = LimitedBy::no_feedback;
}

void TfrcSender::restart_timer(Time now) {
  timer_ = now + std::max(4 * rtt_.value(), from_seconds(2 * segment() / state_.x));
  idle_ = true;
}

void TfrcSender::set_x(double x, LimitedBy by, Time now) {
  state_.x = std::clamp(x, least_rate(), Pacer::kMostRate);
  x_limit_ = by;
  pacer_.set_rate(guarantee_.rate(state_), now);
}

LimitedBy TfrcSender::limited_by() const {
  if (pacer_.follows_application()) return LimitedBy::application;
  return rate() > state_.x ? LimitedBy::guarantee : x_limit_;
}

void TfrcSender::read(FlowReading& out) const {
  const auto bits = [](double bytes) { return Rate::bits_per_second(static_cast<std::uint64_t>(8 * bytes)); };
  out.x = bits(state_.x);
  out.x_recv = bits(receive_rate_);
  out.g = bits(guarantee_.g);
  out.sending = bits(rate());
  out.loss_event_rate = p_;
  out.rtt = rtt_.value();
  out.min_rtt = rtt_.least();
  out.timeouts = timeouts_;
  out.limited_by = limited_by();
  out.guarantee_broken = guarantee_.broken(state_);
}

namespace {

// s / (R X): what the equation's denominator is in units of R, with b = 1 and t_RTO = 4 R.
double packets_denominator(double p) {
  return std::sqrt(p * (2.0 / 3)) + 12 * std::sqrt(p * (3.0 / 8)) * p * (1 + 32 * p * p);
}

constexpr double kLeast = 1e-8;

}  // namespace

double tfrc_throughput(Bytes segment, Duration rtt, double p) {
  if (p <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(segment.count()) / (seconds(rtt) * packets_denominator(p));
}

double tfrc_loss_event_rate(Bytes segment, Duration rtt, double rate) {
  const double wanted = static_cast<double>(segment.count()) / (seconds(rtt) * rate);
  if (!(wanted > packets_denominator(kLeast))) return kLeast;
  if (wanted >= packets_denominator(1)) return 1;
  double low = kLeast, high = 1;
  // Halving the exponent's range: p spans eight decades, and the error is relative.
  while (high > low * (1 + 1e-9)) {
    const double middle = std::sqrt(low * high);
    (packets_denominator(middle) < wanted ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace surety::endpoints
