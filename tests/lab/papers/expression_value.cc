// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/lab/results/statistics.h"

namespace surety::lab {
namespace {

using Arguments = std::span<const Value>;
using Items = std::span<const double>;

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

double finite(double x) {
  return std::isfinite(x) ? x : kNull;
}

bool any_null(Items items) {
  return std::any_of(items.begin(), items.end(), [](double x) { return std::isnan(x); });
}

template <double (*F)(Items)>
Value reduce(Arguments a) {
  return Value::number(finite(F(a[0].items)));
}

template <double (*F)(double)>
Value each(Arguments a) {
  Value out = a[0];
  for (double& x : out.items) x = finite(F(x));
  return out;
}

template <double (*F)(double, double)>
Value pairs(Arguments arguments) {
  const Value &a = arguments[0], &b = arguments[1];
  if (a.list && b.list && a.items.size() != b.items.size())
    throw ValueError(
        fmt::format("lists of {} and {} items do not go together", a.items.size(), b.items.size()));
  Value out = a.list && (a.sample_s > 0 || !b.list) ? a : b;  // a series stays one
  for (std::size_t i = 0; i < out.items.size(); ++i) {
    const double x = a.items[a.list ? i : 0], y = b.items[b.list ? i : 0];
    out.items[i] = std::isnan(x) || std::isnan(y) ? kNull : finite(F(x, y));
  }
  return out;
}

double least(double x, double y) {
  return std::min(x, y);
}
double greatest(double x, double y) {
  return std::max(x, y);
}
template <class Compare>
double holds(double x, double y) {
  return Compare{}(x, y) ? 1 : 0;
}
template <class Operation>
double arithmetic(double x, double y) {
  return Operation{}(x, y);
}

double least_of(Items x) {
  return x.empty() || any_null(x) ? kNull : *std::min_element(x.begin(), x.end());
}
double greatest_of(Items x) {
  return x.empty() || any_null(x) ? kNull : *std::max_element(x.begin(), x.end());
}
double count_of(Items x) {
  return static_cast<double>(x.size());
}
double sum_of(Items x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}
double mean_of(Items x) {
  return x.empty() ? kNull : sum_of(x) / static_cast<double>(x.size());
}
double sd_of(Items x) {
  return x.empty() || any_null(x) ? kNull : summary_of(x).sd;
}
// 0 / 0 where all are 0 or there are none: null.
double jain_of(Items x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  const double sum = sum_of(x);
  return sum * sum / (count_of(x) * squares);
}

double first_of(Items x) {
  return x.empty() ? kNull : x.front();
}
double last_of(Items x) {
  return x.empty() ? kNull : x.back();
}
double magnitude(double x) {
  return std::fabs(x);
}
double root(double x) {
  return std::sqrt(x);
}

// One argument: of its items; several: item by item.
template <double (*Of)(Items), double (*Of2)(double, double)>
Value extreme(Arguments a) {
  if (a.size() == 1) return reduce<Of>(a);
  Value out = a[0];
  for (const Value& next : a.subspan(1)) out = pairs<Of2>(std::array{out, next});
  return out;
}

Value negative(Arguments a) {
  return pairs<arithmetic<std::minus<>>>(std::array{Value::number(0), a[0]});
}

Value known(Arguments a) {
  Value out{true, {}};
  std::copy_if(a[0].items.begin(), a[0].items.end(), std::back_inserter(out.items),
               [](double x) { return !std::isnan(x); });
  return out;
}

Value window(Arguments a) {
  const Value& series = a[0];
  const double from = a[1].number(), to = a[2].number();
  if (series.sample_s <= 0) throw ValueError("window() takes a series");
  constexpr double kRounding = 1e-6;  // of a bin: its edge may not be a binary fraction
  Value out{true, {}, 0, series.sample_s};
  for (std::size_t i = 0; i < series.items.size(); ++i) {
    const double begin = series.start_s + static_cast<double>(i) * series.sample_s;
    if (begin < from - kRounding * series.sample_s) continue;
    if (begin + series.sample_s > to + kRounding * series.sample_s) break;
    if (out.items.empty()) out.start_s = begin;
    out.items.push_back(series.items[i]);
  }
  return out;
}

constexpr std::size_t kMany = 16;
constexpr std::array kFunctions{
    ValueFunction{"mean", 1, 1, reduce<mean_of>},
    ValueFunction{"min", 1, kMany, extreme<least_of, least>},
    ValueFunction{"max", 1, kMany, extreme<greatest_of, greatest>},
    ValueFunction{"sum", 1, 1, reduce<sum_of>},
    ValueFunction{"count", 1, 1, reduce<count_of>},
    ValueFunction{"sd", 1, 1, reduce<sd_of>},
    ValueFunction{"jain", 1, 1, reduce<jain_of>},
    ValueFunction{"first", 1, 1, reduce<first_of>},
    ValueFunction{"last", 1, 1, reduce<last_of>},
    ValueFunction{"abs", 1, 1, each<magnitude>},
    ValueFunction{"sqrt", 1, 1, each<root>},
    ValueFunction{"known", 1, 1, known},
    ValueFunction{"window", 3, 3, window},
    ValueFunction{"negative", 1, 1, negative},
    ValueFunction{"+", 2, 2, pairs<arithmetic<std::plus<>>>},
    ValueFunction{"-", 2, 2, pairs<arithmetic<std::minus<>>>},
    ValueFunction{"*", 2, 2, pairs<arithmetic<std::multiplies<>>>},
    ValueFunction{"/", 2, 2, pairs<arithmetic<std::divides<>>>},
    ValueFunction{"<", 2, 2, pairs<holds<std::less<>>>},
    ValueFunction{"<=", 2, 2, pairs<holds<std::less_equal<>>>},
    ValueFunction{">", 2, 2, pairs<holds<std::greater<>>>},
    ValueFunction{">=", 2, 2, pairs<holds<std::greater_equal<>>>},
    ValueFunction{"==", 2, 2, pairs<holds<std::equal_to<>>>},
};

}  // namespace

double Value::number() const {
  if (list) throw ValueError(fmt::format("a list of {} items where a number is needed", items.size()));
  return items.front();
}

std::span<const ValueFunction> functions() {
  return kFunctions;
}

const ValueFunction* find_function(std::string_view name) {
  const auto it = std::find_if(kFunctions.begin(), kFunctions.end(),
                               [&](const ValueFunction& f) { return f.name == name; });
  return it == kFunctions.end() ? nullptr : &*it;
}

}  // namespace surety::lab
