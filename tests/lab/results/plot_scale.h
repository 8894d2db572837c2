// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of an axis: round ticks, and from values to places.
//
// Only additions, multiplications and divisions: the same places on every machine, which the C library's
// logarithm does not promise.
#pragma once

#include <string>
#include <vector>

namespace surety::lab {

// The logarithm to base 10 of a positive, finite number, to about 1e-15.
double decimal_log(double x);

struct Tick {
  double value = 0;
  std::string label;
};

class Scale {
 public:
  // From `from` to `to` at the values given; where these do not differ, the axis shows some room around them.
  static Scale linear(double from, double to);
  // linear() with both ends moved outwards to the ticks next to them.
  static Scale rounded_out(double from, double to);
  // A logarithmic axis, for positive values.
  static Scale logarithmic(double from, double to);

  double from() const { return from_; }
  double to() const { return to_; }
  // 0 at from(), 1 at to(), beyond them outside.
  double place(double value) const;
  // At 1, 2 or 5 times a power of ten, from() and to() included where they are such; at most about ten.
  std::vector<Tick> ticks() const;

 private:
  Scale(double from, double to, bool log) : from_(from), to_(to), log_(log) {}
  std::vector<Tick> linear_ticks() const;
  std::vector<Tick> log_ticks() const;
  double from_, to_;
  bool log_;
};

}  // namespace surety::lab
