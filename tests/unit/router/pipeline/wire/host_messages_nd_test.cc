// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/host_messages.h"

#include <gtest/gtest.h>

#include <vector>

#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/headers.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::endpoints {
namespace {

using frames::Address6;

constexpr MacAddress kMac{2, 0, 0, 0, 0, 1};
constexpr Address6 kSolicitedOfTwo{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2};

IpAddress address(const Address6& a) {
  return IpAddress::v6(a.data());
}

// A frame and the view of it, as the router's parser sees it.
struct Written {
  std::vector<std::uint8_t> frame = std::vector<std::uint8_t>(nd::kFrame);
  Written(const IpAddress& source, const IpAddress& destination, const nd::Message& m) {
    nd::write(frame.data(), nd::multicast_mac(destination), kMac, source, destination, m);
  }
  std::uint8_t* icmp() { return &frame[54]; }
  void fix_checksum() { fix_checksum(packet()); }
  void fix_checksum(const IpPacket& parsed) {
    icmp()[2] = icmp()[3] = 0;
    Sum s = pseudo_header(parsed);
    s.add(parsed.payload);
    store(icmp() + 2, s.checksum_field());
  }
  IpPacket packet() const {
    ParsedPacket p;
    const ParseOutcome outcome = parse(frame, {.mac = frames::kOurMac, .promiscuous = true}, p);
    EXPECT_EQ(outcome.punt, PuntReason::neighbor_discovery);
    return ip_packet(frame, p);
  }
};
Written solicitation() {
  return {address(frames::kSource6),
          address(kSolicitedOfTwo),
          {.solicitation = true, .flags = 0, .target = address(frames::kDestination6), .link_layer = kMac}};
}
Written advertisement(std::uint8_t flags, const IpAddress& to) {
  return {address(frames::kSource6),
          to,
          {.solicitation = false, .flags = flags, .target = address(frames::kSource6), .link_layer = kMac}};
}

TEST(NeighborDiscovery, ASolicitationByteByByte) {
  Written w = solicitation();
  EXPECT_EQ(std::vector(w.frame.begin(), w.frame.begin() + 14),
            (std::vector<std::uint8_t>{0x33, 0x33, 0xff, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd}));
  EXPECT_EQ(w.frame[21], 255);
  EXPECT_EQ(w.icmp()[0], 135);
  EXPECT_EQ(std::vector(w.icmp() + 4, w.icmp() + 8), std::vector<std::uint8_t>(4));
  EXPECT_EQ(std::vector(w.icmp() + 8, w.icmp() + 24),
            std::vector(frames::kDestination6.begin(), frames::kDestination6.end()));
  EXPECT_EQ(std::vector(w.icmp() + 24, w.icmp() + 32), (std::vector<std::uint8_t>{1, 1, 2, 0, 0, 0, 0, 1}));
}

TEST(NeighborDiscovery, ReadsWhatItWrites) {
  const auto s = nd::read(solicitation().packet());
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->solicitation);
  EXPECT_EQ(s->target, address(frames::kDestination6));
  EXPECT_EQ(s->link_layer, kMac);
  const auto a = nd::read(advertisement(nd::kOverrideFlag, nd::all_nodes()).packet());
  ASSERT_TRUE(a);
  EXPECT_FALSE(a->solicitation);
  EXPECT_EQ(a->flags, nd::kOverrideFlag);
  EXPECT_EQ(a->link_layer, kMac);
}

// RFC 4861 7.1.1 and 7.1.2, one after the other.
TEST(NeighborDiscovery, InvalidMessagesAreNone) {
  const auto altered = [](std::size_t at, std::uint8_t value) {
    Written w = solicitation();
    w.icmp()[at] = value;
    w.fix_checksum();
    return nd::read(w.packet());
  };
  EXPECT_TRUE(altered(7, 9));       // reserved: ignored
  EXPECT_FALSE(altered(1, 1));      // code
  EXPECT_FALSE(altered(8, 0xff));   // multicast target
  Written mapped = solicitation();  // a target that is an IPv4 address: ::ffff:10.1.0.2
  const IpAddress v4 = IpAddress::v4(10, 1, 0, 2);
  std::memcpy(mapped.icmp() + 8, &v4, 16);
  mapped.fix_checksum();
  EXPECT_FALSE(nd::read(mapped.packet()));
  EXPECT_FALSE(altered(25, 0));  // option of no length
  EXPECT_FALSE(altered(25, 2));  // option beyond the end
  Written redirect = solicitation();
  const IpPacket parsed = redirect.packet();
  redirect.icmp()[0] = 137;
  redirect.fix_checksum(parsed);
  EXPECT_FALSE(nd::read(parsed));
  const auto unknown = altered(24, 77);
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(unknown->link_layer);
  Written wrong = solicitation();
  wrong.icmp()[30] ^= 1;
  EXPECT_FALSE(nd::read(wrong.packet()));
  EXPECT_FALSE(nd::read(advertisement(nd::kSolicitedFlag, nd::all_nodes()).packet()));
  IpPacket truncated = solicitation().packet();
  truncated.payload = truncated.payload.first(23);
  EXPECT_FALSE(nd::read(truncated));
}

// Duplicate address detection: no source, no link-layer option, to the solicited-node address.
TEST(NeighborDiscovery, AProbeHasNoLinkLayerAddress) {
  const nd::Message m{
      .solicitation = true, .flags = 0, .target = address(frames::kDestination6), .link_layer = kMac};
  Written w(IpAddress::unspecified(true), address(kSolicitedOfTwo), m);
  EXPECT_FALSE(nd::read(w.packet()));
  w.icmp()[24] = 14;  // a nonce (RFC 7527) in its place
  w.fix_checksum();
  EXPECT_TRUE(nd::read(w.packet()));
  Written elsewhere(IpAddress::unspecified(true), nd::all_nodes(), m);
  elsewhere.icmp()[24] = 14;
  elsewhere.fix_checksum();
  EXPECT_FALSE(nd::read(elsewhere.packet()));
}

TEST(NeighborDiscovery, AddressesThatAreMadeOfOthers) {
  EXPECT_EQ(nd::solicited_node(address(frames::kDestination6)), address(kSolicitedOfTwo));
  EXPECT_EQ(nd::multicast_mac(nd::all_nodes()), (MacAddress{0x33, 0x33, 0, 0, 0, 1}));
  // RFC 4291 appendix A: 34-56-78-9a-bc-de.
  constexpr Address6 kLinkLocal{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x36, 0x56, 0x78, 0xff, 0xfe, 0x9a, 0xbc, 0xde};
  EXPECT_EQ(nd::link_local({0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde}), address(kLinkLocal));
}

}  // namespace
}  // namespace surety::endpoints
