// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/rio.h"

#include <cmath>

namespace surety {

RioRules::RioRules(const RioParams& params)
    : weight_(params.weight),
      curves_{RedCurve(params.in), RedCurve(params.out), RedCurve(params.red.value_or(params.out))},
      decay_per_ns_(-std::log1p(-params.weight) * params.capacity.bytes_per_second() * 1e-9 /
                    static_cast<double>(params.mean_packet.count())),
      ecn_(params.ecn) {
  for (std::size_t n = 0; n < kAtOnce; ++n) {
    runs_[n + 1].weight = next(runs_[n].weight, 1, weight_);
    runs_[n + 1].growth = next(runs_[n].growth, static_cast<std::uint32_t>(n), weight_);
  }
}

}  // namespace surety
