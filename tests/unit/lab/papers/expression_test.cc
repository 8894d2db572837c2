// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety::lab {
namespace {

using testing::ElementsAre;

// Every path stands for its column; at a point for that x.
Value column_or_x(const Path& path, std::optional<double> x) {
  return Value::number(x.value_or(path.column));
}
double number(const std::string& text) {
  return Expression(text).evaluate(column_or_x).number();
}

TEST(Expression, BindsAsInSchool) {
  EXPECT_EQ(number("1 + 2 * 3"), 7);
  EXPECT_EQ(number("(1 + 2) * 3"), 9);
  EXPECT_EQ(number("10 - 4 - 3"), 3);
  EXPECT_EQ(number("100 / 5 / 4"), 5);
  EXPECT_EQ(number("-2 * -3"), 6);
  EXPECT_EQ(number("2 - -3"), 5);
  EXPECT_EQ(number("--4"), 4);
  EXPECT_EQ(number("1 + 1 < 3"), 1);
  EXPECT_EQ(number("2 * 3 <= 5"), 0);
  EXPECT_EQ(number("7 >= 7"), 1);
  EXPECT_EQ(number("7 > 7"), 0);
  EXPECT_EQ(number("0.5 == .5"), 1);
}

TEST(Expression, NumbersAreDecimal) {
  EXPECT_EQ(number("  1.25e3 "), 1250);
  EXPECT_EQ(number("\n2\n"), 2);
}

TEST(Expression, CallsFunctions) {
  EXPECT_EQ(number("sqrt(16) + abs(-2)"), 6);
  EXPECT_EQ(number("min(4, 2, 3)"), 2);
  EXPECT_EQ(number("max( 4 , min(5, 6) )"), 5);
}

TEST(Expression, FindsItsPaths) {
  const Expression e("mean(flows[f#*].ros) / events");
  ASSERT_EQ(e.paths().size(), 2u);
  const auto& [flows, events] = std::tie(e.paths()[0], e.paths()[1]);
  EXPECT_EQ(flows.text, "flows[f#*].ros");
  EXPECT_EQ(flows.column, 6);
  ASSERT_EQ(flows.steps.size(), 3u);
  EXPECT_EQ(flows.steps[0].text, "flows");
  EXPECT_FALSE(flows.steps[0].selects);
  EXPECT_EQ(flows.steps[1].text, "f#*");
  EXPECT_TRUE(flows.steps[1].selects);
  EXPECT_EQ(flows.steps[2].text, "ros");
  EXPECT_EQ(events.text, "events");
  EXPECT_EQ(e.evaluate(column_or_x).number(), 6.0 / 24);
}

TEST(Expression, VariantsComeFirst) {
  const std::vector<std::string> variants{"plain", "csa_2"};
  const Expression e("csa_2.events - plain.events", variants);
  EXPECT_EQ(e.paths()[0].variant, 1u);
  EXPECT_EQ(e.paths()[0].text, "events");
  EXPECT_EQ(e.paths()[1].variant, 0u);
}

TEST(Expression, PointsChooseFromTheSweep) {
  const Expression e("point(80, events * 2) + events + point(-1.5, events)");
  EXPECT_THAT(e.points(), ElementsAre(80, -1.5));
  EXPECT_EQ(e.evaluate(column_or_x).number(), 160 + 25 - 1.5);
}

TEST(Expression, ListsAreWhatTheSourceGives) {
  const auto value = Expression("events / 2").evaluate([](const Path&, auto) { return Value{true, {4, 6}}; });
  EXPECT_TRUE(value.list);
  EXPECT_THAT(value.items, ElementsAre(2, 3));
}

std::string error_of(const std::string& text, const std::vector<std::string>& variants = {}) {
  try {
    Expression(text, variants).evaluate([](const Path&, auto) -> Value { throw ValueError("not known"); });
  } catch (const ExpressionError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Expression, TellsWhereItIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "a number, a path or a function is missing (column 1 of the expression)"},
      {"1 +", "a number, a path or a function is missing (column 4 of the expression)"},
      {"1 2", "`2` is not expected here (column 3 of the expression)"},
      {"(1", "`)` is missing (column 3 of the expression)"},
      {"600k", "`k` is not expected here (column 4 of the expression)"},
      {".", "not a number (column 1 of the expression)"},
      {"2 * median(1)", "no function is called `median`; did you mean `mean`? (column 5 of the expression)"},
      {"negative(1)",
       "no function is called `negative`; there are: point, mean, min, max, sum, count, sd, jain, first, "
       "last, abs, sqrt, known, window (column 1 of the expression)"},
      {"mean(1, 2)", "mean() takes 1 argument, not 2 (column 1 of the expression)"},
      {"1 + window(1, 2)", "window() takes 3 arguments, not 2 (column 5 of the expression)"},
      {"point(events, 1)", "point() takes the x of a point first, a number (column 7 of the expression)"},
      {"point(1)", "`,` is missing (column 8 of the expression)"},
      {"flows[long", "a name and `]` are missing (column 6 of the expression)"},
      {"flows[].ros", "a name and `]` are missing (column 6 of the expression)"},
      {"1 + events", "not known (column 5 of the expression)"},
      {"window(1, 2, 3)", "window() takes a series (column 1 of the expression)"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(error_of(text), error) << text;
}

TEST(Expression, TellsWhichVariantsThereAre) {
  EXPECT_EQ(error_of("c.events", {"a", "b"}),
            "no variant is called `c`; there are: a, b (column 1 of the expression)");
  EXPECT_EQ(error_of("1 - a", {"a"}),
            "`.` is missing: what of `a` is looked at? (column 6 of the expression)");
}

TEST(Expression, RefusesAbsurdNesting) {
  EXPECT_THAT(error_of(std::string(10'000, '(')), testing::StartsWith("nested too deeply"));
  EXPECT_THAT(error_of(std::string(10'000, '-')), testing::StartsWith("nested too deeply"));
}

}  // namespace
}  // namespace surety::lab
