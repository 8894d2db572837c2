// SPDX-License-Identifier: BSD-3-Clause
#include "router/wire/config_address.h"

#include <gtest/gtest.h>

#include "config/address.h"

namespace surety::endpoints {
namespace {

TEST(ConfigAddress, ThereAndBack) {
  for (const char* text : {"10.1.0.254", "2001:db8:1::fe", "::", "0.0.0.0"}) {
    const config::Address a = config::parse_address(text).value();
    EXPECT_EQ(from_wire(to_wire(a)), a) << text;
  }
}

TEST(ConfigAddress, IsInTheOrderOfThePacket) {
  EXPECT_EQ(to_wire(config::parse_address("10.1.2.3").value()), IpAddress::v4(10, 1, 2, 3));
}

}  // namespace
}  // namespace surety::endpoints
