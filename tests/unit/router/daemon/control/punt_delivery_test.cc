// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/punt_delivery.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/control/control_bed.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace test;
using arp::Operation;
using frames::operator+;
using responder_frames::arp_frame;
using responder_frames::kBroadcast;
using responder_frames::kNobody;
using responder_frames::kPeer;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Result = ExceptionResult;

struct PuntDeliveryTest : testing::Test {
  ControlBed bed;
  std::vector<Octets> given;  // to the kernel
  bool kernel_takes = true;

  void connect() {
    bed.delivery.connect([this](std::span<const std::uint8_t> packet) {
      given.emplace_back(packet.begin(), packet.end());
      return kernel_takes;
    });
  }
  std::uint64_t errors(IcmpErrorResult result) const {
    return bed.delivery.icmp_errors().results()[static_cast<std::size_t>(result)];
  }
  // The results counted for a port by packets that come up.
  std::uint64_t counted_up(PortIndex port) const {
    std::uint64_t n = 0;
    for (std::size_t r = 0; r < kExceptionResults; ++r)
      if (kExceptionResultInfo[r].way == "up") n += bed.counted(port, static_cast<Result>(r));
    return n;
  }
};

Octets ip_of(const Octets& frame, std::size_t l3 = 14) {
  return {frame.begin() + static_cast<std::ptrdiff_t>(l3), frame.end()};
}

TEST_F(PuntDeliveryTest, AnEmptyRingIsNoWork) {
  EXPECT_FALSE(bed.delivery.deliver(kStart));
}

TEST_F(PuntDeliveryTest, TheResponderAnswersWhereNoKernelDoes) {
  bed.open(kLan);
  bed.punt(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.7", kNobody, "10.1.0.254"),
           PuntReason::arp, 0);
  EXPECT_TRUE(bed.delivery.deliver(kStart));
  EXPECT_EQ(bed.counted(kLan, Result::to_responder), 1U);
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_THAT(bed.frames_by(kLan),
              Contains(arp_frame(Operation::reply, kPeer, port_mac(kLan), "10.1.0.254", kPeer, "10.1.0.7")));
}

TEST_F(PuntDeliveryTest, AClosedPortOfTheResponderIsReported) {
  bed.open(kLan);
  bed.punt(udp_frame({.destination = 0x0a0100fe}), PuntReason::local);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::to_responder), 1U);
  EXPECT_EQ(errors(IcmpErrorResult::port_unreachable), 1U);
}

TEST_F(PuntDeliveryTest, ThePacketGoesToTheKernelOfTheDevice) {
  bed.open(kWan, 8);
  const Octets frame = udp_frame({.destination = 0x0a0200fe, .tos = kAf11 << 2, .port = kWan});
  bed.punt(frame, PuntReason::local, 14, 0, kWan);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kWan, Result::no_taker), 1U) << "no way to it yet";
  connect();
  bed.punt(frame, PuntReason::local, 14, 0, kWan);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kWan, Result::to_kernel), 1U);
  EXPECT_THAT(given, ElementsAre(ip_of(frame)));
  kernel_takes = false;
  bed.punt(frame, PuntReason::local, 14, 0, kWan);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kWan, Result::kernel_refused), 1U);
}

// With its DSCP the kernel would answer in that class.
TEST_F(PuntDeliveryTest, APacketOfACustomerReachesTheKernelAsBestEffort) {
  bed.open(kLan, 7);
  connect();
  bed.punt(udp_frame({.destination = 0x0a0100fe, .tos = kEf << 2}), PuntReason::local);
  bed.delivery.deliver(kStart);
  EXPECT_THAT(given, ElementsAre(ip_of(udp_frame({.destination = 0x0a0100fe}))));
}

TEST_F(PuntDeliveryTest, TagsAreRemovedAndTheAnswerHasThemAgain) {
  const ControlPort& acme = bed.open_interface(0, 9);
  connect();
  const Octets frame = udp_frame({.source = 0x0a030007, .vlan = 107});
  bed.punt(frame, PuntReason::local, 18, 0, acme.index);
  bed.punt(frame, PuntReason::ttl, 18, 0, acme.index);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::to_kernel), 1U);
  EXPECT_THAT(given, ElementsAre(ip_of(frame, 18)));
  ASSERT_THAT(bed.sent, SizeIs(1));
  EXPECT_EQ(bed.sent[0].port, kLan);
  EXPECT_EQ(bed.sent[0].interface, acme.index);
}

TEST_F(PuntDeliveryTest, TheSenderIsToldThatTheTtlIsUsedUp) {
  bed.open(kLan);
  bed.open(kWan);
  bed.punt(udp_frame({.ttl = 1}), PuntReason::ttl);
  bed.punt(udp_frame({.source = 0x0a020007, .ttl = 1, .port = kWan}), PuntReason::ttl, 14, 0, kWan);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::icmp_error), 1U);
  EXPECT_EQ(errors(IcmpErrorResult::time_exceeded), 2U);
  ASSERT_THAT(bed.sent, SizeIs(2));
  const Octets &to_customer = bed.sent[0].frame, &to_core = bed.sent[1].frame;
  EXPECT_EQ(bed.sent[0].port, kLan);
  EXPECT_EQ(Octets(to_customer.begin(), to_customer.begin() + 6),
            Octets(frames::kTheirMac.begin(), frames::kTheirMac.end()));
  EXPECT_EQ(to_customer[34], 11) << "time exceeded";
  EXPECT_EQ(dscp_of(to_customer), kCs6);
  EXPECT_EQ(bed.sent[1].port, kWan);
  EXPECT_EQ(dscp_of(to_core), kBe) << "anybody can cause it";
}

TEST_F(PuntDeliveryTest, AnErrorWithoutASourceAddressIsTheKernels) {
  bed.open(kLan);
  const Octets frame = frames::ethernet(frames::kIpv6, port_mac(kLan)) +
                       frames::ip6(17, frames::udp(1000, 5001, 10), {.hop_limit = 1});
  bed.punt(frame, PuntReason::ttl);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::icmp_error), 1U);
  EXPECT_EQ(errors(IcmpErrorResult::no_address), 1U);
  connect();
  bed.punt(frame, PuntReason::ttl);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::to_kernel), 1U);
  EXPECT_THAT(given, ElementsAre(ip_of(frame)));
  EXPECT_THAT(bed.sent, IsEmpty());
}

TEST_F(PuntDeliveryTest, ADropIsReportedAndNotCountedAgain) {
  bed.open(kLan);
  bed.punt(udp_frame(), PuntReason::none, 14, static_cast<std::uint32_t>(Refusal::no_route));
  bed.punt(udp_frame(), PuntReason::none, 14, static_cast<std::uint32_t>(Refusal::prohibited));
  EXPECT_TRUE(bed.delivery.deliver(kStart));
  EXPECT_EQ(errors(IcmpErrorResult::net_unreachable), 1U);
  EXPECT_EQ(errors(IcmpErrorResult::prohibited), 1U);
  EXPECT_EQ(counted_up(kLan), 0U);
}

TEST_F(PuntDeliveryTest, APacketWaitsForItsNeighbor) {
  constexpr std::uint32_t kHop = 100;
  bed.open(kLan);
  bed.open(kWan);
  bed.sink.set_next_hop(kHop, {.port = kWan, .state = NextHopEntry::State::glean, .interface = kWan});
  bed.punt(udp_frame({.tos = kEf << 2}), PuntReason::neighbor, 14, kHop);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(bed.counted(kLan, Result::held), 1U);
  bed.collector.collect(kStart);
  const MacAddress wan = port_mac(kWan);
  EXPECT_THAT(bed.frames_by(kWan),
              ElementsAre(arp_frame(Operation::request, kBroadcast, wan, "10.2.0.254", kNobody, "10.2.0.1")));
  bed.sent.clear();
  bed.punt(arp_frame(Operation::reply, wan, kPeer, "10.2.0.1", wan, "10.2.0.254"), PuntReason::arp, 0, 0,
           kWan);
  bed.delivery.deliver(kStart);
  bed.collector.collect(kStart);
  EXPECT_TRUE(bed.routes.knows(kWan, address("10.2.0.1")));
  ASSERT_THAT(bed.frames_by(kWan), SizeIs(1));
  const Octets packet = bed.frames_by(kWan)[0];
  EXPECT_EQ(Octets(packet.begin(), packet.begin() + 6), Octets(kPeer.begin(), kPeer.end()));
  EXPECT_EQ(packet[22], 63) << "TTL";
  EXPECT_EQ(dscp_of(packet), kBe) << "it passed no conditioner";
}

TEST_F(PuntDeliveryTest, NobodyTakesAPacketOfALinkThatIsNotThere) {
  const InterfaceIndex acme = bed.links.interfaces()->of_definition(0);
  bed.punt(udp_frame({.vlan = 107}), PuntReason::local, 18, 0, acme);
  bed.punt(udp_frame({.ttl = 1}), PuntReason::ttl);
  EXPECT_TRUE(bed.delivery.deliver(kStart));
  EXPECT_EQ(bed.counted(kLan, Result::no_taker), 2U);
  EXPECT_THAT(bed.sent, IsEmpty());
}

// The first frame behind a new link is not of a neighbour that the link's start would remove.
TEST_F(PuntDeliveryTest, ALinkThatWasDownIsReadBeforeItsNextPacket) {
  ControlPort& lan = bed.open(kLan);
  bed.up[kLan] = false;
  bed.watch.read(kStart);
  bed.up[kLan] = true;
  bed.punt(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.7", kNobody, "10.1.0.254"),
           PuntReason::arp, 0);
  bed.delivery.deliver(kStart);
  EXPECT_EQ(lan.state.up, true);
}

}  // namespace
}  // namespace surety
