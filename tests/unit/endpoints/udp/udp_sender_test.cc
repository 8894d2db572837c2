// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/udp_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/udp/udp_sink.h"
#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using udp::ReceiverReport;

const Tuple kTuple{IpAddress::v4(10, 1, 0, 65), IpAddress::v4(198, 51, 100, 1), 49152, 5001};
const Tuple kMirrored{kTuple.remote, kTuple.local, kTuple.remote_port, kTuple.local_port};
constexpr Time kStart = Time(5s);

struct UdpSenderTest : testing::Test {
  UdpParams params;  // a packet of 1000 bytes each millisecond
  Schedule schedule{kStart, kNever};
  std::array<std::array<std::uint8_t, 1500>, 64> buffers{};
  std::array<Slot, 64> slots;

  UdpSenderTest() {
    params.common.packet = 1000_B;
    params.rate = 8_Mbps;
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = {buffers[i].data(), 1500, 0};
  }
  UdpSender make() const { return {params, kTuple, schedule}; }
  std::size_t poll(UdpSender& s, Time now, std::size_t room = 64) {
    return s.poll(std::span(slots).first(room), now);
  }
  // Polls at every wakeup until `end`; how many packets left.
  std::size_t run(UdpSender& s, Time end) {
    std::size_t sent = 0;
    while (s.next_wakeup() <= end) sent += poll(s, s.next_wakeup());
    return sent;
  }
  // The packet in slot i.
  IpPacket packet(std::size_t i) {
    frames_.emplace_back(Frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0});
    frames_.back().insert(frames_.back().end(), slots[i].data, slots[i].data + slots[i].length);
    return parsed(frames_.back());
  }
  // What the sink answers.
  Refusal report(UdpSender& s, const ReceiverReport& r, std::uint32_t number, Time now) {
    frames_.emplace_back(Frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0});
    frames_.back().resize(14 + 108);
    Slot slot{frames_.back().data() + 14, 108, 0};
    udp::write_report(IpWriter(kMirrored, udp::kProtocol), kMirrored, number, 0, r, slot);
    return s.receive(parsed(frames_.back()), now);
  }
  static FlowReading reading(const UdpSender& s) {
    FlowReading r;
    s.read(r);
    return r;
  }

 private:
  using Frame = std::vector<std::uint8_t>;
  std::deque<Frame> frames_;
};

TEST_F(UdpSenderTest, WaitsForItsStart) {
  UdpSender s = make();
  EXPECT_EQ(s.state(), FlowState::idle);
  EXPECT_EQ(s.next_wakeup(), kStart);
  EXPECT_EQ(poll(s, kStart - 1ns), 0u);
  EXPECT_EQ(s.state(), FlowState::idle);
  EXPECT_EQ(poll(s, kStart), 1u);
  EXPECT_EQ(s.state(), FlowState::open);
  EXPECT_EQ(s.next_wakeup(), kStart + 1ms);
}

TEST_F(UdpSenderTest, NumbersAndTimesItsPackets) {
  params.common.dscp = 46;
  UdpSender s = make();
  EXPECT_EQ(poll(s, kStart + 2ms), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const IpPacket p = packet(i);
    EXPECT_EQ(p.length, 1000);
    EXPECT_EQ(p.dscp(), 46);
    EXPECT_EQ(p.source, kTuple.local);
    EXPECT_EQ(p.destination, kTuple.remote);
    udp::Datagram d;
    udp::PayloadHeader h;
    ASSERT_EQ(udp::read(p, d), Refusal::none);
    ASSERT_EQ(udp::read_payload(d.payload, h), Refusal::none);
    EXPECT_EQ(d.source_port, 49152);
    EXPECT_EQ(d.destination_port, 5001);
    EXPECT_EQ(h.type, udp::Type::data);
    EXPECT_EQ(h.sequence, i);
    EXPECT_EQ(h.time, 5'002'000'000u) << "when it leaves, not when it should have";
  }
}

TEST_F(UdpSenderTest, FillsTheRoomAndGoesOnInTheNextTurn) {
  UdpSender s = make();
  EXPECT_EQ(poll(s, kStart + 9ms, 4), 4u);
  EXPECT_LE(s.next_wakeup(), kStart + 9ms);
  EXPECT_EQ(poll(s, kStart + 9ms, 64), 6u);
  EXPECT_EQ(s.next_wakeup(), kStart + 10ms);
}

TEST_F(UdpSenderTest, SendsExactlyWhatTheRateGivesUntilItStops) {
  schedule.stop = kStart + 10s;
  UdpSender s = make();
  EXPECT_EQ(run(s, kStart + 11s), 10'000u);
  EXPECT_EQ(s.state(), FlowState::closing);
  EXPECT_EQ(reading(s).sent_packets, 10'000u);
  EXPECT_EQ(reading(s).sent_bytes, 10'000'000u);
}

TEST_F(UdpSenderTest, WhatWasDueBeforeTheStopLeavesAlthoughTheCallerIsLate) {
  schedule.stop = kStart + 3ms;
  UdpSender s = make();
  EXPECT_EQ(poll(s, kStart + 9ms, 2), 2u);
  EXPECT_EQ(s.state(), FlowState::open);
  EXPECT_EQ(poll(s, kStart + 9ms), 1u);
  EXPECT_EQ(s.state(), FlowState::closing);
  EXPECT_EQ(poll(s, kStart + 9ms), 0u);
}

TEST_F(UdpSenderTest, AStopBeforeTheStartIsAnEndWithoutAPacket) {
  schedule.stop = kStart - 1s;
  UdpSender s = make();
  EXPECT_EQ(s.next_wakeup(), kStart - 1s);
  EXPECT_EQ(poll(s, kStart - 1s), 0u);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(s.next_wakeup(), kNever);
}

TEST_F(UdpSenderTest, DeliversItsTotalAndNoMore) {
  params.common.total_payload = 2 * 972 + 100;
  UdpSender s = make();
  EXPECT_EQ(run(s, kStart + 100ms), 3u);
  EXPECT_EQ(s.state(), FlowState::closing);
  EXPECT_EQ(reading(s).sent_bytes, 2u * 1000 + 128);
  EXPECT_EQ(packet(0).length, 128);
}

TEST_F(UdpSenderTest, TheLastPacketHasRoomForItsHeader) {
  params.common.total_payload = 972 + 1;
  UdpSender s = make();
  EXPECT_EQ(run(s, kStart + 100ms), 2u);
  EXPECT_EQ(reading(s).sent_bytes, 1000u + 20 + 8 + 16);
}

TEST_F(UdpSenderTest, OnAndOff) {
  params.on = 5ms;
  params.off = 95ms;
  schedule.stop = kStart + 1s;
  UdpSender s = make();
  EXPECT_EQ(run(s, kStart + 1s), 50u);
}

TEST_F(UdpSenderTest, MarksWithItsOwnBucket) {
  params.common.dscp = 10;
  params.common.dscp_out = 14;
  params.common.mark.emplace(4_Mbps, Depth::bytes(2000));  // half of the rate, and two packets at once
  schedule.stop = kStart + 1s;
  UdpSender s = make();
  run(s, kStart);
  EXPECT_EQ(packet(0).dscp(), 10);
  run(s, kStart + 2ms);
  EXPECT_EQ(packet(0).dscp(), 10) << "500 bytes left and two milliseconds of 500 bytes";
  run(s, kStart + 3ms);
  EXPECT_EQ(packet(0).dscp(), 14);
  run(s, kStart + 1s);
  EXPECT_EQ(reading(s).sent_in_packets, 501u);
}

TEST_F(UdpSenderTest, ClosingWaitsForTheLastReport) {
  UdpSender s = make();
  poll(s, kStart + 9ms);
  s.close(kStart + 9ms);
  EXPECT_EQ(s.state(), FlowState::closing);
  EXPECT_EQ(s.next_wakeup(), kStart + 9ms + UdpSender::kLinger);
  s.close(kStart + 1s);
  EXPECT_EQ(s.next_wakeup(), kStart + 9ms + UdpSender::kLinger) << "closing twice is closing once";
  EXPECT_EQ(report(s, {.packets = 8, .bytes = 8000, .lost = 1}, 0, kStart + 1s), Refusal::none);
  EXPECT_EQ(s.next_wakeup(), kStart + 9ms + UdpSender::kLinger) << "one packet is missing";
  EXPECT_EQ(report(s, {.packets = 9, .bytes = 9000, .lost = 1}, 1, kStart + 2s), Refusal::none);
  EXPECT_EQ(s.next_wakeup(), kStart + 2s);
  EXPECT_EQ(poll(s, kStart + 2s), 0u);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(report(s, {.packets = 10, .bytes = 10000}, 2, kStart + 2s), Refusal::closed);
  EXPECT_EQ(reading(s).received_packets, 9u);
}

TEST_F(UdpSenderTest, WithoutAnAnswerItClosesAllTheSame) {
  UdpSender s = make();
  poll(s, kStart);
  s.close(kStart);
  EXPECT_EQ(poll(s, kStart + UdpSender::kLinger - 1ns), 0u);
  EXPECT_EQ(s.state(), FlowState::closing);
  poll(s, kStart + UdpSender::kLinger);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(s.failure(), Failure::none);
}

TEST_F(UdpSenderTest, APacketThatDoesNotFitIsTheEnd) {
  slots[0].capacity = 999;
  UdpSender s = make();
  EXPECT_EQ(poll(s, kStart), 0u);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_EQ(s.failure(), Failure::refused);
}

TEST_F(UdpSenderTest, ShowsWhatTheSinkReports) {
  UdpSender s = make();
  poll(s, kStart + 9ms);
  const ReceiverReport r{.packets = 9,
                         .bytes = 9000,
                         .in_packets = 5,
                         .in_bytes = 5000,
                         .payload_bytes = 8 * 972,
                         .lost = 2,
                         .duplicates = 1,
                         .reordered = 3};
  ASSERT_EQ(report(s, r, 0, kStart + 1s), Refusal::none);
  const FlowReading f = reading(s);
  EXPECT_EQ(f.received_packets, 9u);
  EXPECT_EQ(f.received_bytes, 9000u);
  EXPECT_EQ(f.received_in_packets, 5u);
  EXPECT_EQ(f.received_in_bytes, 5000u);
  EXPECT_EQ(f.payload_bytes, 8u * 972);
  EXPECT_EQ(f.lost_packets, 2u);
  EXPECT_EQ(f.duplicate_packets, 1u);
  EXPECT_EQ(f.reordered_packets, 3u);
}

TEST_F(UdpSenderTest, RefusesReportsThatAreOld) {
  UdpSender s = make();
  poll(s, kStart + 9ms);
  EXPECT_EQ(report(s, {.packets = 1, .bytes = 1000}, 5, kStart + 1s), Refusal::none);
  EXPECT_EQ(report(s, {.packets = 2, .bytes = 2000}, 5, kStart + 1s), Refusal::duplicate);
  EXPECT_EQ(report(s, {.packets = 2, .bytes = 2000}, 4, kStart + 1s), Refusal::duplicate);
  EXPECT_EQ(reading(s).received_packets, 1u);
}

TEST_F(UdpSenderTest, RefusesReportsThatGoBack) {
  UdpSender s = make();
  poll(s, kStart + 9ms);
  const ReceiverReport r{.packets = 6,
                         .bytes = 6000,
                         .in_packets = 2,
                         .in_bytes = 2000,
                         .payload_bytes = 4000,
                         .lost = 3,
                         .duplicates = 1,
                         .reordered = 2};
  ASSERT_EQ(report(s, r, 0, kStart + 1s), Refusal::none);
  std::uint32_t number = 1;
  for (const auto counter : {&ReceiverReport::packets, &ReceiverReport::bytes, &ReceiverReport::in_packets,
                             &ReceiverReport::in_bytes, &ReceiverReport::payload_bytes,
                             &ReceiverReport::duplicates, &ReceiverReport::reordered}) {
    ReceiverReport back = r;
    --(back.*counter);
    EXPECT_EQ(report(s, back, number++, kStart + 1s), Refusal::state);
  }
  ReceiverReport found = r;
  --found.lost;
  EXPECT_EQ(report(s, found, number, kStart + 1s), Refusal::none) << "a late packet is lost no more";
}

TEST_F(UdpSenderTest, RefusesReportsThatClaimMoreThanWasSent) {
  UdpSender s = make();
  poll(s, kStart + 9ms);  // ten packets, 10000 bytes
  const ReceiverReport claims[] = {
      {.packets = 11, .bytes = 11000},
      {.packets = 10, .bytes = 10000, .lost = 1},
      {.packets = 1, .bytes = 1000, .duplicates = 2},
      {.packets = 1, .bytes = 1000, .in_packets = 2},
      {.packets = 1, .bytes = 1000, .in_bytes = 1001},
      {.packets = 1, .bytes = 1000, .payload_bytes = 1001},
      {.packets = 12, .bytes = 12000, .payload_bytes = 10001, .duplicates = 2},
      {.packets = 1, .bytes = 1000, .reordered = 2},
      {.packets = 1, .bytes = 1000, .lost = 0xffffffffffffffff},
  };
  std::uint32_t number = 0;
  for (const auto& c : claims) EXPECT_EQ(report(s, c, number++, kStart + 1s), Refusal::state) << number;
  EXPECT_EQ(reading(s).received_packets, 0u);
  EXPECT_EQ(report(s, {.packets = 12, .bytes = 12000, .duplicates = 2}, number, kStart + 1s), Refusal::none);
}

TEST_F(UdpSenderTest, RefusesWhatIsNoReport) {
  UdpSender s = make();
  poll(s, kStart);
  EXPECT_EQ(s.receive(packet(0), kStart), Refusal::state) << "its own data comes back";
  IpPacket p = packet(0);
  p.payload = p.payload.first(4);
  EXPECT_EQ(s.receive(p, kStart), Refusal::truncated);
  buffers[0][20 + 8] ^= 1;
  p = packet(0);
  EXPECT_EQ(s.receive(p, kStart), Refusal::checksum);
  p.l4_verified = true;
  EXPECT_EQ(s.receive(p, kStart), Refusal::not_ours);
  buffers[0][20 + 8] ^= 1;
  buffers[0][20 + 8 + 3] = 2;
  p = packet(0);
  p.l4_verified = true;
  EXPECT_EQ(s.receive(p, kStart), Refusal::length) << "a report of 972 bytes";
}

TEST_F(UdpSenderTest, ThroughANetworkToASink) {
  schedule.stop = kStart + 10s;
  UdpSender s = make();
  const SinkParams sink_params;
  UdpAcceptor acceptor(sink_params);
  alignas(64) std::byte room[kEngineBytes];
  Wire wire(s, [&](const IpPacket& p, Time now) {
    Refusal r{};
    return acceptor.accept(room, kMirrored, p, now, r);
  });
  wire.there.rate = 4_Mbps;  // half of what is sent
  wire.there.queue = 20;
  wire.run(kStart + 20s);
  EXPECT_EQ(s.state(), FlowState::closed);
  EXPECT_THAT(wire.refused_left, testing::IsEmpty());
  EXPECT_THAT(wire.refused_right, testing::IsEmpty());
  const FlowReading f = reading(s);
  EXPECT_EQ(f.sent_packets, 10'000u);
  EXPECT_EQ(f.received_packets, 10'000 - wire.there.overflowed);
  EXPECT_NEAR(static_cast<double>(f.received_packets), 5000, 25);
  EXPECT_EQ(wire.back.sent, 11u) << "one a second, and the last";
}

}  // namespace
}  // namespace surety::endpoints
