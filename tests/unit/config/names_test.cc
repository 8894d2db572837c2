// SPDX-License-Identifier: BSD-3-Clause
#include "config/names.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

TEST(Dscp, NamesOfTheRfcs) {
  EXPECT_EQ(parse_dscp("BE"), 0);
  EXPECT_EQ(parse_dscp("DF"), 0);
  EXPECT_EQ(parse_dscp("LE"), 1);
  EXPECT_EQ(parse_dscp("EF"), 46);
  EXPECT_EQ(parse_dscp("VA"), 44);
  for (int c = 0; c <= 7; ++c) EXPECT_EQ(parse_dscp("CS" + std::to_string(c)), 8 * c);
  for (int c = 1; c <= 4; ++c) {
    for (int p = 1; p <= 3; ++p) {
      EXPECT_EQ(parse_dscp("AF" + std::to_string(c) + std::to_string(p)), 8 * c + 2 * p);  // RFC 2597
    }
  }
}

TEST(Dscp, NumbersFrom0To63) {
  for (int d = 0; d < 64; ++d) EXPECT_EQ(parse_dscp(std::to_string(d)), d);
  for (const auto* text : {"64", "-1", "", "1.0", "AF14", "ef", "CS8", "1 "})
    EXPECT_FALSE(parse_dscp(text)) << text;
}

TEST(Dscp, NameIsTheWayBack) {
  for (Dscp d = 0; d < 64; ++d) EXPECT_EQ(parse_dscp(dscp_name(d)), d);
  EXPECT_EQ(dscp_name(0), "BE");
  EXPECT_EQ(dscp_name(10), "AF11");
  EXPECT_EQ(dscp_name(63), "63");
}

TEST(Protocol, NamesAndNumbersOfIana) {
  const std::pair<const char*, int> cases[] = {
      {"tcp", 6},        {"udp", 17}, {"dccp", 33}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132},
      {"udp-lite", 136}, {"gre", 47}, {"esp", 50},  {"ah", 51},  {"0", 0},       {"255", 255}};
  for (const auto& [text, number] : cases) EXPECT_EQ(parse_protocol(text), number) << text;
  for (const auto* text : {"256", "TCP", "", "-1"}) EXPECT_FALSE(parse_protocol(text)) << text;
}

// That the data plane looks at: a rule by ports of any other would match nothing.
TEST(Protocol, ThoseWithPorts) {
  for (int p = 0; p < 256; ++p) {
    const bool expected = p == 6 || p == 17 || p == 33 || p == 132;
    EXPECT_EQ(has_ports(static_cast<std::uint8_t>(p)), expected) << p;
  }
}

}  // namespace
}  // namespace surety::config
