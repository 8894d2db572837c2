// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/problems.h"

#include <gtest/gtest.h>

#include <array>

namespace surety::config {
namespace {

TEST(Problems, ComeInTheOrderOfTheFileEachOnce) {
  Problems p;
  p.error({2, 1}, "second line");
  p.warning({1, 4}, "fourth column");
  p.error({2, 1}, "second line");
  p.error({1, 2}, "second column");
  const auto d = p.take("one\ntwo", "f.yaml");
  ASSERT_EQ(d.size(), 3u);
  EXPECT_EQ(d[0].message, "second column");
  EXPECT_EQ(d[1].message, "fourth column");
  EXPECT_EQ(d[1].severity, Diagnostic::Severity::warning);
  EXPECT_EQ(d[2].source, "two");
  EXPECT_TRUE(p.any_error());
}

TEST(Problems, WarningsAreNoErrors) {
  Problems p;
  p.warning({1, 1}, "w");
  EXPECT_FALSE(p.any_error());
}

TEST(Problems, StopAtACeilingAndSaySo) {
  Problems p;
  for (int i = 1; i <= 3000; ++i) p.error({i, 1}, "e");
  EXPECT_TRUE(p.full());
  const auto d = p.take("", "f");
  ASSERT_EQ(d.size(), Problems::kMax + 1);
  EXPECT_EQ(d.back().message, "and more errors, not shown");
}

TEST(Problems, ManyWarningsDoNotHideAnErrorNorMakeOne) {
  Problems p;
  for (int i = 1; i <= 3000; ++i) p.warning({i, 1}, "w");
  EXPECT_FALSE(p.any_error());
  EXPECT_FALSE(p.full());
  p.error({4000, 1}, "e");
  EXPECT_TRUE(p.any_error());
  const auto d = p.take("", "f");
  ASSERT_EQ(d.size(), Problems::kMax + 2);
  EXPECT_EQ(d[Problems::kMax].message, "and more warnings, not shown");
  EXPECT_EQ(d.back().message, "e");
}

TEST(Diagnostic, FormatsWithTheSourceLineAndACaret) {
  const Diagnostic d{Diagnostic::Severity::error, "edge.yaml", 3, 8, "bad mtu", "  mtu: 1"};
  EXPECT_EQ(d.format(), "edge.yaml:3:8: error: bad mtu\n      mtu: 1\n           ^\n");
}

TEST(Diagnostic, WithoutALineSaysWhereItIsByItsFileAlone) {
  const Diagnostic d{Diagnostic::Severity::error, "--set a.b=c", 0, 0, "bad c", ""};
  EXPECT_EQ(d.format(), "--set a.b=c: error: bad c\n");
}

TEST(LineName, IsASettingWhereThereIsNoFile) {
  EXPECT_EQ(line_name({7}), "line 7");
  EXPECT_EQ(line_name({1}), "line 1");
  EXPECT_EQ(line_name({0}), "a setting");
  EXPECT_EQ(line_name({-2}), "a setting");
}

TEST(Diagnostic, KeepsTabsBeforeTheCaret) {
  const Diagnostic d{Diagnostic::Severity::warning, "f", 1, 4, "m", "\ta:\tx"};
  EXPECT_EQ(d.format(), "f:1:4: warning: m\n    \ta:\tx\n    \t  ^\n");
}

TEST(Diagnostic, WithoutASourceLineIsOneLine) {
  EXPECT_EQ((Diagnostic{Diagnostic::Severity::error, "f", 1, 1, "m", ""}.format()), "f:1:1: error: m\n");
}

TEST(Diagnostic, LeavesOutEndlessLinesAndControlCharacters) {
  Problems p;
  p.error({1, 1}, "long");
  p.error({2, 1}, "control");
  const auto d = p.take(std::string(5000, 'x') + "\n\x1b[31mred\r\n", "f");
  EXPECT_EQ(d[0].source, "");
  EXPECT_EQ(d[1].source, "?[31mred");
}

TEST(Quote, ShortensAndCleans) {
  EXPECT_EQ(quote("a\nb\t\x7f"), "`a?b??`");
  EXPECT_EQ(quote(std::string(61, 'x')), "`" + std::string(60, 'x') + "...`");
}

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("lan0", ""), 4u);
  EXPECT_EQ(edit_distance("lan0", "lan1"), 1u);
  EXPECT_EQ(edit_distance("addresses", "adresses"), 1u);
  EXPECT_EQ(edit_distance("af_xpd", "af_xdp"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Mbit/s", "mbit/s"), 0u);
}

constexpr std::array<std::string_view, 3> kWords{"addresses", "device", "mtu"};

TEST(Nearest, WithinAThirdOfTheWord) {
  EXPECT_EQ(nearest("adresses", kWords), "addresses");
  EXPECT_EQ(nearest("devcie", kWords), "device");
  EXPECT_EQ(nearest("dev", kWords), "");
  EXPECT_EQ(nearest("mtv", kWords), "mtu");
  EXPECT_EQ(nearest(std::string(1000, 'a'), kWords), "");
}

TEST(Nearest, ShortWordsOnlyByCase) {
  constexpr std::array<std::string_view, 2> kShort{"a", "kB"};
  EXPECT_EQ(nearest("b", kShort), "");
  EXPECT_EQ(nearest("KB", kShort), "kB");
  EXPECT_EQ(nearest("TB", kShort), "");
}

TEST(Hint, SuggestsOrLists) {
  EXPECT_EQ(hint("adresses", kWords), "; did you mean `addresses`?");
  EXPECT_EQ(hint("colour", kWords), "; there are: addresses, device, mtu");
  EXPECT_EQ(hint("x", {}), "; there are none");
}

}  // namespace
}  // namespace surety::config
