// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/ard_marker.h"

#include <algorithm>

namespace surety {

namespace {
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

// rate * part / all, rounded down.
Rate scaled(Rate rate, std::uint64_t part, std::uint64_t all) {
  const auto product = static_cast<unsigned __int128>(rate.bits_per_second()) * part;
  return Rate::bits_per_second(static_cast<std::uint64_t>(product / all));
}
}  // namespace

ArdMarker::ArdMarker(const ArdParams& params, Time now, std::uint64_t seed)
    : params_(params), drop_(params.drop.value()), rng_(seed) {
  params_.interval = std::max(params.interval, Duration(1));  // an interval of 0 would never end
  set_tpr(params.tpr_max);
  bucket_.reset(bucket_params_, now);
  const TokenBucketParams threshold(Rate{}, params.threshold, params.tokens, params.nominal_packet);
  threshold_ = threshold.depth();
  remark_slope_ = threshold_ > 0 ? params.remark.value() / static_cast<double>(threshold_) : 0;
  interval_end_ = now + params_.interval;
}

void ArdMarker::set_tpr(Rate tpr) {
  bucket_params_ = TokenBucketParams(tpr, params_.bucket, params_.tokens, params_.nominal_packet);
}

// lambda_in, rounded up.
Rate ArdMarker::measured(std::uint64_t bytes) const {
  const auto interval = static_cast<std::uint64_t>(params_.interval.count());
  const auto bits = static_cast<unsigned __int128>(bytes) * 8 * kNanosecondsPerSecond;
  return Rate::bits_per_second(static_cast<std::uint64_t>((bits + interval - 1) / interval));
}

void ArdMarker::end_intervals(Time now) {
  bucket_.fill(bucket_params_, interval_end_);  // up to here at the rate that held up to here
  const std::uint64_t in = in_.bytes();
  const std::uint64_t all = in + out_.bytes();
  if (all > 0) set_tpr(std::max(scaled(params_.tpr_max, in, all), std::min(measured(in), params_.tpr_max)));
  in_.close(params_.interval);
  out_.close(params_.interval);
  interval_end_ += params_.interval;
  if (now < interval_end_) return;
  // Whole intervals without traffic: they leave the TPR as it is, and measured nothing.
  in_.close(params_.interval);
  out_.close(params_.interval);
  interval_end_ += ((now - interval_end_) / params_.interval + 1) * params_.interval;
}

void ArdMarker::adopt(const ArdMarker& other, Time now) {
  advance(now);
  bucket_.fill(bucket_params_, now);  // up to here at the old rate
  const Rate old_max = params_.tpr_max, max = other.params_.tpr_max;
  const bool restart = params_.interval != other.params_.interval;
  params_ = other.params_;
  set_tpr(old_max > Rate{} ? scaled(max, tpr().bits_per_second(), old_max.bits_per_second()) : max);
  bucket_.charge(std::max<Credit>(bucket_.credit() - bucket_params_.depth(), 0));
  threshold_ = other.threshold_;
  remark_slope_ = other.remark_slope_;
  drop_ = other.drop_;
  if (!restart) return;
  in_.restart();
  out_.restart();
  interval_end_ = now + params_.interval;
}

ArdVerdict ArdMarker::offer(Precedence precedence, std::uint32_t length, Time now) {
  advance(now);
  if (precedence != Precedence::in) {
    out_.count(length);
    return ArdVerdict::pass;
  }
  in_.count(length);
  bucket_.fill(bucket_params_, now);
  const Credit cost = bucket_params_.cost(length);
  const Credit tokens = bucket_.credit();
  const bool enough = bucket_.can_take(bucket_params_, cost);
  if (enough && tokens >= threshold_) [[likely]] {
    bucket_.take(bucket_params_, cost);
    return ArdVerdict::pass;
  }
  if (rng_.uniform() < drop_) return ArdVerdict::drop;
  if (!enough || rng_.uniform() < remark_probability(tokens).value()) return ArdVerdict::remark;
  bucket_.take(bucket_params_, cost);
  return ArdVerdict::pass;
}

bool ArdMarker::pass(const BurstTally& in, const BurstTally& out, Time now) {
  advance(now);
  if (in.packets > 0) {
    bucket_.fill(bucket_params_, now);
    const Credit cost = bucket_params_.cost(in.bytes, in.packets);
    // T_rd tokens are left behind, so each of them finds as many, and those for itself.
    if (cost > bucket_.credit() || bucket_.credit() - cost < threshold_) return false;
    bucket_.charge(cost);
  }
  in_.count(in.bytes);
  out_.count(out.bytes);
  return true;
}

}  // namespace surety
