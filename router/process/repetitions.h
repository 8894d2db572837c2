// SPDX-License-Identifier: BSD-3-Clause
// The repetitions of a measurement, as benchmarks report them: by their median, which a disturbance of the
// machine does not move, beside the least and the greatest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace surety {

class Repetitions {
 public:
  void add(double value) { values_.push_back(value); }
  double last() const { return values_.back(); }

  // There is at least one; of two the greater.
  double median() const {
    auto v = values_;
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }
  double least() const { return std::ranges::min(values_); }
  double greatest() const { return std::ranges::max(values_); }

  // The keys of a row of cycles per packet.
  template <class Json>
  void write(Json& row) const {
    row["cycles_per_packet"] = median();
    row["min"] = least();
    row["max"] = greatest();
  }

 private:
  std::vector<double> values_;
};

}  // namespace surety
