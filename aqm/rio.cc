// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/rio.h"

#include <cmath>

namespace surety {

namespace {
// The curve on the averages of RioState, which lack the arriving packet.
RedCurve curve_of(RedParams red, const RioParams& params) {
  if (params.count_arriving) --red.min, --red.max;
  return RedCurve(red);
}
}  // namespace

RioRules::RioRules(const RioParams& params)
    : weight_(params.weight),
      curves_{curve_of(params.in, params), curve_of(params.out, params),
              curve_of(params.red.value_or(params.out), params)},
      decay_per_ns_(params.idle_decay ? -std::log1p(-params.weight) * params.capacity.bytes_per_second() *
                                            1e-9 / static_cast<double>(params.mean_packet.count())
                                      : 0),
      ecn_(params.ecn),
      decoupled_(params.decoupled),
      arriving_(params.count_arriving) {
  for (std::size_t n = 0; n < kAtOnce; ++n) {
    runs_[n + 1].weight = next(runs_[n].weight, 1, weight_);
    runs_[n + 1].growth = next(runs_[n].growth, static_cast<std::uint32_t>(n), weight_);
  }
}

}  // namespace surety
