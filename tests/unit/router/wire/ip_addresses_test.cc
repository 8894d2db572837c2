// SPDX-License-Identifier: BSD-3-Clause
#include "router/wire/ip_addresses.h"

#include <gtest/gtest.h>

#include "config/address.h"
#include "tests/unit/router/wire/frame_builder.h"

namespace surety {
namespace {

TEST(IpAddresses, AreFoundInEitherFamily) {
  const frames::Octets v4 = frames::ip4(17, frames::udp(1, 2, 0), {0x0a010002, 0x0a020003});
  EXPECT_EQ(to_string(source_of(v4.data())), "10.1.0.2");
  EXPECT_EQ(to_string(destination_of(v4.data())), "10.2.0.3");
  const frames::Octets v6 = frames::ip6(17, frames::udp(1, 2, 0));
  EXPECT_EQ(source_of(v6.data()), load_address(&v6[8], true));
  EXPECT_EQ(destination_of(v6.data()), load_address(&v6[24], true));
  EXPECT_NE(source_of(v6.data()), destination_of(v6.data()));
}

TEST(IpAddresses, OfIpv4LeaveTheOtherBytesZero) {
  const std::uint8_t bytes[16] = {192, 0, 2, 1, 99};
  EXPECT_EQ(load_address(bytes, false), config::parse_address("192.0.2.1").value());
}

}  // namespace
}  // namespace surety
