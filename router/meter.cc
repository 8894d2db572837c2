// SPDX-License-Identifier: BSD-3-Clause
#include "router/meter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace surety {

namespace {

struct Refill {  // `bytes` every `ticks`
  std::uint64_t bytes = 0, ticks = 1;
};

constexpr double kGoodEnough = 1e-6;
constexpr std::uint64_t kLumpsPerBucket = 16;
constexpr std::uint64_t kMaxLump = 8192;

// The smallest lump that makes the rate right to kGoodEnough, or the one that comes closest to it.
Refill refill(Rate rate, std::uint64_t ticks_per_second, Bytes smaller_bucket) {
  const std::uint64_t bits = rate.bits_per_second();
  if (bits == 0) return {};
  const double exact =
      static_cast<double>(8 * ticks_per_second) / static_cast<double>(bits);  // ticks per byte
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

// Of the buckets that can hold anything.
Bytes smaller(Bytes a, Bytes b) {
  return std::min(a, b) == Bytes(0) ? std::max(a, b) : std::min(a, b);
}

Rate excess(const config::TrTcm& p) {
  const std::uint64_t cir = p.cir.bits_per_second();
  return Rate::bits_per_second(std::max(p.pir.bits_per_second(), cir) - cir);
}

// A run-time state, as rte_meter names its words, from buckets at `time` 0: long ago for the first packet,
// and they are full.
rte_meter_srtcm full(const rte_meter_srtcm_profile& p) {
  return {0, p.cbs, p.ebs};
}
rte_meter_trtcm full(const rte_meter_trtcm_profile& p) {
  return {0, 0, p.cbs, p.pbs};
}
rte_meter_trtcm_rfc4115 full(const rte_meter_trtcm_rfc4115_profile& p) {
  return {0, 0, p.cbs, p.ebs};
}

// The profiles are only read, though not declared so.
template <class Profile>
Profile* readable(const Profile& p) {
  return const_cast<Profile*>(&p);
}
rte_color run(rte_meter_srtcm& m, const rte_meter_srtcm_profile& p, std::uint64_t ticks,
              std::uint32_t length) {
  return rte_meter_srtcm_color_blind_check(&m, readable(p), ticks, length);
}
rte_color run(rte_meter_trtcm& m, const rte_meter_trtcm_profile& p, std::uint64_t ticks,
              std::uint32_t length) {
  return rte_meter_trtcm_color_blind_check(&m, readable(p), ticks, length);
}
rte_color run(rte_meter_trtcm_rfc4115& m, const rte_meter_trtcm_rfc4115_profile& p, std::uint64_t ticks,
              std::uint32_t length) {
  return rte_meter_trtcm_rfc4115_color_blind_check(&m, readable(p), ticks, length);
}

static_assert(static_cast<int>(Color::green) == RTE_COLOR_GREEN &&
              static_cast<int>(Color::yellow) == RTE_COLOR_YELLOW &&
              static_cast<int>(Color::red) == RTE_COLOR_RED);

}  // namespace

Meter::Meter(const config::SrTcm& params, std::uint64_t ticks_per_second) {
  const Refill c = refill(params.cir, ticks_per_second, smaller(params.cbs, params.ebs));
  profile_ = rte_meter_srtcm_profile{params.cbs.count(), params.ebs.count(), c.ticks, c.bytes};
}

Meter::Meter(const config::TrTcm& params, std::uint64_t ticks_per_second) {
  const Bytes bucket = smaller(params.cbs, params.pbs);
  const Refill c = refill(params.cir, ticks_per_second, bucket);
  if (params.rfc4115) {
    const Refill e = refill(excess(params), ticks_per_second, bucket);
    profile_ = rte_meter_trtcm_rfc4115_profile{
        params.cbs.count(), params.pbs.count(), c.ticks, c.bytes, e.ticks, e.bytes};
  } else {
    const Refill p = refill(params.pir, ticks_per_second, bucket);
    profile_ =
        rte_meter_trtcm_profile{params.cbs.count(), params.pbs.count(), c.ticks, c.bytes, p.ticks, p.bytes};
  }
}

void Meter::reset(State& state) const {
  std::visit(
      [&](const auto& profile) {
        const auto m = full(profile);
        static_assert(sizeof(m) <= sizeof(State));
        std::memcpy(state, &m, sizeof(m));
      },
      profile_);
}

Color Meter::check(State& state, std::uint64_t ticks, std::uint32_t length) const {
  return std::visit(
      [&](const auto& profile) {
        decltype(full(profile)) m;
        std::memcpy(&m, state, sizeof(m));
        const rte_color color = run(m, profile, ticks, length);
        std::memcpy(state, &m, sizeof(m));
        return static_cast<Color>(color);
      },
      profile_);
}

}  // namespace surety
