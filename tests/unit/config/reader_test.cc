// SPDX-License-Identifier: BSD-3-Clause
#include "config/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct File {
  explicit File(const std::string& text) : document(text) {}
  const Node& root() const { return *document.root(); }
  std::vector<std::string> messages() {
    std::vector<std::string> m;
    for (const auto& d : problems.take("", "f"))
      m.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.message);
    return m;
  }
  Document document;
  Problems problems;
};

TEST(MapReader, ReadsWhatIsThereAndLeavesTheRest) {
  File f("rate: 1 Mbit/s\n");
  Rate rate;
  bool flag = true;
  {
    MapReader map(f.root(), "a thing", f.problems);
    EXPECT_TRUE(map.read("rate", rate));
    EXPECT_FALSE(map.read("flag", flag));
  }
  EXPECT_EQ(rate, Rate::bits_per_second(1'000'000));
  EXPECT_TRUE(flag);
  EXPECT_THAT(f.messages(), IsEmpty());
}

TEST(MapReader, ReportsTheMissingTheUnknownAndTheRepeated) {
  File f("raet: 1\nname: a\nname: b\n");
  {
    MapReader map(f.root(), "a thing", f.problems);
    Rate rate;
    std::string name;
    EXPECT_FALSE(map.required("rate", rate));
    EXPECT_TRUE(map.read("name", name));
    EXPECT_EQ(name, "a");
  }
  EXPECT_THAT(f.messages(), ElementsAre("1:1 a thing needs `rate`",
                                        "1:1 unknown key `raet` in a thing; did you mean `rate`?",
                                        "3:1 `name` is already there, at line 2"));
}

TEST(MapReader, AWrongValueLeavesItsTarget) {
  File f("rate: fast\n");
  Rate rate = Rate::bits_per_second(7);
  {
    MapReader map(f.root(), "a thing", f.problems);
    EXPECT_FALSE(map.read("rate", rate));
  }
  EXPECT_EQ(rate, Rate::bits_per_second(7));
  EXPECT_THAT(f.messages(), ElementsAre("1:7 `fast` is not a rate; write it like `34 Mbit/s`"));
}

TEST(MapReader, WhatIsNoMapIsReportedOnce) {
  File f("[1, 2]\n");
  {
    MapReader map(f.root(), "a thing", f.problems);
    EXPECT_EQ(map.require("rate"), nullptr);
  }
  EXPECT_THAT(f.messages(), ElementsAre("1:1 expected a thing: `key: value` pairs"));
}

TEST(MapReader, CanIgnoreTheRest) {
  File f("x: 1\n");
  { MapReader(f.root(), "a thing", f.problems).ignore_the_rest(); }
  EXPECT_THAT(f.messages(), IsEmpty());
}

TEST(MapReader, WordsAndYamlBooleans) {
  File f("a: two\nb: no\nc: thre\nd: [x]\n");
  int a = 0, b = 0, c = 7, d = 7;
  {
    MapReader map(f.root(), "a thing", f.problems);
    EXPECT_TRUE(map.read_word("a", a, {{"one", 1}, {"two", 2}}));
    EXPECT_TRUE(map.read_word("b", b, {{"auto", 1}, {"off", 2}}));
    EXPECT_FALSE(map.read_word("c", c, {{"one", 1}, {"three", 3}}));
    EXPECT_FALSE(map.read_word("d", d, {{"one", 1}}));
  }
  EXPECT_EQ(a, 2);
  EXPECT_EQ(b, 2);
  EXPECT_EQ(c, 7);
  EXPECT_THAT(f.messages(),
              ElementsAre("3:4 no `c` is called `thre`; did you mean `three`?", "4:4 `d` is one of: one"));
}

TEST(Named, CallsEachEntryAndChecksNames) {
  File f("a: 1\n-b: 2\na: 3\n");
  std::vector<std::string> names;
  for_each_named(f.root(), "port", f.problems,
                 [&](const std::string& name, const Node&, const Node&) { names.push_back(name); });
  EXPECT_THAT(names, ElementsAre("a", "-b", "a"));
  EXPECT_THAT(f.messages(),
              ElementsAre("2:1 `-b` cannot name a port: up to 63 letters, digits, `-`, `_` and `.`",
                          "3:1 `a` is already there, at line 1"));
}

TEST(IsName, LettersDigitsAndThreeSigns) {
  for (const auto* s : {"a", "uplink-tcp", "eth0.100", "4G_backup"}) EXPECT_TRUE(is_name(s)) << s;
  for (const auto* s : {"", "-a", ".a", "a b", "a/b", "ä"}) EXPECT_FALSE(is_name(s)) << s;
  EXPECT_TRUE(is_name(std::string(63, 'a')));
  EXPECT_FALSE(is_name(std::string(64, 'a')));
}

TEST(Lists, OneValueStandsForAList) {
  File f("a: x\nb: [x, y]\n");
  EXPECT_EQ(list_of(*f.root().entries[0].second).size(), 1u);
  EXPECT_EQ(list_of(*f.root().entries[1].second).size(), 2u);
  EXPECT_EQ(sequence(*f.root().entries[0].second, "things", f.problems).size(), 0u);
  EXPECT_THAT(f.messages(), ElementsAre("1:4 expected a list of things"));
}

}  // namespace
}  // namespace surety::config
