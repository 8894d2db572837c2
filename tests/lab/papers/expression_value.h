// SPDX-License-Identifier: BSD-3-Clause
// What an expression gives: a number or a list of numbers, any of them null.
#pragma once

#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace surety::lab {

struct Value {
  bool list = false;
  std::vector<double> items;  // one, if not a list; NaN: null
  // Of a series: item i is of the bin from start_s + i * sample_s, sample_s long. sample_s is 0 of all else.
  double start_s = 0, sample_s = 0;

  static Value number(double x) { return {false, {x}}; }
  // The number that it is. Throws ValueError for a list.
  double number() const;
};

// One sentence: what does not fit together.
struct ValueError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Functions and operators, which are functions called `+`, `<=`, ...: a null among
// what is counted makes the result null, and so does a result that is not finite.
// Of two lists the items are taken in pairs; a number goes with each.
struct ValueFunction {
  std::string_view name;
  std::size_t least, most;                           // arguments
  Value (*apply)(std::span<const Value> arguments);  // throws ValueError
};

// mean min max sum count sd (n - 1) jain (R. Jain's index of fairness: (sum x)^2 / (n sum x^2)) first last:
// of a list; min and max of several arguments: item by item; abs sqrt; known: without nulls; window(series,
// from, to): the bins inside, in seconds. Null: unknown name.
const ValueFunction* find_function(std::string_view name);
std::span<const ValueFunction> functions();

}  // namespace surety::lab
