// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/text_table.h"

#include <gtest/gtest.h>

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
