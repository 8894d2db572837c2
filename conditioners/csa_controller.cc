// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/csa_controller.h"

#include <algorithm>

namespace surety {

namespace {
// An unlimited alpha falls to this one at first.
constexpr Ratio kTop = Ratio::of(256);
}  // namespace

void AlphaSearch::fall(Ratio alpha) {
  waited_ = 0;
  if (falling_) return;
  falling_ = true;
  ceiling_ = alpha;
  wait_ = std::min(2 * wait_, kLongestWait);
}

bool AlphaSearch::rise(Ratio alpha, Ratio step) {
  if (alpha + step >= ceiling_ && ++waited_ < wait_) return false;
  if (alpha >= ceiling_) wait_ = std::max(wait_ / 2, 1u);
  ceiling_ = std::max(ceiling_, alpha + step);
  waited_ = 0;
  falling_ = false;
  return true;
}

CsaController::CsaController(const CsaParams& params, Time now, Ratio start)
    : params_(params), alpha_(std::min(params.max, start)), t1_(now), t2_(now) {
  params_.t2 = std::max(params.t2, Duration(1));  // with 0 advance() would never end
  t2_ += params_.t2;
}

void CsaController::restart(Time now) {
  t1_ = now + params_.t1;
  t2_ = now + params_.t2;
}

void CsaController::onset(Time now) {
  restart(now);
}

void CsaController::eighth(Time now) {
  if (now < t1_) return;
  search_.fall(alpha_);
  alpha_ = alpha_ > kTop ? kTop : std::max(alpha_ - step(), params_.min);
  restart(now);
}

Ratio CsaController::step() const {
  if (params_.control != AlphaControl::search) return params_.step;
  return std::max(params_.step, Ratio::millionths(alpha_.millionths() / 20));
}

void CsaController::advance(Time now, bool congested) {
  if (now < t2_) return;
  if (congested && params_.control == AlphaControl::paper) {
    t2_ = kNever;
    return;
  }
  const std::int64_t expiries = (now - t2_) / params_.t2 + 1;
  t2_ += expiries * params_.t2;
  if (congested) return;
  if (params_.control == AlphaControl::search) return search_up(expiries);
  const auto steps = static_cast<std::uint64_t>(std::min<std::int64_t>(expiries, 1 << 30));
  const std::uint64_t raised = alpha_.millionths() + steps * params_.step.millionths();
  const std::uint64_t max = params_.max.millionths();
  alpha_ = Ratio::millionths(static_cast<std::uint32_t>(std::min(raised, max)));
}

void CsaController::set_max(Ratio max) {
  params_.max = max;
  alpha_ = std::min(alpha_, max);
}

void CsaController::search_up(std::int64_t expiries) {
  for (; expiries > 0 && alpha_ < params_.max; --expiries) {
    if (!search_.rise(alpha_, step())) continue;
    alpha_ = alpha_ >= kTop ? params_.max : std::min({alpha_ + step(), params_.max, kTop});
  }
}

void AlphaClock::advance(Time now, Ratio alpha) {
  if (alpha != alpha_) {
    alpha_ = alpha;
    pace_ = alpha == Ratio::unlimited() ? 1'000'000 : alpha.millionths();
    inverse_ = pace_ > 0 ? 1.0 / pace_ : 0;
  }
  if (now <= real_) return;
  const auto elapsed = static_cast<std::uint64_t>((now - real_).count());
  real_ = now;
  if (alpha < free_) below_ = now;
  // elapsed * alpha in two parts, so that no product leaves 64 bits after however long an idle time.
  constexpr std::uint64_t kMillion = 1'000'000;
  const std::uint64_t part = elapsed % kMillion * pace_ + remainder_;
  const std::uint64_t gain = elapsed / kMillion * pace_ + part / kMillion;
  remainder_ = part % kMillion;
  virtual_ += Duration(static_cast<std::int64_t>(gain));
}

Duration AlphaClock::real_wait(Duration virtual_wait) const {
  if (virtual_wait <= Duration::zero()) return Duration::zero();
  if (inverse_ == 0) return Duration::max();
  const auto missing = static_cast<__int128>(virtual_wait.count()) * 1'000'000 - remainder_;
  // Rounded up like TokenBucket::wait(): the factor outweighs the roundings of the doubles.
  const double estimate = static_cast<double>(missing) * inverse_ * (1 + 1e-15);
  if (estimate >= 0x1p63) return Duration::max();
  const auto whole = static_cast<std::int64_t>(estimate);
  return Duration(whole + (static_cast<__int128>(whole) * pace_ < missing ? 1 : 0));
}

Time AlphaClock::when(Time virtual_time) const {
  if (alpha_ == Ratio::unlimited()) return real_;
  if (virtual_time == kNever) return kNever;
  const Duration needed = real_wait(virtual_time - virtual_);
  return needed < kNever - real_ ? real_ + needed : kNever;
}

}  // namespace surety
