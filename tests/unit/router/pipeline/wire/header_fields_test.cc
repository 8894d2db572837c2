// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/header_fields.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

TEST(HeaderFields, AddressesAreFoundInEitherFamily) {
  const frames::Octets v4 = frames::ip4(17, frames::udp(1, 2, 0), {0x0a010002, 0x0a020003});
  EXPECT_EQ(to_string(source_of(v4.data())), "10.1.0.2");
  EXPECT_EQ(to_string(destination_of(v4.data())), "10.2.0.3");
  const frames::Octets v6 = frames::ip6(17, frames::udp(1, 2, 0));
  EXPECT_EQ(source_of(v6.data()), IpAddress::load(&v6[8], true));
  EXPECT_EQ(destination_of(v6.data()), IpAddress::load(&v6[24], true));
  EXPECT_NE(source_of(v6.data()), destination_of(v6.data()));
}

}  // namespace
}  // namespace surety
