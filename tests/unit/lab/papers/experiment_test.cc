// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PaperResult parse(const std::string& experiments) {
  return parse_paper(
      "version: 1\npaper: gtfrc\ntitle: T\nseeds: {full: 9, quick: 2}\nexperiments:\n" + experiments,
      "p.yaml");
}
// One experiment, of which `rest` says more; every diagnostic is a failure.
Experiment experiment(const std::string& rest) {
  auto result = parse("  - {id: e, title: E, scenario: s.yaml, " + rest + "}\n");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.paper ? result.paper->experiments.at(0) : Experiment{};
}
std::vector<std::string> errors(const std::string& rest) {
  std::vector<std::string> messages;
  for (const auto& d : parse("  - {id: e, title: E, scenario: s.yaml, " + rest + "}\n").diagnostics)
    messages.push_back(d.message);
  return messages;
}
std::string text_of(const std::vector<Setting>& settings) {
  std::string text;
  for (const auto& s : settings) text += s.path + "=" + s.value + ";";
  return text;
}
const std::string kRow = "rows: [{what: w, value: events}]";

TEST(ParsePaper, AllOfIt) {
  const auto result = parse("  - {id: a, title: A, scenario: s.yaml, " + kRow + "}\n" +
                            "  - {id: b, title: B, scenario: s.yaml, seeds: {quick: 4}, only: full, " + kRow +
                            "}\n" + "  - {id: c, title: C, scenario: s.yaml, seeds: 5, " + kRow + "}\n");
  ASSERT_TRUE(result.paper);
  const auto& p = *result.paper;
  EXPECT_EQ(p.name, "gtfrc");
  EXPECT_EQ(p.title, "T");
  ASSERT_THAT(p.experiments, SizeIs(3));
  const auto &a = p.experiments[0], &b = p.experiments[1], &c = p.experiments[2];
  EXPECT_EQ(a.id, "a");
  EXPECT_EQ(a.title, "A");
  EXPECT_FALSE(a.only_full);
  EXPECT_TRUE(b.only_full);
  EXPECT_EQ(a.seeds.full, 9u);
  EXPECT_EQ(a.seeds.quick, 2u);
  EXPECT_EQ(b.seeds.full, 9u);
  EXPECT_EQ(b.seeds.quick, 4u);
  EXPECT_EQ(c.seeds.full, 5u);
  EXPECT_EQ(c.seeds.quick, 5u);
}

TEST(ParseExperiment, WithoutVariantsThereIsANamelessOne) {
  const auto e = experiment("set: {duration: 60 s}, " + kRow);
  ASSERT_THAT(e.variants, SizeIs(1));
  EXPECT_EQ(e.variants[0].name, "");
  EXPECT_EQ(e.variants[0].scenario, "s.yaml");
  EXPECT_THAT(e.points, SizeIs(1));
  EXPECT_FALSE(e.swept);
  EXPECT_EQ(text_of(e.settings_of(0, 0, false)), "duration=60 s;");
}

TEST(ParseExperiment, SettingsApplyFromTheCommonToTheQuick) {
  const auto e = experiment(
      "set: {a.b: 1}, variants: {x: {set: {c: [1, {d: e}]}}, y: {scenario: o.yaml}}, "
      "sweep: {key: r, values: [1 kbit/s, {rate: 2, x: null}], x: [1, 2]}, quick: {set: {duration: 5 s}}, "
      "rows: [{what: w, value: mean(x.events)}]");
  ASSERT_THAT(e.variants, SizeIs(2));
  EXPECT_EQ(e.variants[0].name, "x");
  EXPECT_EQ(e.variants[0].scenario, "s.yaml");
  EXPECT_EQ(e.variants[1].scenario, "o.yaml");
  EXPECT_EQ(text_of(e.settings_of(0, 0, false)), R"(a.b=1;c=["1",{"d":"e"}];r=1 kbit/s;)");
  EXPECT_EQ(text_of(e.settings_of(1, 1, true)), R"(a.b=1;r={"rate":"2","x":null};duration=5 s;)");
}

TEST(ParseSweep, XComesFromTheValues) {
  const auto e = experiment("sweep: {keys: [a, b], values: [0, 200 kbit/s, 1.5 kbit/s]}, " + kRow);
  EXPECT_TRUE(e.swept);
  EXPECT_EQ(e.sweep_label, "a");
  ASSERT_THAT(e.points, SizeIs(3));
  EXPECT_EQ(e.points[1].x, 200);
  EXPECT_EQ(e.points[2].x, 1.5);
  EXPECT_EQ(e.points[1].text, "200 kbit/s");
  EXPECT_EQ(text_of(e.points[1].settings), "a=200 kbit/s;b=200 kbit/s;");
}

TEST(ParseSweep, WithoutAKeyValuesAreSettings) {
  const auto e = experiment("sweep: {values: [{a: 1, b: 2}, {a: 3}], x: [10, -20], label: N}, " + kRow);
  EXPECT_EQ(e.sweep_label, "N");
  EXPECT_EQ(text_of(e.points[0].settings), "a=1;b=2;");
  EXPECT_EQ(e.points[1].x, -20);
}

TEST(ParseSweep, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"{key: a, values: [1 s, 2 ms]}", "values in several units: give `x`"},
      {"{key: a, values: [on]}", "no number begins `on`: give `x`"},
      {"{key: a, values: [1, 2], x: [1]}", "1 numbers for 2 values"},
      {"{key: a, values: [1, 2], x: [3, 3]}", "two points at 3: give each an `x`"},
      {"{key: a, values: [1], x: [y]}", "expected a number"},
      {"{key: a, keys: [b], values: [1]}", "`key` and `keys`: leave one of them out"},
      {"{values: [1]}", "expected a map of settings, as there is no `key`"},
      {"{key: a, values: []}", "a sweep over nothing"},
      {"{key: a}", "a sweep needs `values`"},
  };
  for (const auto& [sweep, error] : cases)
    EXPECT_THAT(errors(std::string("sweep: ") + sweep + ", " + kRow), testing::Contains(error)) << sweep;
}

TEST(ParseExperiment, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"seeds: 5", "neither `rows` nor `plots`: nothing to look at"},
      {"variants: {a-b: {}}, " + kRow,
       "`a-b` cannot name a variant: letters, digits and `_`, a letter first"},
      {"variants: {}, " + kRow, "`variants` without any"},
      {"seeds: 0, " + kRow, "`0` is not a whole number from 1 to 10000"},
      {"only: quick, " + kRow, "no `only` is called `quick`; there are: full"},
      {"quick: {seeds: 1}, " + kRow, "unknown key `seeds` in `quick`; there are: set"},
      {"set: {a: 1, a: 2}, " + kRow, "`a` is already there, at line 6"},
      {"rows: [{what: w, value: evnets}]",
       "nothing is called `evnets`; did you mean `events`? (column 1 of the expression)"},
      {"variants: {a: {}}, " + kRow,
       "no variant is called `events`; there are: a (column 1 of the expression)"},
  };
  for (const auto& [rest, error] : cases) EXPECT_THAT(errors(rest), testing::Contains(error)) << rest;
}

TEST(ParsePaper, TellsEveryErrorWithItsPlace) {
  const auto result = parse_paper(
      "version: 2\npaper: p\ntitle: t\nexperiments:\n  - id: e\n    title: t\n    rows:\n"
      "      - {what: w, value: 1 +}\n      - {what: w, vlaue: 1}\n",
      "p.yaml");
  EXPECT_FALSE(result.paper);
  std::vector<std::string> places;
  for (const auto& d : result.diagnostics)
    places.push_back(d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column));
  EXPECT_THAT(places, ElementsAre("p.yaml:1:10", "p.yaml:5:5", "p.yaml:8:26", "p.yaml:9:9", "p.yaml:9:19"));
}

TEST(ParsePaper, IdsAreUnique) {
  const std::string one = "  - {id: a, title: A, scenario: s.yaml, " + kRow + "}\n";
  const auto result = parse(one + one);
  ASSERT_THAT(result.diagnostics, SizeIs(1));
  EXPECT_EQ(result.diagnostics[0].message, "two experiments are called `a`");
}

TEST(ParsePaper, RefusesWhatIsNotYaml) {
  EXPECT_FALSE(parse_paper("a: [", "f").paper);
  EXPECT_THAT(parse_paper("a: [", "f").diagnostics, SizeIs(1));
}

}  // namespace
}  // namespace surety::lab
