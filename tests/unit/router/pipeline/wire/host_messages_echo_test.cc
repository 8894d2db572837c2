// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/host_messages.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

using frames::be16;
using frames::Octets;
using frames::zeros;
using frames::operator+;

Octets ping(std::uint8_t type) {
  return Octets{type, 0, 0, 0} + be16(0x1234) + be16(7) + Octets{'h', 'i', '!'};
}
struct V4 : testing::Test {
  Datagram d{{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 0, 0}, 1, ping(8)};
  std::vector<std::uint8_t> out = std::vector<std::uint8_t>(100);
  Slot slot{out.data(), 100, 0};
  V4() {
    Sum s;
    s.add(d.bytes);
    store(&d.bytes[2], s.checksum_field());
    d.packet.traffic_class = 10 << 2 | 1;
  }
};
using EchoV4 = V4;

TEST_F(EchoV4, AReplyReturnsThePayload) {
  ASSERT_TRUE(echo::is_request(d.packet));
  ASSERT_TRUE(echo::reply(d.packet, slot));
  EXPECT_EQ(slot.length, 31u);
  Octets want = frames::ip4(1, d.bytes, {.source = 0x0a000001, .destination = 0x0a000002, .tos = 10 << 2});
  want[4] = want[5] = 0;  // no identification
  frames::fix_checksum(want.data());
  want[20] = 0;
  const Octets icmp = Octets(want.begin() + 20, want.end()) + zeros(1);
  Octets blank = icmp;
  blank[2] = blank[3] = 0;
  store(&want[22], swap16(frames::checksum(blank.data(), blank.size())));
  EXPECT_EQ(Octets(out.begin(), out.begin() + 31), want);
}

TEST_F(EchoV4, WrongChecksumsAndSmallSlotsAreNot) {
  slot.capacity = 30;
  EXPECT_FALSE(echo::reply(d.packet, slot));
  slot.capacity = 31;
  EXPECT_TRUE(echo::reply(d.packet, slot));
  d.bytes[9] ^= 1;
  EXPECT_FALSE(echo::reply(d.packet, slot));
}

TEST_F(EchoV4, OnlyEchoRequestsAreRequests) {
  d.bytes[1] = 1;
  EXPECT_FALSE(echo::is_request(d.packet));
  d.bytes[1] = 0;
  for (const auto type : std::vector<std::uint8_t>{0, 3, 128, 129}) {
    d.bytes[0] = type;
    EXPECT_FALSE(echo::is_request(d.packet)) << int{type};
  }
  d.bytes[0] = 8;
  d.packet.payload = d.packet.payload.first(7);
  EXPECT_FALSE(echo::is_request(d.packet));
  d.packet.payload = d.bytes;
  d.packet.protocol = 58;
  EXPECT_FALSE(echo::is_request(d.packet));
}

TEST(EchoV6, AReplyReturnsThePayload) {
  Datagram d({IpAddress::v6(frames::kSource6.data()), IpAddress::v6(frames::kDestination6.data()), 0, 0}, 58,
             ping(128));
  d.fix_checksum(2);
  std::vector<std::uint8_t> out(100);
  Slot slot{out.data(), 100, 0};
  ASSERT_TRUE(echo::is_request(d.packet));
  ASSERT_TRUE(echo::reply(d.packet, slot));
  EXPECT_EQ(slot.length, 51u);
  EXPECT_EQ(out[40], 129);
  EXPECT_EQ(Octets(out.begin() + 44, out.begin() + 51), Octets(d.bytes.begin() + 4, d.bytes.end()));
  Sum s = pseudo_header(d.packet.destination, d.packet.source, 58, 11);
  s.add(std::span(out).subspan(40, 11));
  EXPECT_TRUE(s.valid());
  EXPECT_EQ(IpAddress::v6(&out[8]), d.packet.destination);
  EXPECT_EQ(IpAddress::v6(&out[24]), d.packet.source);
}

}  // namespace
}  // namespace surety::endpoints
