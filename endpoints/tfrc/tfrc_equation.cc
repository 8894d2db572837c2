// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc_equation.h"

#include <cmath>
#include <limits>

namespace surety::endpoints {
namespace {

// s / (R X): what the equation's denominator is in units of R, with b = 1 and t_RTO = 4 R.
double packets_denominator(double p) {
  return std::sqrt(p * (2.0 / 3)) + 12 * std::sqrt(p * (3.0 / 8)) * p * (1 + 32 * p * p);
}

constexpr double kLeast = 1e-8;

}  // namespace

double tfrc_throughput(Bytes segment, Duration rtt, double p) {
  if (p <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(segment.count()) / (seconds(rtt) * packets_denominator(p));
}

double tfrc_loss_event_rate(Bytes segment, Duration rtt, double rate) {
  const double wanted = static_cast<double>(segment.count()) / (seconds(rtt) * rate);
  if (!(wanted > packets_denominator(kLeast))) return kLeast;
  if (wanted >= packets_denominator(1)) return 1;
  double low = kLeast, high = 1;
  // Halving the exponent's range: p spans eight decades, and the error is relative.
  while (high > low * (1 + 1e-9)) {
    const double middle = std::sqrt(low * high);
    (packets_denominator(middle) < wanted ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace surety::endpoints
