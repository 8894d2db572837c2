// SPDX-License-Identifier: BSD-3-Clause
// The RED dropping probability over an average queue length (Floyd and Jacobson 1993; aqm/README.md).
//
// Guarantees: avg <= min: accepted. min < avg <= max: p_b = pmax (avg - min)/(max - min), in (0, pmax]. avg >
// max: forced. Lengths in packets; min <= max. min = max is a step: there is no early drop.
#pragma once

#include "aqm/params.h"

namespace surety {

class RedCurve {
 public:
  RedCurve() = default;
  explicit RedCurve(const RedParams& p)
      : min_(p.min), max_(p.max), slope_(p.max > p.min ? p.pmax.value() / (p.max - p.min) : 0) {}
  bool accepts(double average) const { return average <= min_; }
  bool forces(double average) const { return average > max_; }
  // p_b, for min < average <= max.
  double probability(double average) const { return slope_ * (average - min_); }
  double min() const { return min_; }

 private:
  double min_ = 0, max_ = 0, slope_ = 0;
};

}  // namespace surety
