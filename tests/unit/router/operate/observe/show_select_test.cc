// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_command.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace surety {
namespace {

using testing::HasSubstr;

const Columns kColumns{text("PORT", "name"),
                       number("RX BYTES", "rx_bytes", human::bytes),
                       count("DEPTH", "in.depth"),
                       {"STATE", TextTable::Align::left,
                        [](const Json& row) { return row.value("up", false) ? "up" : "down"; }, "up"},
                       quotient("BUSY", human::percent, [](const Json&) { return std::pair(1.0, 2.0); })};

std::string names(const Selection& selection, bool last = false) {
  std::vector<Json> rows{
      {{"name", "wan0"}, {"rx_bytes", 5U}, {"up", true}, {"in", {{"depth", 3U}}}},
      {{"name", "lan0"}, {"rx_bytes", 70U}, {"up", false}, {"in", {{"depth", 30U}}}},
      {{"name", "lan1"}, {"up", true}, {"in", {{"depth", 4U}}}, {"customer", "a=b \"c\""}}};
  select(rows, kColumns, selection, last);
  std::string all;
  for (const Json& row : rows) all += row["name"].get<std::string>() + ' ';
  return all;
}

std::string refusal(const Selection& selection) {
  try {
    names(selection);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Select, NothingAskedKeepsAll) {
  EXPECT_EQ(names({}), "wan0 lan0 lan1 ");
}

TEST(Select, ByMembers) {
  EXPECT_EQ(names({.where = {"name=lan0"}}), "lan0 ");
  EXPECT_EQ(names({.where = {"name=lan"}}), "") << "all of it";
  EXPECT_EQ(names({.where = {"name=lan*"}}), "lan0 lan1 ");
  EXPECT_EQ(names({.where = {"name=*N*0"}}), "wan0 lan0 ") << "whatever the case";
  EXPECT_EQ(names({.where = {"in.depth=3*"}}), "wan0 lan0 ");
  EXPECT_EQ(names({.where = {"up=true"}}), "wan0 lan1 ");
  EXPECT_EQ(names({.where = {"name!=lan0"}}), "wan0 lan1 ");
  EXPECT_EQ(names({.where = {"name=lan*", "up=true"}}), "lan1 ");
  EXPECT_EQ(names({.where = {"customer=a=b \"c\""}}), "lan1 ");
}

TEST(Select, ByWhatPeopleSee) {
  EXPECT_EQ(names({.where = {"state=up"}}), "wan0 lan1 ");
  EXPECT_EQ(names({.where = {"PORT=wan0"}}), "wan0 ");
  EXPECT_EQ(names({.where = {"rx_bytes=70 B"}}), "lan0 ");
  EXPECT_EQ(names({.where = {"busy=50*"}}), "wan0 lan0 lan1 ");
}

TEST(Select, WhatARowDoesNotHaveIsNoValue) {
  EXPECT_EQ(names({.where = {"rx_bytes=*0"}}), "lan0 ");
  EXPECT_EQ(names({.where = {"rx_bytes=-"}}), "lan1 ");
  EXPECT_EQ(names({.where = {"customer!=x"}}), "wan0 lan0 lan1 ");
}

TEST(Select, Sorts) {
  EXPECT_EQ(names({.sort = "rx_bytes"}), "lan0 wan0 lan1 ") << "the largest first, who has none last";
  EXPECT_EQ(names({.sort = "in.depth"}), "lan0 lan1 wan0 ");
  EXPECT_EQ(names({.sort = "depth"}), "lan0 lan1 wan0 ");
  EXPECT_EQ(names({.sort = "name"}), "lan0 lan1 wan0 ");
}

TEST(Select, TheFirstOrTheLast) {
  EXPECT_EQ(names({.top = 1}), "wan0 ");
  EXPECT_EQ(names({.top = 2}, true), "lan0 lan1 ");
  EXPECT_EQ(names({.sort = "rx_bytes", .top = 1}, true), "lan0 ");
  EXPECT_EQ(names({.where = {"name=lan*"}, .top = 9}), "lan0 lan1 ");
  EXPECT_EQ(names({.top = 0}), "");
}

TEST(Select, AKeyThatIsNoneIsRefusedWithThoseThereAre) {
  EXPECT_EQ(refusal({.where = {"nmae=x"}}), "no key is called `nmae`; did you mean `name`?");
  EXPECT_THAT(refusal({.where = {"zzzzzz=x"}}),
              HasSubstr("there are: busy, customer, in, in.depth, name, rx_bytes, up"));
  EXPECT_THAT(refusal({.sort = "zzzzzz"}), HasSubstr("no key is called `zzzzzz`"));
  EXPECT_EQ(refusal({.where = {"name"}}), "`name` is not KEY=VALUE");
  EXPECT_EQ(refusal({.where = {"=x"}}), "`=x` is not KEY=VALUE");
}

}  // namespace
}  // namespace surety
