// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

FlowKey key(std::uint32_t tags, std::uint32_t source, std::uint16_t port = 1) {
  FlowKey k;
  k.rest = std::uint64_t{tags} << 32 | port;
  k.address[0] = __builtin_bswap32(source) | std::uint64_t{0x01020304} << 32;
  return k;
}
FlowKey key6(std::uint64_t prefix) {
  FlowKey k;
  k.v6 = true;
  k.address = {__builtin_bswap64(prefix), 1, 2, 3};
  return k;
}
const CustomerHasher kWho(42);

TEST(Customer, IsThePortAndTheNetworkOfTheSourceWhereThereIsNoTag) {
  EXPECT_EQ(kWho(key(0, 0x0a010203, 7), 3), kWho(key(0, 0x0a0102ff, 9), 3));
  EXPECT_NE(kWho(key(0, 0x0a010203), 3), kWho(key(0, 0x0a010303), 3));
  EXPECT_NE(kWho(key(0, 0x0a010203), 3), kWho(key(0, 0x0a010203), 4));
  EXPECT_EQ(port_of(kWho(key(0, 0x0a010203), 3)), 3);
  EXPECT_EQ(kWho(key6(0x20010db8'00010203), 3), kWho(key6(0x20010db8'000102ff), 3)) << "a /56";
  EXPECT_NE(kWho(key6(0x20010db8'00010203), 3), kWho(key6(0x20010db8'00010303), 3));
}

TEST(Customer, IsTheTagsWhereThereAreSome) {
  EXPECT_EQ(kWho(key(100 << 12, 0x0a010203), 0), kWho(key(100 << 12, 0x0b050607), 0));
  EXPECT_NE(kWho(key(100 << 12, 0x0a010203), 0), kWho(key(100 << 12 | 8, 0x0a010203), 0));
}

TEST(Customer, ManyAreSpreadEvenly) {
  std::set<Customer> parts;
  for (std::uint32_t vlan = 1; vlan <= 256; ++vlan) parts.insert(kWho(key(vlan << 12, 0), 0));
  EXPECT_GT(parts.size(), 140u) << "256 (1 - 1 / e) are 162 on average";
  EXPECT_LT(parts.size(), 185u);
}

// What is punted has no key.
TEST(Customer, OfAFrameIsThatOfItsKey) {
  using namespace frames;
  const Octets v4 = ip4(17, udp(1, 2, 8)), v6 = ip6(17, udp(1, 2, 8));
  for (const Octets& frame :
       {ethernet(kIpv4) + v4, ethernet(kIpv6) + v6, ethernet(0x8100) + vlan(0x2064, kIpv4) + v4,
        ethernet(0x88a8) + vlan(100, 0x8100) + vlan(7, kIpv6) + v6,
        ethernet(0x9100) + vlan(100, 0x8100) + vlan(7, kIpv4) + v4, ethernet(0x9200) + vlan(9, kIpv6) + v6}) {
    ParsedPacket h;
    ASSERT_TRUE(parse(frame, our_context(), h).forwards());
    EXPECT_EQ(kWho(frame.data(), h.l3_offset, 2), kWho(h.key, 2));
  }
}

}  // namespace
}  // namespace surety
