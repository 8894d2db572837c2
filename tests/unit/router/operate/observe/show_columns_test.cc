// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include <gtest/gtest.h>

#include "router/process/human.h"

namespace surety {
namespace {

const Json kRow = {{"name", "wan0"}, {"packets", 12u}, {"inner", {{"depth", 3u}}}, {"up", true}};

TEST(ShowColumns, ACellIsAsTheRowHasIt) {
  EXPECT_EQ(text("T", "name").cell(kRow), "wan0");
  EXPECT_EQ(count("T", "packets").cell(kRow), "12");
  EXPECT_EQ(text("T", "up").cell(kRow), "true");
  EXPECT_EQ(count("T", "inner.depth").cell(kRow), "3");
}

TEST(ShowColumns, WhatIsNotThereIsADash) {
  EXPECT_EQ(text("T", "nome").cell(kRow), "-");
  EXPECT_EQ(count("T", "inner.length").cell(kRow), "-");
  EXPECT_EQ(number("T", "bytes", human::bytes).cell(kRow), "-");
  EXPECT_EQ(number("T", "name", human::bytes).cell(kRow), "-") << "not a number";
}

TEST(ShowColumns, NumbersForPeople) {
  EXPECT_EQ(number("T", "packets", human::bytes).cell(kRow), "12 B");
}

TEST(ShowColumns, AQuotientNeedsAWhole) {
  const auto share = [](double part, double whole) {
    return quotient("T", human::percent, [=](const Json&) { return std::pair(part, whole); }).cell(kRow);
  };
  EXPECT_EQ(share(1, 4), "25.0 %");
  EXPECT_EQ(share(0, 4), "0.0 %");
  EXPECT_EQ(share(1, 0), "-");
}

TEST(ShowColumns, MembersAndReals) {
  ASSERT_NE(member(kRow, "inner.depth"), nullptr);
  EXPECT_EQ(*member(kRow, "inner.depth"), 3u);
  EXPECT_EQ(member(kRow, "outer.depth"), nullptr);
  EXPECT_EQ(real(kRow, "packets"), 12);
  EXPECT_EQ(real(kRow, "name"), 0);
}

TEST(ShowColumns, TextStandsLeftAndNumbersRight) {
  const std::vector<Json> rows{kRow, {{"name", "a"}, {"packets", 4567u}}};
  EXPECT_EQ(render({text("PORT", "name"), count("N", "packets")}, rows),
            "PORT     N\n"
            "wan0    12\n"
            "a     4567\n");
  EXPECT_EQ(render({text("PORT", "name")}, {}), "PORT\n(none)\n");
}

}  // namespace
}  // namespace surety
