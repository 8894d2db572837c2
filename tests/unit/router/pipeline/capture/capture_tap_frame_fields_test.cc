// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/capture_tap.h"

#include <gtest/gtest.h>

#include "config/names.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace frames;

config::Match match(const std::vector<std::string>& words) {
  std::vector<config::Field> fields;
  for (const auto& w : words) fields.push_back(config::field_of(w));
  const auto text = config::parse_fields(fields);
  EXPECT_EQ(text.error, "");
  return text.match;
}

bool matches(const Octets& frame, const std::vector<std::string>& words) {
  return surety::matches(match(words), fields_of(frame));
}

TEST(FrameFields, AnOrdinaryPacketSaysAllOfIt) {
  const Octets frame = test::udp_frame({.from = 7, .to = 5004, .tos = 46 << 2});
  const auto f = fields_of(frame);
  ASSERT_TRUE(f.ip);
  EXPECT_EQ(to_string(f.ip->source), "10.1.0.1");
  EXPECT_EQ(to_string(f.ip->destination), "10.2.0.1");
  EXPECT_EQ(f.ip->source_port, 7);
  EXPECT_EQ(f.ip->destination_port, 5004);
  EXPECT_EQ(f.vlan, 0);
  for (const char* word : {"source=10.1.0.1", "source=10.1.0.0/16", "destination=10.2.0.1", "protocol=udp",
                           "dscp=EF", "source_port=7", "destination_port=5000-5010", "family=ipv4"})
    EXPECT_TRUE(matches(frame, {word})) << word;
  for (const char* word : {"source=10.1.0.2", "destination=10.1.0.0/16", "protocol=tcp", "dscp=AF11",
                           "source_port=8", "destination_port=5005", "family=ipv6", "source=2001:db8::/32"})
    EXPECT_FALSE(matches(frame, {word})) << word;
}

TEST(FrameFields, TagsAreReadAndAPriorityTagIsNone) {
  const auto one = fields_of(test::udp_frame({.vlan = 107}));
  EXPECT_EQ(one.tag_protocol, 0x8100);
  EXPECT_EQ(one.vlan, 107);
  EXPECT_EQ(one.inner_vlan, 0);
  const Octets ip = ip4(17, udp(1, 2, 8));
  const auto two = fields_of(ethernet(0x88a8) + vlan(200, 0x8100) + vlan(8, kIpv4) + ip);
  EXPECT_EQ(two.tag_protocol, 0x88a8);
  EXPECT_EQ(two.vlan, 200);
  EXPECT_EQ(two.inner_vlan, 8);
  EXPECT_TRUE(two.ip);
  const auto old = fields_of(ethernet(0x9100) + vlan(7, kIpv4) + ip);
  EXPECT_EQ(old.tag_protocol, 0x9100);
  EXPECT_EQ(old.vlan, 7);
  EXPECT_TRUE(old.ip);
  EXPECT_EQ(fields_of(ethernet(0x8100) + vlan(0xe000, kIpv4) + ip).vlan, 0);
}

TEST(FrameFields, OfIpv6ExtensionHeadersAreWalkedThrough) {
  const Octets hop_by_hop{17, 0, 1, 4, 0, 0, 0, 0};
  const Octets frame = ethernet(kIpv6) + ip6(0, hop_by_hop + udp(7, 5004, 8));
  EXPECT_TRUE(matches(frame, {"protocol=udp", "destination_port=5004"}));
  const Octets later{17, 0, 0, 8, 0, 0, 0, 1};
  EXPECT_TRUE(matches(ethernet(kIpv6) + ip6(44, later + udp(7, 5004, 8)), {"protocol=udp"}));
  EXPECT_FALSE(matches(ethernet(kIpv6) + ip6(44, later + udp(7, 5004, 8)), {"destination_port=5004"}));
}

TEST(FrameFields, WhatTheRouterWouldNotTakeIsReadAllTheSame) {
  Octets broken = test::udp_frame({.source = 0x7f000001});
  broken[14 + 10] ^= 1;  // its checksum
  EXPECT_TRUE(matches(broken, {"source=127.0.0.1"}));
  EXPECT_TRUE(matches(ethernet(kArp), {}));
  EXPECT_FALSE(matches(ethernet(kArp), {"source=10.1.0.1"}));
}

TEST(FrameFields, NothingIsReadBeyondTheEnd) {
  for (const Octets& whole :
       {test::udp_frame({.vlan = 7}, 60), ethernet(kIpv6) + ip6(0, Octets{60, 1, 0, 0, 0, 0, 0, 0})})
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const auto exactly = std::make_unique<std::uint8_t[]>(n);  // for the address sanitizer
      std::copy_n(whole.begin(), n, exactly.get());
      fields_of({exactly.get(), n});
    }
}

}  // namespace
}  // namespace surety
