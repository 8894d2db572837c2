// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

Value list(std::vector<double> items) {
  return {true, std::move(items)};
}
Value series(double start_s, double sample_s, std::vector<double> items) {
  return {true, std::move(items), start_s, sample_s};
}
template <class... V>
Value call(std::string_view name, const V&... arguments) {
  const auto* f = find_function(name);
  EXPECT_NE(f, nullptr) << name;
  const std::vector<Value> all{arguments...};
  return f ? f->apply(all) : Value{};
}
double number(const Value& v) {
  return v.number();
}
const Value kFour = list({4, 1, 3, 2});

TEST(ValueFunction, ReducesLists) {
  EXPECT_EQ(number(call("mean", kFour)), 2.5);
  EXPECT_EQ(number(call("min", kFour)), 1);
  EXPECT_EQ(number(call("max", kFour)), 4);
  EXPECT_EQ(number(call("sum", kFour)), 10);
  EXPECT_EQ(number(call("count", kFour)), 4);
  EXPECT_EQ(number(call("first", kFour)), 4);
  EXPECT_EQ(number(call("last", kFour)), 2);
  EXPECT_EQ(number(call("sd", list({2, 4, 4, 4, 5, 5, 7, 9}))), std::sqrt(32.0 / 7));
}

TEST(ValueFunction, JainsIndex) {
  EXPECT_EQ(number(call("jain", list({7, 7, 7}))), 1);
  EXPECT_EQ(number(call("jain", list({1, 0, 0, 0}))), 0.25);
  EXPECT_EQ(number(call("jain", kFour)), 100.0 / (4 * 30));
  EXPECT_THAT(number(call("jain", list({0, 0}))), IsNan());
}

TEST(ValueFunction, ANumberIsAListOfOne) {
  EXPECT_EQ(number(call("mean", Value::number(3))), 3);
  EXPECT_EQ(number(call("sd", Value::number(3))), 0);
  EXPECT_EQ(number(call("count", Value::number(3))), 1);
}

TEST(ValueFunction, OfAnEmptyListOnlySumAndCountAreKnown) {
  EXPECT_EQ(number(call("sum", list({}))), 0);
  EXPECT_EQ(number(call("count", list({}))), 0);
  for (const char* name : {"mean", "min", "max", "sd", "jain", "first", "last"})
    EXPECT_THAT(number(call(name, list({}))), IsNan()) << name;
}

TEST(ValueFunction, ANullMakesTheResultNull) {
  const auto v = list({1, kNull, 2});
  for (const char* name : {"mean", "min", "max", "sum", "sd", "jain"})
    EXPECT_THAT(number(call(name, v)), IsNan()) << name;
  for (const char* name : {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "min", "max"})
    EXPECT_THAT(call(name, v, Value::number(5)).items[1], IsNan()) << name;
  EXPECT_THAT(call("known", v).items, ElementsAre(1, 2));
}

TEST(ValueFunction, ArithmeticGoesItemByItem) {
  EXPECT_THAT(call("+", kFour, list({10, 20, 30, 40})).items, ElementsAre(14, 21, 33, 42));
  EXPECT_THAT(call("-", kFour, Value::number(1)).items, ElementsAre(3, 0, 2, 1));
  EXPECT_THAT(call("/", Value::number(12), kFour).items, ElementsAre(3, 12, 4, 6));
  EXPECT_THAT(call("*", Value::number(3), Value::number(4)).items, ElementsAre(12));
  EXPECT_FALSE(call("*", Value::number(3), Value::number(4)).list);
  EXPECT_TRUE(call("*", Value::number(3), list({4})).list);
  EXPECT_THAT(call("negative", kFour).items, ElementsAre(-4, -1, -3, -2));
}

TEST(ValueFunction, ComparisonsCount) {
  EXPECT_THAT(call("<", kFour, Value::number(3)).items, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(call("<=", kFour, Value::number(3)).items, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(call(">", kFour, Value::number(3)).items, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(call(">=", kFour, Value::number(3)).items, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(call("==", kFour, Value::number(3)).items, ElementsAre(0, 0, 1, 0));
}

TEST(ValueFunction, LeastAndGreatestOfSeveral) {
  EXPECT_THAT(call("min", kFour, Value::number(2)).items, ElementsAre(2, 1, 2, 2));
  EXPECT_THAT(call("max", kFour, Value::number(2), list({0, 9, 0, 0})).items, ElementsAre(4, 9, 3, 2));
}

TEST(ValueFunction, MagnitudeAndRoot) {
  EXPECT_THAT(call("abs", list({-1.5, 2})).items, ElementsAre(1.5, 2));
  EXPECT_THAT(call("sqrt", list({9, 2.25})).items, ElementsAre(3, 1.5));
}

TEST(ValueFunction, WhatIsNotFiniteIsNull) {
  EXPECT_THAT(number(call("/", Value::number(1), Value::number(0))), IsNan());
  EXPECT_THAT(number(call("*", Value::number(1e300), Value::number(1e300))), IsNan());
  EXPECT_THAT(number(call("sqrt", Value::number(-1))), IsNan());
}

TEST(ValueFunction, ASeriesKeepsItsTimes) {
  const auto s = series(2, 0.5, {1, 2});
  for (const auto& v :
       {call("*", s, Value::number(8)), call("*", Value::number(8), s), call("+", list({7, 14}), s)}) {
    EXPECT_THAT(v.items, ElementsAre(8, 16));
    EXPECT_EQ(v.start_s, 2);
    EXPECT_EQ(v.sample_s, 0.5);
  }
}

TEST(Window, KeepsTheBinsThatLieInside) {
  const auto s = series(0, 0.1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto w = call("window", s, Value::number(0.3), Value::number(0.7));  // neither is a binary fraction
  EXPECT_THAT(w.items, ElementsAre(3, 4, 5, 6));
  EXPECT_NEAR(w.start_s, 0.3, 1e-12);
  EXPECT_THAT(call("window", s, Value::number(0.25), Value::number(0.75)).items, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(call("window", w, Value::number(0.5), Value::number(9)).items, ElementsAre(5, 6));
  EXPECT_THAT(call("window", s, Value::number(2), Value::number(3)).items, IsEmpty());
}

std::string error_of(std::string_view name, const std::vector<Value>& arguments) {
  try {
    find_function(name)->apply(arguments);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ValueFunction, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of("+", {kFour, list({1, 2})}), "lists of 4 and 2 items do not go together");
  EXPECT_EQ(error_of("window", {kFour, Value::number(0), Value::number(1)}), "window() takes a series");
  EXPECT_EQ(error_of("window", {series(0, 1, {1}), kFour, Value::number(1)}),
            "a list of 4 items where a number is needed");
}

TEST(ValueFunction, OnlyKnownNamesAreFound) {
  EXPECT_EQ(find_function("median"), nullptr);
  EXPECT_EQ(find_function(""), nullptr);
}

}  // namespace
}  // namespace surety::lab
