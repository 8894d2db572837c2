// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/meter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace surety {

namespace {

struct Refill {  // `bytes` every `ticks`: nanoseconds
  std::uint64_t bytes = 0, ticks = 1;
};

constexpr double kGoodEnough = 1e-6;
constexpr std::uint64_t kLumpsPerBucket = 16;
constexpr std::uint64_t kMaxLump = 8192;

// The smallest lump that makes the rate right to kGoodEnough, or the one that comes closest to it.
Refill refill(Rate rate, Bytes smaller_bucket) {
  const std::uint64_t bits = rate.bits_per_second();
  if (bits == 0) return {};
  const double exact = 8e9 / static_cast<double>(bits);  // ticks per byte
  // Several lumps must be possible even where a tick is worth more than a byte.
  const auto least = kLumpsPerBucket * (1 + static_cast<std::uint64_t>(1 / exact));
  const std::uint64_t most = std::max(least, std::min(smaller_bucket.count() / kLumpsPerBucket, kMaxLump));
  Refill best;
  double best_error = 1e300;
  for (std::uint64_t bytes = 1; bytes <= most && best_error > kGoodEnough; ++bytes) {
    const double wanted = exact * static_cast<double>(bytes);
    const double ticks = std::max(1.0, std::round(wanted));
    const double error = std::abs(wanted - ticks) / ticks;
    if (error < best_error) {
      best_error = error;
      best = {bytes, static_cast<std::uint64_t>(ticks)};
    }
  }
  return best;
}

// The smaller of the buckets that can hold anything.
Bytes smaller(Bytes a, Bytes b) {
  return std::min(a, b) == Bytes(0) ? std::max(a, b) : std::min(a, b);
}

Rate excess(const config::TrTcm& p) {
  const std::uint64_t cir = p.cir.bits_per_second();
  return Rate::bits_per_second(std::max(p.pir.bits_per_second(), cir) - cir);
}

std::uint64_t ticks(Time now) {
  return static_cast<std::uint64_t>(now.time_since_epoch().count());
}

// A run-time state, as rte_meter names its words, from buckets at `time` 0: long ago for the first packet,
// and they are full.
TokenBucket full(const Meter::Bucket& b) {
  TokenBucket bucket;
  bucket.reset(b.params, Time{});
  return bucket;
}
rte_meter_srtcm full(const rte_meter_srtcm_profile& p) {
  return {0, p.cbs, p.ebs};
}
rte_meter_trtcm full(const rte_meter_trtcm_profile& p) {
  return {0, 0, p.cbs, p.pbs};
}
rte_meter_trtcm_rfc4115 full(const rte_meter_trtcm_rfc4115_profile& p) {
  return {0, 0, p.cbs, p.ebs};
}

Color run(TokenBucket& bucket, const Meter::Bucket& b, Time now, std::uint32_t length, rte_color) {
  bucket.fill(b.params, now);
  return bucket.take(b.params, b.params.cost(length)) ? Color::green : b.beyond;
}
// The profiles are only read, though not declared so.
template <class Profile>
Profile* readable(const Profile& p) {
  return const_cast<Profile*>(&p);
}
rte_color run(rte_meter_srtcm& m, const rte_meter_srtcm_profile& p, Time now, std::uint32_t length,
              rte_color came) {
  return rte_meter_srtcm_color_aware_check(&m, readable(p), ticks(now), length, came);
}
rte_color run(rte_meter_trtcm& m, const rte_meter_trtcm_profile& p, Time now, std::uint32_t length,
              rte_color came) {
  return rte_meter_trtcm_color_aware_check(&m, readable(p), ticks(now), length, came);
}
rte_color run(rte_meter_trtcm_rfc4115& m, const rte_meter_trtcm_rfc4115_profile& p, Time now,
              std::uint32_t length, rte_color came) {
  return rte_meter_trtcm_rfc4115_color_aware_check(&m, readable(p), ticks(now), length, came);
}

static_assert(static_cast<int>(Color::green) == RTE_COLOR_GREEN &&
              static_cast<int>(Color::yellow) == RTE_COLOR_YELLOW &&
              static_cast<int>(Color::red) == RTE_COLOR_RED);

}  // namespace

Meter::Meter(const config::TokenBucketMarker& params) : profile_(Bucket{params.bucket, Color::yellow}) {}
Meter::Meter(const config::Police& params) : profile_(Bucket{params.bucket, Color::red}) {}

Meter::Meter(const config::SrTcm& params) {
  const Refill c = refill(params.cir, smaller(params.cbs, params.ebs));
  profile_ = rte_meter_srtcm_profile{params.cbs.count(), params.ebs.count(), c.ticks, c.bytes};
}

Meter::Meter(const config::TrTcm& params) {
  const Bytes bucket = smaller(params.cbs, params.pbs);
  const Refill c = refill(params.cir, bucket);
  if (params.rfc4115) {
    const Refill e = refill(excess(params), bucket);
    profile_ = rte_meter_trtcm_rfc4115_profile{
        params.cbs.count(), params.pbs.count(), c.ticks, c.bytes, e.ticks, e.bytes};
  } else {
    const Refill p = refill(params.pir, bucket);
    profile_ =
        rte_meter_trtcm_profile{params.cbs.count(), params.pbs.count(), c.ticks, c.bytes, p.ticks, p.bytes};
  }
}

namespace {

// A state lives as the words of a flow's record.
template <class Live>
Live live_of(const Meter::State& state) {
  static_assert(sizeof(Live) <= sizeof(Meter::State));
  Live live;
  std::memcpy(static_cast<void*>(&live), state, sizeof(live));
  return live;
}
template <class Live>
void keep(const Live& live, Meter::State& state) {
  std::memcpy(state, &live, sizeof(live));
}

}  // namespace

void Meter::reset(State& state) const {
  std::visit([&](const auto& profile) { keep(full(profile), state); }, profile_);
}

Color Meter::check(State& state, Time now, std::uint32_t length, Color came) const {
  return std::visit(
      [&](const auto& profile) {
        auto live = live_of<decltype(full(profile))>(state);
        const auto color = static_cast<Color>(run(live, profile, now, length, static_cast<rte_color>(came)));
        keep(live, state);
        return color;
      },
      profile_);
}

namespace {

using Levels = std::array<Meter::Level, 2>;

Meter::Level level(std::uint64_t tokens, std::uint64_t depth) {
  return {static_cast<double>(tokens), static_cast<double>(depth)};
}
Levels levels_of(TokenBucket bucket, const Meter::Bucket& b, Time now) {
  bucket.fill(b.params, now);
  constexpr auto byte = static_cast<double>(kCreditPerByte);
  return {{{static_cast<double>(bucket.credit()) / byte, static_cast<double>(b.params.depth()) / byte}, {}}};
}
// A packet of no bytes has them filled.
Levels levels_of(rte_meter_srtcm m, const rte_meter_srtcm_profile& p, Time now) {
  run(m, p, now, 0, RTE_COLOR_GREEN);
  return {{level(m.tc, p.cbs), level(m.te, p.ebs)}};
}
Levels levels_of(rte_meter_trtcm m, const rte_meter_trtcm_profile& p, Time now) {
  run(m, p, now, 0, RTE_COLOR_GREEN);
  return {{level(m.tc, p.cbs), level(m.tp, p.pbs)}};
}
Levels levels_of(rte_meter_trtcm_rfc4115 m, const rte_meter_trtcm_rfc4115_profile& p, Time now) {
  run(m, p, now, 0, RTE_COLOR_GREEN);
  return {{level(m.tc, p.cbs), level(m.te, p.ebs)}};
}

}  // namespace

std::array<Meter::Level, 2> Meter::levels(const State& state, Time now) const {
  return std::visit(
      [&](const auto& profile) { return levels_of(live_of<decltype(full(profile))>(state), profile, now); },
      profile_);
}

}  // namespace surety
