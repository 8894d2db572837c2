// SPDX-License-Identifier: BSD-3-Clause
// A flow with an enhanced token bucket, for tests.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "conditioners/enhanced_token_bucket.h"

namespace surety::test {

constexpr Time kStart = Time(std::chrono::seconds(100));

inline Packet packet(FlowId flow, std::uint16_t length, std::uintptr_t sequence = 0) {
  return {.handle = reinterpret_cast<void*>(sequence), .flow = flow, .length = length};
}

// One flow, its pool and its alpha: the calls that a worker makes.
class Flow {
 public:
  Flow(const EnhancedTokenBucketParams& params, double alpha, std::uint32_t pool = 1000, double free = 1)
      : params_(params), alpha_(Ratio::of(alpha)), clock_(kStart, alpha_, Ratio::of(free)), pool_(pool) {
    EnhancedTokenBucket::reset(state_, params_, kStart, clock_.now());
  }
  EtbVerdict offer(Duration at, std::uint16_t length) {
    advance(at);
    return EnhancedTokenBucket::offer(state_, params_, packet(1, length, ++offered_), now_, clock_, pool_);
  }
  // What leaves, as text: "in out" and so on.
  std::string release(Duration at, std::size_t room = 16) {
    advance(at);
    std::array<Packet, 16> out;
    const auto n =
        EnhancedTokenBucket::release(state_, params_, now_, clock_, pool_, std::span(out).first(room));
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += (i > 0 ? " " : "") + std::string(name(out[i].precedence));
    return text;
  }
  Time next_release() const {
    return EnhancedTokenBucket::next_release(state_, params_, now_, clock_, pool_);
  }
  void set_alpha(Duration at, double alpha) { set_alpha(at, Ratio::of(alpha)); }
  void set_alpha(Duration at, Ratio alpha) {
    advance(at);
    alpha_ = alpha;
    clock_.advance(now_, alpha_);
  }
  bool waiting() const { return state_.held != 0; }
  std::uint32_t out_backlog() const { return state_.out_backlog; }
  const HoldingPool& pool() const { return pool_; }

 private:
  void advance(Duration at) {
    now_ = kStart + at;
    clock_.advance(now_, alpha_);
  }
  EnhancedTokenBucketParams params_;
  Ratio alpha_;
  AlphaClock clock_;
  HoldingPool pool_;
  EnhancedTokenBucketState state_;
  Time now_ = kStart;
  std::uintptr_t offered_ = 0;
};

// A byte per microsecond; in-bucket 2000 bytes, out-bucket 1000.
inline EnhancedTokenBucketParams small(std::uint32_t buffer = 2) {
  return {TokenBucketParams(Rate::bits_per_second(8'000'000), Depth::bytes(2000)),
          TokenBucketParams(Rate::bits_per_second(8'000'000), Depth::bytes(1000)), buffer};
}

}  // namespace surety::test
