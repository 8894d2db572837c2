// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/seed_range.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace surety::lab {
namespace {

TEST(SeedRange, ANumberIsOneToIt) {
  EXPECT_EQ(parse_seeds("20"), (SeedRange{1, 20}));
  EXPECT_EQ(parse_seeds("20").count(), 20u);
}

TEST(SeedRange, TwoNumbersAreFromTo) {
  EXPECT_EQ(parse_seeds("5-20"), (SeedRange{5, 20}));
  EXPECT_EQ(parse_seeds("7-7").count(), 1u);
}

TEST(SeedRange, AnythingElseIsRefused) {
  for (const char* text :
       {"", "0", "-5", "0-3", "4-3", "1-", "1-2-3", "1.5", "x", "1 ", "1000001", "1-99999999999999999999"})
    EXPECT_THROW(parse_seeds(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace surety::lab
