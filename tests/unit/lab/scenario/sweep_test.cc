// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace surety::lab {

static bool operator==(const Setting& a, const Setting& b) {
  return a.path == b.path && a.value == b.value;
}
static void PrintTo(const Setting& s, std::ostream* out) {
  *out << s.path << '=' << s.value;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(LabSetting, IsSplitAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_setting("senders.long.target=400 kbit/s"), (Setting{"senders.long.target", "400 kbit/s"}));
  EXPECT_EQ(parse_setting("a=b=c"), (Setting{"a", "b=c"}));
}

TEST(LabSetting, BlanksAroundPathAndValueAreNotTheirs) {
  EXPECT_EQ(parse_setting(" a.b =\t5 packets "), (Setting{"a.b", "5 packets"}));
}

TEST(LabSetting, AnEmptyValueIsOne) {
  EXPECT_EQ(parse_setting("a="), (Setting{"a", ""}));
}

TEST(LabSetting, WhatIsNoSettingIsRefusedWithAnExample) {
  for (const char* text : {"", "a", "scenario.yaml", "=5", "  =5"})
    EXPECT_THAT(refusal([&] { parse_setting(text); }),
                HasSubstr("is not key=value, as in `senders.long.target=400 kbit/s`"))
        << text;
}

TEST(LabSweep, ValuesAreSeparatedByCommas) {
  const Sweep s = parse_sweep("senders.cbr.rate=0 kbit/s, 200 kbit/s ,1 Mbit/s");
  EXPECT_EQ(s.path, "senders.cbr.rate");
  EXPECT_THAT(s.values, ElementsAre("0 kbit/s", "200 kbit/s", "1 Mbit/s"));
}

TEST(LabSweep, OneValueWillDo) {
  EXPECT_THAT(parse_sweep("a=1").values, ElementsAre("1"));
}

TEST(LabSweep, CommasInsideBracesAndBracketsSeparateNothing) {
  EXPECT_THAT(parse_sweep("q={min: 5, max: 15},{min: 10, max: [1, {a: 2, b: 3}]},[1, 2],7").values,
              ElementsAre("{min: 5, max: 15}", "{min: 10, max: [1, {a: 2, b: 3}]}", "[1, 2]", "7"));
}

TEST(LabSweep, CommasAndBracketsInsideQuotesAreText) {
  EXPECT_THAT(parse_sweep(R"(q="a, b]",'c, ''d'', {',"e \", f",{g: "h}, i"})").values,
              ElementsAre(R"("a, b]")", "'c, ''d'', {'", R"("e \", f")", R"({g: "h}, i"})"));
}

TEST(LabSweep, AQuoteInsideAWordIsAnApostrophe) {
  EXPECT_THAT(parse_sweep("name=it's,they're").values, ElementsAre("it's", "they're"));
}

TEST(LabSweep, MissingValuesAreRefused) {
  for (const char* text : {"a=", "a=1,", "a=,1", "a=1,,2", "a=1, ,2"})
    EXPECT_THAT(refusal([&] { parse_sweep(text); }), HasSubstr("a value is missing; write key=a,b,c"))
        << text;
  EXPECT_THAT(refusal([] { parse_sweep("a,b"); }), HasSubstr("is not key=value"));
}

TEST(LabSweep, WhatIsNotClosedIsRefused) {
  EXPECT_EQ(refusal([] { parse_sweep("a={x: [1, 2}"); }), "`{x: [1, 2}`: unmatched `}`");
  EXPECT_EQ(refusal([] { parse_sweep("a=1],2"); }), "`1],2`: unmatched `]`");
  EXPECT_EQ(refusal([] { parse_sweep("a={x: 1,2"); }), "`{x: 1,2`: a `}` is missing");
  EXPECT_EQ(refusal([] { parse_sweep("a='1,2"); }), "`'1,2`: a quote is not closed");
}

TEST(LabPoints, WithoutASweepThereIsOneWithoutSettings) {
  EXPECT_THAT(points({}), ElementsAre(std::vector<Setting>{}));
}

TEST(LabPoints, OfOneSweepEachValue) {
  const Sweep sweep{"a", {"1", "2"}};
  EXPECT_THAT(points({&sweep, 1}),
              ElementsAre(ElementsAre(Setting{"a", "1"}), ElementsAre(Setting{"a", "2"})));
}

TEST(LabPoints, OfSeveralSweepsEveryCombinationTheLastFastest) {
  const std::vector<Sweep> sweeps{{"a", {"1", "2"}}, {"b", {"x", "y"}}};
  EXPECT_THAT(points(sweeps), ElementsAre(ElementsAre(Setting{"a", "1"}, Setting{"b", "x"}),
                                          ElementsAre(Setting{"a", "1"}, Setting{"b", "y"}),
                                          ElementsAre(Setting{"a", "2"}, Setting{"b", "x"}),
                                          ElementsAre(Setting{"a", "2"}, Setting{"b", "y"})));
}

TEST(LabPoints, APathIsSweptOnce) {
  const std::vector<Sweep> sweeps{{"a", {"1"}}, {"b", {"2"}}, {"a", {"3"}}};
  EXPECT_EQ(refusal([&] { points(sweeps); }), "`a` is swept twice; put its values into one --sweep");
}

TEST(LabPoints, AreNotWithoutLimit) {
  const std::vector<Sweep> hundred{{"a", std::vector<std::string>(100, "1")},
                                   {"b", std::vector<std::string>(100, "1")}};
  EXPECT_EQ(points(hundred).size(), kMaxPoints);
  auto more = hundred;
  more[1].values.emplace_back("1");
  EXPECT_EQ(refusal([&] { points(more); }), "these sweeps make more than 10000 scenarios");
}

}  // namespace
}  // namespace surety::lab
