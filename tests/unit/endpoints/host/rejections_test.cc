// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/host.h"

#include <gtest/gtest.h>

#include "endpoints/tcp/wire_tcp.h"
#include "endpoints/tfrc/wire_dccp.h"
#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time at(Duration d) {
  return Time(d);
}
const Tuple kOurs{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 80, 4000};
const Tuple kTheirs{kOurs.remote, kOurs.local, 4000, 80};

// The peer's packet, as received.
struct Sent {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(200);
  IpPacket packet;
  explicit Sent(const tcp::Segment& s) {
    Slot slot{bytes.data(), 200, 0};
    tcp::write(s, IpWriter(kTheirs, 6), 0, slot);
    view(slot.length, 20, 6);
  }
  explicit Sent(const dccp::Packet& p, dccp::PacketWriter::UdpPorts udp = {}) {
    Slot slot{bytes.data(), 200, 0};
    dccp::PacketWriter(kTheirs, udp).write(slot, p, {}, 0);
    view(slot.length, udp.local != 0 ? 28 : 20, 33);
    packet.udp_source = udp.local;
    packet.udp_destination = udp.remote;
  }
  void view(std::uint32_t length, std::size_t header, std::uint8_t protocol) {
    packet.source = kOurs.remote;
    packet.destination = kOurs.local;
    packet.protocol = protocol;
    packet.payload = std::span(bytes).first(length).subspan(header);
  }
};
tcp::Segment segment(std::uint8_t flags, std::uint32_t sequence, std::uint32_t ack) {
  tcp::Segment s;
  s.source_port = 4000;
  s.destination_port = 80;
  s.flags = flags;
  s.sequence = sequence;
  s.ack = ack;
  return s;
}
dccp::Packet packet(dccp::Type type, std::uint64_t sequence, std::uint64_t ack) {
  dccp::Packet p;
  p.source_port = 4000;
  p.destination_port = 80;
  p.type = type;
  p.sequence = sequence;
  p.ack = ack;
  return p;
}

struct RejectionsTest : testing::Test {
  Rejections rejections{at(0s)};
  Slots out{40};

  std::size_t answers(const Sent& s, Transport t, Refusal why, Time now = at(0s)) {
    rejections.consider(s.packet, t, kOurs, why, now);
    return rejections.write(out.slots);
  }
  // The answer, read by the product's own readers.
  IpPacket answer(std::size_t header, std::uint8_t protocol) {
    IpPacket p;
    p.source = kOurs.local;
    p.destination = kOurs.remote;
    p.protocol = protocol;
    p.payload = std::span(out.bytes[0]).first(out.slots[0].length).subspan(header);
    return p;
  }
  tcp::Segment tcp_answer() {
    tcp::Segment s;
    EXPECT_EQ(tcp::read(answer(20, 6), s), Refusal::none);
    return s;
  }
  dccp::Packet dccp_answer() {
    dccp::Packet p;
    EXPECT_EQ(dccp::read(answer(20, 33), p), Refusal::none);
    return p;
  }
};

// RFC 9293 3.10.7.1: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>.
TEST_F(RejectionsTest, ASynToNobodyIsReset) {
  ASSERT_EQ(answers(Sent(segment(tcp::kSyn, 1000, 0)), Transport::tcp, Refusal::no_listener), 1u);
  const tcp::Segment s = tcp_answer();
  EXPECT_EQ(s.flags, tcp::kRst | tcp::kAck);
  EXPECT_EQ(s.sequence, 0u);
  EXPECT_EQ(s.ack, 1001u);
  EXPECT_EQ(s.source_port, 80);
  EXPECT_EQ(s.destination_port, 4000);
  EXPECT_TRUE(rejections.empty());
}

// <SEQ=SEG.ACK><CTL=RST>.
TEST_F(RejectionsTest, AnAckToNobodyIsResetAtItsAcknowledgement) {
  for (const Refusal why : {Refusal::no_listener, Refusal::state}) {
    ASSERT_EQ(answers(Sent(segment(tcp::kAck, 1000, 77)), Transport::tcp, why), 1u);
    EXPECT_EQ(tcp_answer().flags, tcp::kRst);
    EXPECT_EQ(tcp_answer().sequence, 77u);
  }
}

TEST_F(RejectionsTest, ResetsAreNeverAnswered) {
  EXPECT_EQ(answers(Sent(segment(tcp::kRst, 1, 0)), Transport::tcp, Refusal::no_listener), 0u);
  EXPECT_EQ(answers(Sent(segment(tcp::kRst | tcp::kAck, 1, 1)), Transport::tcp, Refusal::no_listener), 0u);
  EXPECT_EQ(answers(Sent(packet(dccp::Type::reset, 1, 1)), Transport::dccp, Refusal::no_listener), 0u);
}

TEST_F(RejectionsTest, NeitherAreWrongChecksumsNorAFullPool) {
  Sent bad(segment(tcp::kSyn, 1000, 0));
  bad.bytes[30] ^= 1;
  EXPECT_EQ(answers(bad, Transport::tcp, Refusal::no_listener), 0u);
  EXPECT_EQ(answers(Sent(segment(tcp::kSyn, 1000, 0)), Transport::tcp, Refusal::flow_limit), 0u);
  EXPECT_EQ(answers(Sent(segment(tcp::kSyn, 1000, 0)), Transport::tcp, Refusal::state), 0u);
  EXPECT_EQ(answers(Sent(segment(tcp::kSyn, 1000, 0)), Transport::udp, Refusal::no_listener), 0u);
}

// RFC 4340 8.1.3 and 8.3.1: a Request's number is zero, else one more than what was acknowledged.
TEST_F(RejectionsTest, DccpIsToldWhy) {
  const Sent request(packet(dccp::Type::request, 500, 0));
  for (const auto& [why, code] : {std::pair{Refusal::no_listener, dccp::ResetCode::connection_refused},
                                  {Refusal::dccp_service, dccp::ResetCode::bad_service_code},
                                  {Refusal::flow_limit, dccp::ResetCode::too_busy}}) {
    ASSERT_EQ(answers(request, Transport::dccp, why), 1u);
    const dccp::Packet p = dccp_answer();
    EXPECT_EQ(p.type, dccp::Type::reset);
    EXPECT_EQ(p.reset_code, code);
    EXPECT_EQ(p.sequence, 0u);
    EXPECT_EQ(p.ack, 500u);
  }
  ASSERT_EQ(
      answers(Sent(packet(dccp::Type::ack, 600, (1ull << 48) - 1)), Transport::dccp, Refusal::no_listener),
      1u);
  EXPECT_EQ(dccp_answer().reset_code, dccp::ResetCode::no_connection);
  EXPECT_EQ(dccp_answer().sequence, 0u);
  EXPECT_EQ(dccp_answer().ack, 600u);
}

TEST_F(RejectionsTest, DccpInUdpIsAnsweredInUdp) {
  const Sent request(packet(dccp::Type::request, 500, 0), {50000, 6511});
  ASSERT_EQ(answers(request, Transport::dccp_udp, Refusal::no_listener), 1u);
  const IpPacket p = answer(20, 17);
  EXPECT_EQ(load_be16(&p.payload[0]), 6511);
  EXPECT_EQ(load_be16(&p.payload[2]), 50000);
  EXPECT_EQ(check_dccp_in_udp(p), Refusal::none);
  dccp::Packet inner;
  EXPECT_EQ(dccp::read(without_udp(p), inner), Refusal::none);
  EXPECT_EQ(inner.reset_code, dccp::ResetCode::connection_refused);
}

TEST_F(RejectionsTest, OnlySoManyAtOnceAndASecond) {
  const Sent syn(segment(tcp::kSyn, 1000, 0));
  for (int i = 0; i < 50; ++i)
    rejections.consider(syn.packet, Transport::tcp, kOurs, Refusal::no_listener, at(0s));
  EXPECT_EQ(rejections.write(std::span(out.slots).first(10)), 10u);
  EXPECT_FALSE(rejections.empty());
  EXPECT_EQ(rejections.write(out.slots), Rejections::kAtOnce - 10);
  EXPECT_EQ(answers(syn, Transport::tcp, Refusal::no_listener, at(999us)), 0u);
  EXPECT_EQ(answers(syn, Transport::tcp, Refusal::no_listener, at(1ms)), 1u);
  EXPECT_EQ(answers(syn, Transport::tcp, Refusal::no_listener, at(1ms)), 0u);
}

}  // namespace
}  // namespace surety::endpoints
