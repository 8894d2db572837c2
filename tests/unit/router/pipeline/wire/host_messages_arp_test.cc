// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/host_messages.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::endpoints {
namespace {

constexpr MacAddress kMac{2, 0, 0, 0, 0, 1}, kPeer{2, 0, 0, 0, 0, 2};

// A request of 10.0.0.1 for 10.0.0.2, byte by byte (RFC 826).
const std::vector<std::uint8_t> kRequest{
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,  0, 0, 0, 0, 1, 8, 6,  // Ethernet
    0,    1,    8,    0,    6,    4,    0,  1,                    // types, lengths, operation
    2,    0,    0,    0,    0,    1,    10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2};

arp::Message request() {
  return {arp::Operation::request, kMac, {}, IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2)};
}
std::span<const std::uint8_t> body(const std::vector<std::uint8_t>& frame) {
  return std::span(frame).subspan(14);
}

TEST(Arp, ARequestByteByByte) {
  std::vector<std::uint8_t> frame(arp::kFrame);
  arp::write(frame.data(), kBroadcastMac, request());
  EXPECT_EQ(frame, kRequest);
}

TEST(Arp, ReadsWhatItWrites) {
  arp::Message reply{arp::Operation::reply, kPeer, kMac, IpAddress::v4(10, 0, 0, 2),
                     IpAddress::v4(10, 0, 0, 1)};
  std::vector<std::uint8_t> frame(arp::kFrame);
  arp::write(frame.data(), kMac, reply);
  const auto m = arp::read(body(frame));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->operation, arp::Operation::reply);
  EXPECT_EQ(m->sender_mac, kPeer);
  EXPECT_EQ(m->target_mac, kMac);
  EXPECT_EQ(m->sender, reply.sender);
  EXPECT_EQ(m->target, reply.target);
}

TEST(Arp, EveryFieldOfTheHeaderIsChecked) {
  ASSERT_TRUE(arp::read(body(kRequest)));
  for (const std::size_t at : {14u, 15u, 16u, 17u, 18u, 19u, 20u}) {
    auto bad = kRequest;
    bad[at] ^= 0x40;
    EXPECT_FALSE(arp::read(body(bad))) << at;
  }
  auto other = kRequest;
  other[21] = 3;
  EXPECT_FALSE(arp::read(body(other)));
  auto group = kRequest;
  group[22] |= 1;
  EXPECT_FALSE(arp::read(body(group)));
  EXPECT_FALSE(arp::read(body(kRequest).first(27)));
}

}  // namespace
}  // namespace surety::endpoints
