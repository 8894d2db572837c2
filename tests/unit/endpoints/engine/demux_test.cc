// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/demux.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

using frames::be16;
using frames::zeros;
using frames::operator+;

constexpr std::uint16_t kPort = 6511;

Tuple tuple() {
  return {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 80, 4000};
}
Refusal demux(const IpPacket& p, Tuple& t, Transport& transport) {
  return endpoints::demux(p, kPort, t, transport);
}

TEST(Demux, LocalIsTheDestination) {
  Tuple t;
  Transport transport{};
  for (const auto& [protocol, want] : {std::pair{kTcpProtocol, Transport::tcp},
                                       {kUdpProtocol, Transport::udp},
                                       {kDccpProtocol, Transport::dccp}}) {
    const Datagram d(tuple(), protocol, be16(4000) + be16(80) + zeros(16));
    EXPECT_EQ(demux(d.packet, t, transport), Refusal::none);
    EXPECT_EQ(t, tuple());
    EXPECT_EQ(transport, want);
  }
}

TEST(Demux, RefusesWhatHasNoPorts) {
  Tuple t;
  Transport transport{};
  EXPECT_EQ(demux(Datagram(tuple(), kTcpProtocol, zeros(3)).packet, t, transport), Refusal::truncated);
  EXPECT_EQ(demux(Datagram(tuple(), 132, zeros(20)).packet, t, transport), Refusal::no_listener);
}

// UDP to the port of RFC 6773 around 12 bytes of DCCP from port 4000 to 80.
struct DccpInUdp : testing::Test {
  Datagram d{tuple(), kUdpProtocol,
             be16(50000) + be16(kPort) + be16(20) + zeros(2) + be16(4000) + be16(80) + zeros(8)};
  Tuple t;
  Transport transport{};
  DccpInUdp() { d.fix_checksum(6); }
};

TEST_F(DccpInUdp, HasThePortsOfDccp) {
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::none);
  EXPECT_EQ(t, tuple());
  EXPECT_EQ(transport, Transport::dccp_udp);
  const IpPacket inner = without_udp(d.packet);
  EXPECT_EQ(inner.protocol, 33);
  EXPECT_EQ(inner.payload.data(), d.bytes.data() + 8);
  EXPECT_EQ(inner.payload.size(), 12u);
  EXPECT_EQ(inner.udp_source, 50000);
  EXPECT_EQ(inner.udp_destination, kPort);
  EXPECT_EQ(inner.source, d.packet.source);
  EXPECT_EQ(inner.length, d.packet.length);
}

TEST_F(DccpInUdp, TheChecksumMustBeThereAndGood) {
  d.bytes[10] ^= 1;
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::checksum);
  d.packet.l4_verified = true;
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::none);
  d.bytes[6] = d.bytes[7] = 0;
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::checksum);
}

TEST_F(DccpInUdp, WhatFollowsTheDatagramIsNotPartOfIt) {
  d.bytes.push_back(0xee);
  d.packet.payload = d.bytes;
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::none);
  EXPECT_EQ(without_udp(d.packet).payload.size(), 12u);
}

TEST_F(DccpInUdp, LengthsAreChecked) {
  store(&d.bytes[4], swap16(21));
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::length);
  store(&d.bytes[4], swap16(7));
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::length);
  store(&d.bytes[4], swap16(19));
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::truncated);
  d.packet.payload = d.packet.payload.first(7);
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::truncated);
}

TEST_F(DccpInUdp, FromThatPortIsOrdinaryUdp) {
  store(&d.bytes[0], swap16(kPort));
  store(&d.bytes[2], swap16(7000));
  EXPECT_EQ(demux(d.packet, t, transport), Refusal::none);
  EXPECT_EQ(transport, Transport::udp);
  EXPECT_EQ(t.local_port, 7000);
}

}  // namespace
}  // namespace surety::endpoints
