// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/rio.h"

#include <cmath>

namespace surety {

Rio::Rio(const RioParams& params, std::uint64_t seed)
    : weight_(params.weight),
      judges_{Judge{RedCurve(params.in)}, Judge{RedCurve(params.out)}},
      rng_(seed),
      decay_per_ns_(-std::log1p(-params.weight) * params.capacity.bytes_per_second() * 1e-9 /
                    static_cast<double>(params.mean_packet.count())),
      ecn_(params.ecn) {}

}  // namespace surety
