// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/rio.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(RedCurve, IsALineFromMinToMax) {
  const RedCurve curve({.min = 10, .max = 60, .pmax = Probability(0.2)});
  EXPECT_DOUBLE_EQ(curve.probability(10), 0);
  EXPECT_DOUBLE_EQ(curve.probability(35), 0.1);
  EXPECT_DOUBLE_EQ(curve.probability(60), 0.2);
  EXPECT_DOUBLE_EQ(curve.min(), 10);
}

TEST(RedCurve, AcceptsUpToMinIncludedAndForcesAboveMaxExcluded) {
  const RedCurve curve({.min = 10, .max = 60, .pmax = Probability(0.2)});
  EXPECT_TRUE(curve.accepts(0));
  EXPECT_TRUE(curve.accepts(10));
  EXPECT_FALSE(curve.accepts(10.000001));
  EXPECT_FALSE(curve.forces(60));
  EXPECT_TRUE(curve.forces(60.000001));
}

TEST(RedCurve, IsAStepWhenMinIsMax) {
  const RedCurve curve({.min = 20, .max = 20, .pmax = Probability(0.5)});
  EXPECT_TRUE(curve.accepts(20));
  EXPECT_TRUE(curve.forces(20.000001));
}

}  // namespace
}  // namespace surety
