// SPDX-License-Identifier: BSD-3-Clause
// The values that a row may take: `630 - 700`, `>= 770`, `> 15`, `<= 0.4`, `< 120`, `= 6244`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace surety::lab {

class Band {
 public:
  // None: not a band.
  static std::optional<Band> parse(std::string_view text);

  bool holds(double x) const;                        // false for NaN
  const std::string& text() const { return text_; }  // as written

 private:
  std::optional<double> low_, high_;
  bool open_ = false;  // the bound itself is outside
  std::string text_;
};

}  // namespace surety::lab
