// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "endpoints/engine/engine.h"

namespace surety::endpoints {
namespace {

constexpr double kRttFilter = 0.9;      // q
constexpr double kMostRate = 125e9;     // bytes/s: beyond any link
constexpr double kMostReported = 1e15;  // X_recv
constexpr Duration kLeastRtt = std::chrono::microseconds(1), kMostRtt = std::chrono::seconds(100);
constexpr Duration kLeastCredit = std::chrono::milliseconds(1);
constexpr std::uint8_t kCounterJump = 5;

Duration from_seconds(double s) {
  return Duration(static_cast<std::int64_t>(s * 1e9));
}
double clamped(double x, double most) {
  return x > 0 ? std::min(x, most) : 0;  // NaN too
}

}  // namespace

TfrcSender::TfrcSender(const TfrcParams& params, Time start)
    : due_{start},
      offered_{params.application == Rate{} ? kNow : start},
      credit_(kLeastCredit),
      last_free_(kNow),
      rfc3448_(params.specification == TfrcSpecification::rfc3448),
      counter_at_(start),
      segment_(params.segment),
      last_doubled_(start - kMostRtt),
      acknowledged_(kNow),
      limited_from_(kNow),
      limited_until_(kNow),
      receive_rates_(start),
      guarantee_{params.guarantee.bytes_per_second(), params.theta, params.reading},
      application_(params.application.bytes_per_second()) {
  if (application_ > 0) application_gap_ = PacedGap::of(segment(), application_);
  set_x(segment(), LimitedBy::slow_start, start);
}

void TfrcSender::on_sent(Time now) {
  if (now - due_.at > credit_ || !begun_) due_ = {begun_ ? now - credit_ : now};
  due_.advance(gap_);
  offered_.advance(application_gap_);
  const bool free = offered_.at <= due_.at && due_.at > now;
  if (free && limited_) {
    limited_from_ = last_free_;
    limited_until_ = now;
  }
  limited_ = !free;
  if (free) last_free_ = now;
  if (!begun_) {
    begun_ = true;
    restart_timer(now);
  }
  idle_ = false;
}

std::uint8_t TfrcSender::window_counter(Time now) {
  if (quarter_ > Duration::zero() && now - counter_at_ >= quarter_) {
    const std::int64_t quarters = (now - counter_at_) / quarter_;
    // Whole quarters: what is left of one counts for the next packet.
    counter_at_ = quarters > kCounterJump ? now : counter_at_ + quarters * quarter_;
    counter_ = static_cast<std::uint8_t>((counter_ + std::min<std::int64_t>(quarters, kCounterJump)) & 15);
  }
  return counter_;
}

void TfrcSender::sample_rtt(Duration r, Time now) {
  r = std::clamp(r, kLeastRtt, kMostRtt);
  if (rtt_ == Duration::zero()) counter_at_ = now;
  least_rtt_ = rtt_ == Duration::zero() ? r : std::min(least_rtt_, r);
  rtt_ =
      rtt_ == Duration::zero() ? r : from_seconds(kRttFilter * seconds(rtt_) + (1 - kRttFilter) * seconds(r));
  quarter_ = rtt_ / 4;
  credit_ = std::max(rtt_ / 2, kLeastCredit);
}

double TfrcSender::initial_rate() const {
  const double window = rfc3448_ ? segment() : std::min(4 * segment(), std::max(2 * segment(), 4380.0));
  return window / seconds(rtt_);
}

// 4.2.
void TfrcSender::on_handshake(Duration rtt_sample, Time now) {
  if (rtt_ != Duration::zero() || rfc3448_) return;
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
  const bool loss = f.new_loss_event || p > p_, first = rtt_ == Duration::zero();
  receive_rate_ = clamped(f.receive_rate, kMostReported);
  p_ = p;
  feedback_ = true;
  cut_short_ = false;
  sample_rtt(f.rtt_sample, now);
  equation_ = tfrc_throughput(segment_, rtt_, p_);
  if (first && !rfc3448_) {
    begin_at_initial_rate(now);
    acknowledged_ = f.sent;
  } else {
    apply(receive_limit(f.sent, loss, now), now);
  }
  restart_timer(now);
}

// Step 4, its first half: what X_recv_set becomes, and recv_limit.
double TfrcSender::receive_limit(Time sent, bool loss, Time now) {
  if (rfc3448_) {
    receive_rates_.replace(receive_rate_, now);
    return 2 * receive_rate_;
  }
  if (!data_limited(sent)) {
    receive_rates_.update(receive_rate_, now, 2 * rtt_);
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

// 8.2.1: whether the sender was held by its application all through the interval that the feedback covers,
// which is from the one before, and at least a round-trip time.
bool TfrcSender::data_limited(Time sent) {
  const Time end = std::max(sent, acknowledged_);
  const Time begin = std::min(acknowledged_, end - rtt_);
  acknowledged_ = end;
  return (limited_ && last_free_ <= begin) || (limited_from_ <= begin && end < limited_until_);
}

// Step 4, its second half.
void TfrcSender::apply(double limit, Time now) {
  double x = x_;
  LimitedBy by = x_limit_;
  if (p_ > 0) {
    x = std::min(equation_, limit);
    by = equation_ <= limit ? LimitedBy::equation : LimitedBy::receive_rate;
  } else if (now - last_doubled_ >= rtt_) {
    const double climbed = std::max(2 * x_, initial_rate());
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
    cut_short_ = true;
    if (rfc3448_ && rtt_ != Duration::zero())
      cut_receive_rate(now);
    else
      cut_rate(now);
  }
  restart_timer(now);
}

// An idle sender gets no feedback; it keeps what it may have again when it resumes (RFC 5348: recover_rate).
bool TfrcSender::spares_idle() const {
  if (rtt_ == Duration::zero()) return !rfc3448_;
  const double reported = receive_rates_.max();
  if (rfc3448_) return reported < 4 * segment() / seconds(rtt_);
  return p_ > 0 ? reported < initial_rate() : x_ < 2 * initial_rate();
}

// RFC 5348; of RFC 3448 before any feedback.
void TfrcSender::cut_rate(Time now) {
  const double half = p_ > 0 ? std::min(receive_rates_.max(), equation_ / 2) : x_ / 2;
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
  apply(std::min(2 * cut, x_), now);
  x_limit_ = LimitedBy::no_feedback;
}

void TfrcSender::restart_timer(Time now) {
  timer_ = now + std::max(4 * rtt_, from_seconds(2 * segment() / x_));
  idle_ = true;
}

void TfrcSender::set_x(double x, LimitedBy by, Time now) {
  x_ = std::clamp(x, least_rate(), kMostRate);
  x_limit_ = by;
  const double rate = guarantee_.rate(state());
  if (rate == rate_) return;
  // The rest of the wait for the next packet is scaled to the new rate.
  if (begun_ && due_.at > now) due_ = {now + from_seconds(seconds(due_.at - now) * rate_ / rate)};
  rate_ = rate;
  gap_ = PacedGap::of(segment(), std::min(rate, kMostRate));
}

Guarantee::State TfrcSender::state() const {
  return {.x = x_, .feedback = feedback_, .loss = p_ > 0, .cut_short = cut_short_};
}

LimitedBy TfrcSender::limited_by() const {
  if (application_ > 0 && application_ < rate_) return LimitedBy::application;
  return rate_ > x_ ? LimitedBy::guarantee : x_limit_;
}

void TfrcSender::read(FlowReading& out) const {
  const auto rate = [](double bytes) { return Rate::bits_per_second(static_cast<std::uint64_t>(8 * bytes)); };
  out.x = rate(x_);
  out.x_recv = rate(receive_rate_);
  out.g = rate(guarantee_.g);
  out.sending = rate(rate_);
  out.loss_event_rate = p_;
  out.rtt = rtt_;
  out.min_rtt = least_rtt_;
  out.timeouts = timeouts_;
  out.limited_by = limited_by();
  out.guarantee_broken = guarantee_.broken(state());
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
