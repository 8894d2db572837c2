// SPDX-License-Identifier: BSD-3-Clause
// Three-colour meters, colour-blind: srTCM (RFC 2697) and trTCM (RFC 2698, RFC 4115), by rte_meter.
//
// rte_meter's checks are used as they are; its profiles are not: those truncate the cycles per byte (the rate
// is up to 1 % too high) and depend on the CPU's frequency. Here a profile is a fraction bytes/ticks of any
// clock, so that a lab run is the same on every machine. The rate is right to 10^-6 where the buckets are
// deep enough for it, else as right as lumps of 1/16 of the smaller bucket (at most 8 kB) allow: to 10^-3 up
// to 1 Gbit/s with buckets of one MTU.
#pragma once

#include <rte_meter.h>

#include <cstdint>
#include <variant>

#include "conditioners/units.h"
#include "config/config.h"

namespace surety {

enum class Color : std::uint8_t { green, yellow, red };

class Meter {
 public:
  using State = std::uint64_t[4];  // ConditionerState::meter

  Meter(const config::SrTcm& params, std::uint64_t ticks_per_second);
  // RFC 4115: the excess rate is what `pir` has above `cir`, the excess bucket is `pbs` deep.
  Meter(const config::TrTcm& params, std::uint64_t ticks_per_second);

  // Whether a state of one goes on with the other.
  bool same_kind(const Meter& other) const { return profile_.index() == other.profile_.index(); }

  // Both buckets full.
  void reset(State& state) const;
  // The colour of a packet of `length` bytes (RFC: of the IP packet); `ticks` never go back.
  Color check(State& state, std::uint64_t ticks, std::uint32_t length) const;

 private:
  std::variant<rte_meter_srtcm_profile, rte_meter_trtcm_profile, rte_meter_trtcm_rfc4115_profile> profile_;
};

}  // namespace surety
