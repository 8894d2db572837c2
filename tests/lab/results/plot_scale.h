// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of an axis: round ticks, and from values to places.
#pragma once

#include <string>
#include <vector>

namespace surety::lab {

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

  double from() const { return from_; }
  double to() const { return to_; }
  // 0 at from(), 1 at to(), beyond them outside.
  double place(double value) const;
  // At 1, 2 or 5 times a power of ten, from() and to() included where they are such; at most about ten.
  std::vector<Tick> ticks() const;

 private:
  Scale(double from, double to) : from_(from), to_(to) {}
  double from_, to_;
};

}  // namespace surety::lab
