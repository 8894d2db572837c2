// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/capture_tap.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;
using pcapng::Direction;

constexpr const char* kYaml =
    "version: 1\nrouter: {name: r}\nports: {lan: {}, wan: {trust: core}}\n"
    "interfaces:\n  acme: {port: lan, vlan: 107, customer: a}\n"
    "  homes: {port: lan, vlan: 200, inner_vlan: 1-9, vlan_protocol: 802.1ad}\n";

struct CaptureTapTest : testing::Test {
  CaptureTapTest() {
    wish.known = std::make_shared<const Interfaces>(configured(kYaml));
    wish.reasons.set();
  }
  CaptureTap& tap() {
    if (!tap_) tap_.emplace(std::make_shared<const CaptureWish>(wish), kStart);
    return *tap_;
  }
  void pass(const Octets& frame, std::uint8_t port, Direction direction) {
    rte_mbuf* m = to_mbuf(frame);
    tap().frames({&m, 1}, port, direction);
    rte_pktmbuf_free(m);
  }
  void drop(const Octets& frame, std::uint8_t port, DropReason reason) {
    rte_mbuf* m = to_mbuf(frame);
    tap().dropped(m, port, reason);
    rte_pktmbuf_free(m);
  }
  std::size_t captured() {
    std::size_t n = 0;
    for (; tap().ring().front() != nullptr; tap().ring().pop()) ++n;
    return n;
  }
  CaptureWish wish;
  std::optional<CaptureTap> tap_;
};

TEST_F(CaptureTapTest, OfAPortBothDirectionsAndNobodyElses) {
  wish.ports = 1;
  const Octets frame = udp_frame();
  tap().at(kStart + Duration(5));
  pass(frame, 0, Direction::inbound);
  pass(frame, 1, Direction::inbound);
  pass(frame, 0, Direction::outbound);
  drop(frame, 0, DropReason::early);
  const CapturedPacket* const p = tap().ring().front();
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->time, (kStart + Duration(5)).time_since_epoch().count());
  EXPECT_EQ(p->length, frame.size());
  EXPECT_EQ(p->direction, Direction::inbound);
  EXPECT_EQ(p->reason, static_cast<std::uint8_t>(DropReason::none));
  const auto bytes = PacketRing::bytes(p);
  EXPECT_EQ(Octets(bytes.begin(), bytes.end()), frame);
  EXPECT_EQ(captured(), 2u);
}

TEST_F(CaptureTapTest, CutsAtTheSnapLength) {
  wish.ports = 1;
  wish.snap = 20;
  pass(udp_frame(), 0, Direction::inbound);
  ASSERT_NE(tap().ring().front(), nullptr);
  EXPECT_EQ(tap().ring().front()->captured, 20u);
  EXPECT_EQ(tap().ring().front()->length, 114u);
}

TEST_F(CaptureTapTest, OfInterfacesWhatHasTheirTags) {
  const Interfaces& known = *wish.known;
  wish.interfaces.resize(known.size());
  wish.interfaces[known.of_definition(0)] = 1;      // acme
  wish.interfaces[known.of_definition(1) + 8] = 1;  // homes.8
  const Octets ip = frames::ip4(17, frames::udp(1, 2, 8));
  using namespace frames;
  pass(udp_frame({.vlan = 107}), 0, Direction::inbound);
  pass(udp_frame({.vlan = 107}), 1, Direction::inbound);  // of another port
  pass(udp_frame({.vlan = 108}), 0, Direction::inbound);
  pass(udp_frame(), 0, Direction::inbound);
  pass(ethernet(0x88a8) + vlan(200, 0x8100) + vlan(8, kIpv4) + ip, 0, Direction::outbound);
  pass(ethernet(0x8100) + vlan(200, 0x8100) + vlan(8, kIpv4) + ip, 0,
       Direction::outbound);  // as af_packet has it
  pass(ethernet(0x88a8) + vlan(200, 0x8100) + vlan(9, kIpv4) + ip, 0, Direction::outbound);
  EXPECT_EQ(captured(), 3u);
}

TEST_F(CaptureTapTest, OfHostsOfALinkWhatIsFromThemOrToThem) {
  wish.known = std::make_shared<const Interfaces>(
      configured(std::string(kYaml) +
                 "  tag: {port: lan, vlan: 7}\nservices: {s: {conditioner: none}}\nplans: {p: {service: s}}\n"
                 "subscribers:\n  here: {plan: p, port: lan, prefixes: 10.1.0.0/31}\n"
                 "  there: {plan: p, interface: tag, prefixes: 10.3.0.1}\n"));
  const Interfaces& known = *wish.known;
  wish.hosts = {known.of_definition(3), known.of_definition(4)};
  constexpr std::uint32_t kHere = 0x0a010001, kThere = 0x0a030001, kElse = 0x0a020001;
  pass(udp_frame({.source = kHere, .destination = kElse}), 0, Direction::inbound);
  pass(udp_frame({.source = kElse, .destination = kHere}), 0, Direction::outbound);
  pass(udp_frame({.source = kElse, .destination = kThere, .vlan = 7}), 0, Direction::outbound);
  EXPECT_EQ(captured(), 3u);
  pass(udp_frame({.source = kElse, .destination = kElse}), 0, Direction::inbound);
  pass(udp_frame({.source = kHere, .destination = kElse}), 1, Direction::inbound);
  pass(udp_frame({.source = kHere, .destination = kElse, .vlan = 7}), 0, Direction::inbound);
  pass(udp_frame({.source = kElse, .destination = kThere}), 0, Direction::outbound);
  EXPECT_EQ(captured(), 0u) << "of others, or on another link";
}

TEST_F(CaptureTapTest, OfDropsThoseWithTheirReasonsAndWhatMatches) {
  wish.drops = true;
  wish.reasons.reset();
  wish.reasons.set(static_cast<std::size_t>(DropReason::early));
  wish.matches_all = false;
  wish.match.destination = {*parse_prefix("10.2.0.1/32")};
  drop(udp_frame(), 1, DropReason::early);
  drop(udp_frame(), 1, DropReason::forced);
  drop(udp_frame({.destination = 0x0a020002}), 1, DropReason::early);
  pass(udp_frame(), 1, Direction::inbound);
  ASSERT_NE(tap().ring().front(), nullptr);
  EXPECT_EQ(tap().ring().front()->reason, static_cast<std::uint8_t>(DropReason::early));
  EXPECT_EQ(tap().ring().front()->port, 1);
  EXPECT_EQ(captured(), 1u);
}

TEST_F(CaptureTapTest, CountsWhatIsBeyondTheRate) {
  wish.ports = 1;
  wish.rate = 100;  // of a twentieth of a second, and one, at once
  for (int i = 0; i < 10; ++i) pass(udp_frame(), 0, Direction::inbound);
  EXPECT_EQ(tap().beyond_rate(), 4u);
  tap().at(kStart + std::chrono::milliseconds(10));
  for (int i = 0; i < 10; ++i) pass(udp_frame(), 0, Direction::inbound);
  EXPECT_EQ(tap().beyond_rate(), 13u);
  EXPECT_EQ(captured(), 7u);
  EXPECT_EQ(tap().no_room(), 0u);
}

TEST_F(CaptureTapTest, CountsWhatFindsTheRingFull) {
  wish.ports = 1;
  wish.rate = 100'000;
  wish.snap = 16'384;
  for (int i = 0; i < 600; ++i) pass(udp_frame(), 0, Direction::inbound);
  EXPECT_EQ(tap().no_room(), 600 - captured());
  EXPECT_GT(tap().no_room(), 0u);
}

TEST_F(CaptureTapTest, TheDisposalShowsItEachDropOnceWithItsReason) {
  DataPlane d(std::string(kYaml) + "icmp: {}\n");
  wish.drops = true;
  d.disposal.set_tap(&tap());
  EXPECT_EQ(d.fate(udp_frame()), "drop no_route");
  EXPECT_EQ(d.fate(frames::ethernet(0x1234)), "drop ethertype");
  d.disposal.set_tap(nullptr);
  EXPECT_EQ(d.fate(udp_frame()), "drop no_route");
  ASSERT_NE(tap().ring().front(), nullptr);
  EXPECT_EQ(tap().ring().front()->reason, static_cast<std::uint8_t>(DropReason::no_route));
  EXPECT_EQ(captured(), 2u);
}

}  // namespace
}  // namespace surety
