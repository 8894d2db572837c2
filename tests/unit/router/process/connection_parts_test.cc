// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/connection_parts.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(ConnectionParts, OneTooManyCostsTheOldestOfWhoHasTheMost) {
  ConnectionParts parts(4);
  int next = 0;
  EXPECT_FALSE(parts.opened(next++, "scraper"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(parts.opened(next++, "attacker"));
  for (int i = 1; i < 1000; ++i) EXPECT_EQ(parts.opened(next++, "attacker"), i);
  EXPECT_EQ(parts.opened(next++, "scraper"), 1000) << "there is room for him";
}

TEST(ConnectionParts, OneAddressAloneLosesItsOldest) {
  ConnectionParts parts(2);
  EXPECT_FALSE(parts.opened(7, "a"));
  EXPECT_FALSE(parts.opened(8, "a"));
  EXPECT_EQ(parts.opened(9, "a"), 7);
}

TEST(ConnectionParts, AClosedOneMakesRoom) {
  ConnectionParts parts(2);
  EXPECT_FALSE(parts.opened(7, "a"));
  EXPECT_FALSE(parts.opened(8, "a"));
  parts.closed(8);
  EXPECT_FALSE(parts.opened(8, "a")) << "the number is used again";
  EXPECT_EQ(parts.opened(9, "b"), 7);
  parts.closed(7);  // as it was told to
  EXPECT_EQ(parts.opened(10, "b"), 9) << "of parts as large as one another the first in order";
}

}  // namespace
}  // namespace surety
