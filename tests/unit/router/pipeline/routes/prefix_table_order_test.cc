// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/prefix_table.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

TEST(Prefixes, LastAddress) {
  const std::pair<const char*, const char*> cases[] = {
      {"0.0.0.0/0", "255.255.255.255"},
      {"10.1.2.3/8", "10.255.255.255"},
      {"10.1.2.3/23", "10.1.3.255"},
      {"10.1.2.3/30", "10.1.2.3"},
      {"10.1.2.3/32", "10.1.2.3"},
      {"2001:db8::/33", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"},
      {"::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {"2001:db8::1/128", "2001:db8::1"}};
  for (const auto& [p, last] : cases) EXPECT_EQ(to_string(last_address(prefix(p))), last) << p;
}

TEST(Prefixes, OrderIsFamilyThenAddressThenLength) {
  const char* const sorted[] = {"0.0.0.0/0",  "10.0.0.0/8", "10.0.0.0/9",
                                "10.0.0.1/8", "::/0",       "2001:db8::/32"};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(prefix(sorted[i]) < prefix(sorted[k]), i < k) << i << k;
}

TEST(Prefixes, Forwardable) {
  for (const auto* p : {"0.0.0.0/0", "10.0.0.0/8", "223.255.255.0/24", "192.0.0.0/3", "::/0", "2000::/3",
                        "fd00::/8", "fec0::/10", "fe00::/7"})
    EXPECT_TRUE(is_forwardable(prefix(p))) << p;
  for (const auto* p : {"224.0.0.0/4", "224.0.0.0/3", "240.0.0.0/4", "255.255.255.255/32", "239.1.2.3/32",
                        "ff00::/8", "ff02::1/128", "fe80::/10", "fe80::/64", "febf::1/128"})
    EXPECT_FALSE(is_forwardable(prefix(p))) << p;
}

TEST(Prefixes, Hosts) {
  EXPECT_EQ(to_string(host_prefix(address("10.0.0.1"))), "10.0.0.1/32");
  EXPECT_EQ(to_string(host_prefix(address("2001:db8::1"))), "2001:db8::1/128");
  EXPECT_TRUE(is_host(prefix("10.0.0.1/32")));
  EXPECT_FALSE(is_host(prefix("2001:db8::/32")));
}

}  // namespace
}  // namespace surety
