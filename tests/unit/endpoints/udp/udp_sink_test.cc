// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/udp_sink.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using udp::ReceiverReport;

const Tuple kSender{IpAddress::v4(198, 51, 100, 7), IpAddress::v4(10, 1, 0, 65), 49152, 5001};
const Tuple kSink{kSender.remote, kSender.local, kSender.remote_port, kSender.local_port};
constexpr Time kStart = Time(5s);
constexpr std::uint8_t kAf11 = 10, kAf12 = 12;

struct UdpSinkTest : testing::Test {
  SinkParams params;
  std::array<std::uint8_t, 256> buffer{};

  // A packet of 100 bytes, 72 of them payload.
  IpPacket packet(std::uint32_t sequence, Time sent = kStart, std::uint8_t dscp = kAf11) {
    frames_.emplace_back(Frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0});
    frames_.back().resize(14 + 100);
    Slot slot{frames_.back().data() + 14, 100, 0};
    udp::write_data(IpWriter(kSender, udp::kProtocol), dscp, kSender, sequence,
                    static_cast<std::uint64_t>(sent.time_since_epoch().count()), 72, slot);
    return parsed(frames_.back());
  }
  // The last packet made, with another byte at `offset` of its payload and a checksum of none (IPv4 may).
  IpPacket altered(std::size_t offset, std::uint8_t byte) {
    std::uint8_t* const udp = frames_.back().data() + 34;
    udp[8 + offset] = byte;
    store(udp + 6, std::uint16_t{0});
    return parsed(frames_.back());
  }
  IpPacket foreign() {
    packet(0);
    return altered(0, 'X');
  }
  IpPacket report_packet() {
    packet(0);
    return altered(3, 2);
  }
  UdpSink make() { return {params, kSink, packet(0), kStart}; }
  static FlowReading reading(const UdpSink& s) {
    FlowReading r;
    s.read(r);
    return r;
  }
  // The report that is due at `now`.
  std::optional<ReceiverReport> report(UdpSink& s, Time now) {
    std::array<Slot, 2> room{Slot{buffer.data(), 256, 0}, Slot{}};
    const std::size_t n = s.poll(room, now);
    EXPECT_LE(n, 1u);
    if (n == 0) return {};
    Frame frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    frame.insert(frame.end(), buffer.data(), buffer.data() + room[0].length);
    const IpPacket p = parsed(frame);
    EXPECT_EQ(p.destination, kSender.local);
    EXPECT_EQ(p.length, 108);
    udp::Datagram d;
    udp::PayloadHeader h;
    ReceiverReport r;
    EXPECT_EQ(udp::read(p, d), Refusal::none);
    EXPECT_EQ(d.destination_port, 49152);
    EXPECT_EQ(udp::read_payload(d.payload, h), Refusal::none);
    EXPECT_EQ(h.type, udp::Type::report);
    EXPECT_EQ(h.sequence, next_number_++);
    EXPECT_EQ(udp::read_report(d.payload, r), Refusal::none);
    return r;
  }

 private:
  using Frame = std::vector<std::uint8_t>;
  std::deque<Frame> frames_;
  std::uint32_t next_number_ = 0;
};

TEST_F(UdpSinkTest, CountsPacketsBytesAndPrecedence) {
  UdpSink s = make();
  for (std::uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(s.receive(packet(i, kStart, i < 3 ? kAf11 : kAf12), kStart), Refusal::none);
  const FlowReading f = reading(s);
  EXPECT_EQ(f.received_packets, 5u);
  EXPECT_EQ(f.received_bytes, 500u);
  EXPECT_EQ(f.received_in_packets, 3u);
  EXPECT_EQ(f.received_in_bytes, 300u);
  EXPECT_EQ(f.payload_bytes, 5u * 72);
  EXPECT_EQ(f.lost_packets, 0u);
}

TEST_F(UdpSinkTest, WhatCountsAsInIsAParameter) {
  params.in_dscps = std::uint64_t{1} << kAf12;
  UdpSink s = make();
  s.receive(packet(0, kStart, kAf11), kStart);
  s.receive(packet(1, kStart, kAf12), kStart);
  EXPECT_EQ(reading(s).received_in_packets, 1u);
}

TEST_F(UdpSinkTest, LostDuplicateAndReordered) {
  UdpSink s = make();
  const auto now = kStart;
  EXPECT_EQ(s.receive(packet(0), now), Refusal::none);
  EXPECT_EQ(s.receive(packet(3), now), Refusal::none);
  EXPECT_EQ(s.receive(packet(3), now), Refusal::duplicate);
  EXPECT_EQ(s.receive(packet(1), now), Refusal::none);
  const FlowReading f = reading(s);
  EXPECT_EQ(f.received_packets, 4u);
  EXPECT_EQ(f.received_bytes, 400u);
  EXPECT_EQ(f.payload_bytes, 3u * 72) << "each byte once";
  EXPECT_EQ(f.lost_packets, 1u);
  EXPECT_EQ(f.duplicate_packets, 1u);
  EXPECT_EQ(f.reordered_packets, 1u);
}

TEST_F(UdpSinkTest, AddsUpOneWayDelays) {
  UdpSink s = make();
  s.receive(packet(0, kStart), kStart + 10ms);
  s.receive(packet(1, kStart + 1ms), kStart + 31ms);
  EXPECT_DOUBLE_EQ(reading(s).one_way_delay_sum, 0.040);
}

TEST_F(UdpSinkTest, ClocksThatAreApartGiveNonsenseButNoOverflow) {
  UdpSink s = make();
  s.receive(packet(0, Time::min()), Time(5s));
  s.receive(packet(1, Time::max()), Time(5s));
  EXPECT_DOUBLE_EQ(reading(s).one_way_delay_sum, 10.000000001) << "modulo 2^64 ns";
}

TEST_F(UdpSinkTest, ReportsEachSecondWhilePacketsComeAndOnceMore) {
  UdpSink s = make();
  std::vector<Duration> reports;
  std::vector<std::uint64_t> packets;
  Time now = kStart;
  const auto serve = [&](Time until) {
    for (; s.next_wakeup() <= until;) {
      now = s.next_wakeup();
      if (const auto r = report(s, now)) {
        reports.push_back(now - kStart);
        packets.push_back(r->packets);
      }
    }
  };
  for (std::uint32_t i = 0; i < 250; ++i) {  // one each 10 ms
    const Time arrival = kStart + i * 10ms;
    serve(arrival - 1ns);
    s.receive(packet(i, arrival), arrival);
  }
  serve(kStart + 10s);
  EXPECT_EQ(reports, (std::vector<Duration>{1s, 2s, 2490ms + 500ms}));
  EXPECT_EQ(packets, (std::vector<std::uint64_t>{101, 201, 250}));
}

TEST_F(UdpSinkTest, AReportHasEveryCounter) {
  UdpSink s = make();
  for (const std::uint32_t i : {0u, 3u, 3u, 1u}) s.receive(packet(i), kStart);
  EXPECT_EQ(s.next_wakeup(), kStart + 500ms);
  const ReceiverReport expected{.packets = 4,
                                .bytes = 400,
                                .in_packets = 4,
                                .in_bytes = 400,
                                .payload_bytes = 3 * 72,
                                .lost = 1,
                                .duplicates = 1,
                                .reordered = 1};
  EXPECT_FALSE(report(s, kStart + 500ms - 1ns));
  EXPECT_EQ(report(s, kStart + 500ms), expected);
  EXPECT_FALSE(report(s, kStart + 10s)) << "nothing new";
}

TEST_F(UdpSinkTest, NeverSendsMoreThanItGot) {
  UdpSink s = make();
  s.receive(packet(0), kStart);  // 100 bytes; a report has 108
  EXPECT_FALSE(report(s, kStart + 500ms));
  EXPECT_EQ(s.next_wakeup(), kStart + UdpSink::kIdle);
  s.receive(packet(1), kStart + 1s);
  EXPECT_TRUE(report(s, kStart + 1500ms));
  s.receive(packet(2), kStart + 2s);  // 300 - 108 bytes
  EXPECT_TRUE(report(s, kStart + 2500ms));
  s.receive(packet(3), kStart + 3s);  // 400 - 216
  EXPECT_TRUE(report(s, kStart + 3500ms));
}

TEST_F(UdpSinkTest, WithoutRoomTheReportWaits) {
  UdpSink s = make();
  s.receive(packet(0), kStart);
  s.receive(packet(1), kStart);
  EXPECT_EQ(s.poll({}, kStart + 1s), 0u);
  EXPECT_LE(s.next_wakeup(), kStart + 1s);
  EXPECT_TRUE(report(s, kStart + 1s));
}

TEST_F(UdpSinkTest, ForeignPacketsCountByTheirBytesAndAreNotAnswered) {
  UdpSink s = make();
  EXPECT_EQ(s.receive(foreign(), kStart), Refusal::not_ours);
  EXPECT_EQ(s.receive(foreign(), kStart), Refusal::not_ours);
  const FlowReading f = reading(s);
  EXPECT_EQ(f.received_packets, 2u);
  EXPECT_EQ(f.received_bytes, 200u);
  EXPECT_EQ(f.payload_bytes, 2u * 72);
  EXPECT_EQ(f.lost_packets, 0u);
  EXPECT_EQ(s.next_wakeup(), kStart + UdpSink::kIdle);
}

TEST_F(UdpSinkTest, DoesNotAnswerReports) {
  UdpSink s = make();
  EXPECT_EQ(s.receive(report_packet(), kStart), Refusal::state);
  EXPECT_EQ(reading(s).received_packets, 0u);
}

TEST_F(UdpSinkTest, WrongPacketsChangeNothing) {
  UdpSink s = make();
  IpPacket p = packet(0);
  p.payload = p.payload.first(7);
  EXPECT_EQ(s.receive(p, kStart), Refusal::truncated);
  p = packet(0);
  p.source = IpAddress::v4(198, 51, 100, 8);  // not that of the pseudo header
  EXPECT_EQ(s.receive(p, kStart), Refusal::checksum);
  EXPECT_EQ(reading(s).received_packets, 0u);
  EXPECT_EQ(s.next_wakeup(), kStart + UdpSink::kIdle);
}

TEST_F(UdpSinkTest, ClosesWhenNothingComesAnyMore) {
  UdpSink s = make();
  s.receive(packet(0), kStart);
  s.receive(packet(1), kStart + 10s);
  EXPECT_TRUE(report(s, kStart + 10500ms));
  EXPECT_EQ(s.next_wakeup(), kStart + 10s + UdpSink::kIdle);
  EXPECT_FALSE(report(s, kStart + 10s + UdpSink::kIdle));
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(s.next_wakeup(), kNever);
  EXPECT_EQ(s.receive(packet(2), kStart + 200s), Refusal::closed);
}

TEST_F(UdpSinkTest, ClosingTellsWhatIsNew) {
  UdpSink s = make();
  s.receive(packet(0), kStart);
  s.receive(packet(1), kStart);
  s.close(kStart + 1ms);
  EXPECT_EQ(s.state(), FlowState::closing);
  EXPECT_EQ(s.next_wakeup(), kStart + 1ms);
  EXPECT_EQ(report(s, kStart + 1ms)->packets, 2u);
  EXPECT_EQ(s.state(), FlowState::closed);
  s.close(kStart + 2ms);
  EXPECT_EQ(s.next_wakeup(), kNever);
}

TEST_F(UdpSinkTest, ClosingWithoutNewsIsClosed) {
  UdpSink s = make();
  s.close(kStart);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(s.next_wakeup(), kNever);
}

TEST_F(UdpSinkTest, ASenderThatBeginsAnewGetsReportsFromZero) {
  UdpSink s = make();
  for (const std::uint32_t i : {0u, 1u, 4u, 4u}) s.receive(packet(i, kStart), kStart);
  ASSERT_TRUE(report(s, kStart + 500ms));
  const Time again = kStart + 2s;
  s.receive(packet(0, again), again);  // the number is a duplicate's, the sending time is not
  s.receive(packet(2, again), again);
  const auto r = report(s, again + 500ms);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->packets, 2u);
  EXPECT_EQ(r->lost, 1u);
  EXPECT_EQ(r->duplicates, 0u);
  EXPECT_EQ(r->payload_bytes, 2u * 72);
  const FlowReading f = reading(s);
  EXPECT_EQ(f.received_packets, 6u);
  EXPECT_EQ(f.lost_packets, 3u);
  EXPECT_EQ(f.duplicate_packets, 1u);
}

TEST_F(UdpSinkTest, ItIsRecognisedAlsoWhenItsFirstPacketIsLost) {
  UdpSink s = make();
  for (std::uint32_t i = 0; i < 1000; ++i) s.receive(packet(i), kStart);
  ASSERT_TRUE(report(s, kStart + 500ms));
  for (const std::uint32_t i : {1u, 2u, 3u}) s.receive(packet(i, kStart + 1s), kStart + 1s);
  const auto r = report(s, kStart + 1500ms);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->packets, 2u) << "the first was taken for a late one";
  EXPECT_EQ(r->lost, 1u);
}

struct UdpAcceptorTest : UdpSinkTest {
  UdpAcceptor acceptor{params};
  alignas(64) std::byte room[kEngineBytes];
  Engine* accept(const IpPacket& p, Refusal& r) { return acceptor.accept(room, kSink, p, kStart, r); }
};

TEST_F(UdpAcceptorTest, DataAndForeignPacketsBeginAFlow) {
  Refusal r = Refusal::state;
  Engine* e = accept(packet(0), r);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(r, Refusal::none);
  EXPECT_EQ(e->receive(packet(0), kStart), Refusal::none);
  FlowReading f;
  e->read(f);
  EXPECT_EQ(f.received_packets, 1u);
  std::destroy_at(e);
  e = accept(foreign(), r);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(r, Refusal::none);
  std::destroy_at(e);
}

TEST_F(UdpAcceptorTest, ReportsAndBrokenPacketsDoNot) {
  Refusal r = Refusal::none;
  IpPacket p = packet(0);
  p.payload = p.payload.first(7);
  EXPECT_EQ(accept(p, r), nullptr);
  EXPECT_EQ(r, Refusal::truncated);
  EXPECT_EQ(accept(report_packet(), r), nullptr);
  EXPECT_EQ(r, Refusal::state);
}

// Number 0 comes once in 2^32 packets, with another time: that is no new sender.
TEST_F(UdpSinkTest, AWrapIsNoRestart) {
  UdpSink s = make();
  EXPECT_EQ(s.receive(packet(0), kStart), Refusal::none);
  EXPECT_EQ(s.receive(packet(0x7fff'ffff), kStart), Refusal::none);
  EXPECT_EQ(s.receive(packet(0xffff'fffe), kStart), Refusal::none);
  EXPECT_EQ(s.receive(packet(0xffff'ffff), kStart), Refusal::none);
  const std::uint64_t lost = reading(s).lost_packets;
  EXPECT_EQ(s.receive(packet(0, kStart + 1s), kStart + 1s), Refusal::none);
  EXPECT_EQ(reading(s).lost_packets, lost);
  const auto r = report(s, kStart + 2s);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->packets, 5u) << "counted since the sender began";
}

TEST_F(UdpSinkTest, AnEarlyReorderingIsNoRestart) {
  UdpSink s = make();
  for (const std::uint32_t i : {1u, 0u, 2u})
    EXPECT_EQ(s.receive(packet(i, kStart + i * 1ms), kStart + 3ms), Refusal::none);
  EXPECT_EQ(reading(s).lost_packets, 0u);
  EXPECT_EQ(reading(s).reordered_packets, 1u);
}

}  // namespace
}  // namespace surety::endpoints
