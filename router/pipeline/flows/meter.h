// SPDX-License-Identifier: BSD-3-Clause
// The conditioners that give a packet its colour at once, by its length and the time: a token bucket, which
// is exact, and by rte_meter srTCM (RFC 2697) and trTCM (RFC 2698, RFC 4115), in the colour-aware mode: that
// of a green packet is the colour-blind mode, in all three.
//
// rte_meter's checks are used as they are; its profiles are not: those truncate the cycles per byte (the rate
// is up to 1 % too high) and depend on the CPU's frequency. Here a profile is a fraction bytes/nanoseconds,
// so that a lab run is the same on every machine. The rate is right to 10^-6 where the buckets are deep
// enough for it, else as right as lumps of 1/16 of the smaller bucket (at most 8 kB) allow: to 10^-3 up to
// 1 Gbit/s with buckets of one MTU.
#pragma once

#include <rte_meter.h>

#include <array>
#include <cstdint>
#include <variant>

#include "conditioners/token_bucket.h"
#include "conditioners/units.h"
#include "config/config.h"

namespace surety {

enum class Color : std::uint8_t { green, yellow, red };

class Meter {
 public:
  using State = std::uint64_t[4];  // ConditionerState::meter
  struct Bucket {
    TokenBucketParams params;
    Color beyond;
  };

  explicit Meter(const config::TokenBucketMarker& params);  // green, else yellow
  explicit Meter(const config::Police& params);             // green, else red
  explicit Meter(const config::SrTcm& params);
  // RFC 4115: the excess rate is what `pir` has above `cir`, the excess bucket is `pbs` deep.
  explicit Meter(const config::TrTcm& params);

  // True if a state of one meter is valid for the other.
  bool same_kind(const Meter& other) const { return profile_.index() == other.profile_.index(); }

  // Fills all buckets.
  void reset(State& state) const;
  // The colour of a packet of `length` bytes (RFC: of the IP packet); `now` never decreases. `came`: the
  // packet's colour before, for srTCM and trTCM, which give it no better one.
  Color check(State& state, Time now, std::uint32_t length, Color came = Color::green) const;

  // Bytes in its buckets; the first is that of green. Depth 0: there is no such bucket.
  struct Level {
    double tokens = 0, depth = 0;
  };
  std::array<Level, 2> levels(const State& state, Time now) const;

 private:
  std::variant<Bucket, rte_meter_srtcm_profile, rte_meter_trtcm_profile, rte_meter_trtcm_rfc4115_profile>
      profile_;
};

}  // namespace surety
