// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/address_holders.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

Prefix of(const char* text) {
  return parse_prefix(text).value();
}

TEST(AddressHolders, AnAddressGoesWithTheLastThatHasIt) {
  AddressHolders holders;
  holders.add(1, of("10.1.0.254/24"));
  holders.add(1, of("10.1.0.254/24"));  // an event may be told twice
  holders.add(2, of("10.1.0.254/32"));
  holders.add(2, of("10.1.0.254/24"));
  holders.add(3, of("10.1.0.253/24"));
  EXPECT_FALSE(holders.remove(2, of("10.1.0.254/32")));
  EXPECT_FALSE(holders.remove(1, of("10.1.0.254/24")));
  EXPECT_FALSE(holders.remove(1, of("10.1.0.254/24")));
  EXPECT_TRUE(holders.remove(2, of("10.1.0.254/24")));
  EXPECT_TRUE(holders.remove(2, of("10.1.0.254/24"))) << "of one that nobody has";
  EXPECT_TRUE(holders.remove(3, of("10.1.0.253/24")));
}

}  // namespace
}  // namespace surety
