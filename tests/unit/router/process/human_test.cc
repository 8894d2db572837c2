// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/human.h"

#include <gtest/gtest.h>

#include <array>

namespace surety::human {
namespace {

TEST(Human, Rate) {
  EXPECT_EQ(rate(0), "0 bit/s");
  EXPECT_EQ(rate(100), "800 bit/s");
  EXPECT_EQ(rate(100'000), "800 kbit/s");
  EXPECT_EQ(rate(3'848'750), "30.79 Mbit/s");
  EXPECT_EQ(rate(1.25e10), "100 Gbit/s");
  EXPECT_EQ(rate(1.25e15), "1e+04 Tbit/s");
}

TEST(Human, TakesTheNextUnitWhereFourDigitsWouldOverflow) {
  EXPECT_EQ(bytes(999.9), "999.9 B");
  EXPECT_EQ(bytes(999'949), "999.9 kB");
  EXPECT_EQ(bytes(999'950), "1 MB");
}

TEST(Human, Bytes) {
  EXPECT_EQ(bytes(576), "576 B");
  EXPECT_EQ(bytes(1'500'000), "1.5 MB");
}

TEST(Human, Duration) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(1.024e-6), "1.024 us");
  EXPECT_EQ(duration(0.0025), "2.5 ms");
  EXPECT_EQ(duration(30), "30 s");
  EXPECT_EQ(duration(1200), "1200 s");
}

TEST(Human, Elapsed) {
  EXPECT_EQ(elapsed(0.9), "0 s");
  EXPECT_EQ(elapsed(59.9), "59 s");
  EXPECT_EQ(elapsed(60), "1 min 0 s");
  EXPECT_EQ(elapsed(3723), "1 h 2 min");
  EXPECT_EQ(elapsed(100 * 3600), "4 d 4 h");
}

TEST(Human, Percent) {
  EXPECT_EQ(percent(0.987), "98.7 %");
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(conformance(86399. / 86400), "99.99 %");
  EXPECT_EQ(conformance(0.57), "57.00 %");
  EXPECT_EQ(conformance(1), "100.00 %");
  EXPECT_EQ(ratio(0.38), "0.38");
  EXPECT_EQ(ratio(1.0 / 3), "0.3333");
}

TEST(Human, List) {
  EXPECT_EQ(list({}), "");
  const std::array<std::string_view, 3> names{"edge1", "edge2", "core"};
  EXPECT_EQ(list(std::span(names).first(1)), "edge1");
  EXPECT_EQ(list(names), "edge1, edge2, core");
}

}  // namespace
}  // namespace surety::human

namespace surety {
namespace {

TextTable two_columns() {
  TextTable table;
  table.column("NAME", TextTable::Align::left);
  table.column("N", TextTable::Align::right);
  return table;
}

TEST(TextTable, AlignsColumns) {
  TextTable table = two_columns();
  table.row({"a", "1000"});
  table.row({"longer", "1"});
  EXPECT_EQ(table.text(),
            "NAME       N\n"
            "a       1000\n"
            "longer     1\n");
}

TEST(TextTable, LeavesNoBlanksAtLineEnds) {
  TextTable table;
  table.column("A", TextTable::Align::left);
  table.column("B", TextTable::Align::left);
  table.row({"x", ""});
  table.row({"", "long"});
  EXPECT_EQ(table.text(), "A  B\nx\n   long\n");
}

TEST(TextTable, SaysThatThereIsNothing) {
  EXPECT_EQ(two_columns().text(), "NAME  N\n(none)\n");
}

}  // namespace
}  // namespace surety
