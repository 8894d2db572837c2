// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/repetitions.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace surety {
namespace {

TEST(Repetitions, AreReportedByTheirMedian) {
  Repetitions r;
  for (const double v : {5.0, 100.0, 4.0, 6.0, 1.0}) r.add(v);
  EXPECT_EQ(r.median(), 5);
  EXPECT_EQ(r.least(), 1);
  EXPECT_EQ(r.greatest(), 100);
  EXPECT_EQ(r.last(), 1);
  std::map<std::string, double> row;
  r.write(row);
  EXPECT_EQ(row, (std::map<std::string, double>{{"cycles_per_packet", 5}, {"min", 1}, {"max", 100}}));
}

TEST(Repetitions, OfTwoTheGreater) {
  Repetitions r;
  r.add(2);
  EXPECT_EQ(r.median(), 2);
  r.add(1);
  EXPECT_EQ(r.median(), 2);
}

}  // namespace
}  // namespace surety
