// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/report/report.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(5s);

FlowIdentity flow(Rate target, const char* protocol = "gtfrc") {
  return {"f", protocol, "198.51.100.1:5001", target};
}
// What a sink in the same process has seen.
FlowReading received(std::uint64_t bytes, std::uint64_t payload = 0) {
  FlowReading r;
  r.received_bytes = bytes;
  r.payload_bytes = payload;
  return r;
}

struct FlowTrackTest : testing::Test {
  FlowTrack track{flow(800_kbps), kStart};
  std::uint64_t bytes = 0;
  // A second in which the receiver gets `more` bytes.
  void second(std::uint64_t more, Time at) {
    bytes += more;
    const FlowReading r = received(bytes, bytes * 9 / 10);
    track.sample({}, &r, at);
  }
};

TEST_F(FlowTrackTest, NothingIsKnownBeforeTheFirstSample) {
  const FlowResult r = track.result();
  EXPECT_EQ(r.seconds, 0);
  EXPECT_EQ(r.throughput, Rate{});
  EXPECT_FALSE(r.arrival_known);
  EXPECT_FALSE(r.respect);
  EXPECT_FALSE(r.kept(0.04));
}

TEST_F(FlowTrackTest, ThroughputAndGoodputOverTheWholeTime) {
  for (int i = 1; i <= 10; ++i) second(100'000, kStart + i * 1s);
  const FlowResult r = track.result();
  EXPECT_DOUBLE_EQ(r.seconds, 10);
  EXPECT_EQ(r.throughput, 800_kbps);
  EXPECT_EQ(r.delivered, 800_kbps) << "whatever arrives";
  EXPECT_EQ(r.goodput, 720_kbps);
  EXPECT_TRUE(r.arrival_known);
  EXPECT_DOUBLE_EQ(r.respect.value(), 1);
  EXPECT_DOUBLE_EQ(r.time_to_target.value(), 1);
  EXPECT_TRUE(r.kept(0));
}

TEST_F(FlowTrackTest, WhatCameBeforeTheMeasurementCountsNowhereButForTheTimeToTarget) {
  second(10'000, kStart + 1s);
  second(100'000, kStart + 2s);
  track.begin_measuring();
  for (int i = 3; i <= 6; ++i) second(80'000, kStart + i * 1s);
  const FlowResult r = track.result();
  EXPECT_DOUBLE_EQ(r.seconds, 4);
  EXPECT_EQ(r.throughput, 640_kbps);
  EXPECT_EQ(r.goodput, 576_kbps);
  EXPECT_DOUBLE_EQ(r.respect.value(), 0.8);
  EXPECT_DOUBLE_EQ(r.time_to_target.value(), 2);
  EXPECT_FALSE(r.kept(0.04));
}

TEST_F(FlowTrackTest, CountersGoOnAfterTheMeasurement) {
  for (int i = 1; i <= 4; ++i) second(100'000, kStart + i * 1s);
  track.end_measuring();
  FlowReading s;
  s.sent_packets = 900;
  FlowReading r = received(bytes + 5'000, bytes);
  r.received_packets = 800;
  track.sample(s, &r, kStart + 9s);
  const FlowResult result = track.result();
  EXPECT_DOUBLE_EQ(result.seconds, 4);
  EXPECT_EQ(result.throughput, 800_kbps);
  EXPECT_EQ(result.goodput, 720_kbps);
  EXPECT_EQ(result.sent, 900u);
  EXPECT_EQ(result.received, 800u);
}

TEST_F(FlowTrackTest, RespectIsCappedBinByBin) {
  second(50'000, kStart + 1s);
  second(200'000, kStart + 2s);  // makes up for nothing
  second(75'000, kStart + 3s);
  second(100'000, kStart + 4s);
  EXPECT_DOUBLE_EQ(track.result().respect.value(), (0.5 + 1 + 0.75 + 1) / 4);
}

TEST_F(FlowTrackTest, TimeToTargetIsTheEndOfTheFirstBinWith95Percent) {
  second(94'999, kStart + 1s);
  EXPECT_FALSE(track.result().time_to_target);
  second(95'000, kStart + 2s);
  second(10, kStart + 3s);
  EXPECT_DOUBLE_EQ(track.result().time_to_target.value(), 2);
}

TEST_F(FlowTrackTest, SamplesWithinASecondMakeOneBin) {
  for (int i = 1; i <= 20; ++i) second(i % 10 == 1 ? 100'000 : 0, kStart + i * 100ms);
  EXPECT_DOUBLE_EQ(track.result().respect.value(), 1);
  EXPECT_EQ(track.last_second(), 800_kbps);
}

TEST_F(FlowTrackTest, SamplesNeedNotComeOnTime) {
  second(100'000, kStart + 970ms);
  second(50'000, kStart + 1970ms);
  const FlowResult r = track.result();
  EXPECT_NEAR(r.respect.value(), (0.97 * 1 + 1.0 * 0.5) / 1.97, 1e-12);
  EXPECT_DOUBLE_EQ(r.time_to_target.value(), 0.97);
}

TEST_F(FlowTrackTest, WhatArrivesAtTheLastMomentCounts) {
  second(100'000, kStart + 1s);
  second(50'000, kStart + 2s);
  EXPECT_DOUBLE_EQ(track.result().respect.value(), 0.75);
  second(50'000, kStart + 2s);  // was on its way when the flow stopped
  const FlowResult r = track.result();
  EXPECT_DOUBLE_EQ(r.seconds, 2);
  EXPECT_EQ(r.throughput, 800_kbps);
  EXPECT_DOUBLE_EQ(r.respect.value(), 1);
}

TEST_F(FlowTrackTest, WhatWasThereBeforeTheStartDoesNotCount) {
  second(1'000'000, kStart - 1s);
  second(1'000'000, kStart);
  second(100'000, kStart + 1s);
  EXPECT_EQ(track.result().throughput, 800_kbps);
  EXPECT_EQ(track.result().goodput, 720_kbps);
}

TEST_F(FlowTrackTest, TheLastSecond) {
  EXPECT_EQ(track.last_second(), Rate{});
  second(100'000, kStart + 1s);
  second(25'000, kStart + 2s);
  EXPECT_EQ(track.last_second(), 200_kbps);
  second(1, kStart + 2100ms);
  EXPECT_EQ(track.last_second(), 200_kbps) << "the bin underway has hardly begun";
}

TEST(FlowTrack, WithoutATargetNothingIsPromised) {
  FlowTrack track(flow(Rate{}), kStart);
  const FlowReading r = received(1);
  track.sample({}, &r, kStart + 1s);
  EXPECT_FALSE(track.result().respect);
  EXPECT_FALSE(track.result().time_to_target);
  EXPECT_TRUE(track.result().kept(0));
}

TEST(FlowResult, KeptIsWhatWasDeliveredWithinTheTolerance) {
  FlowResult r;
  r.identity.target = 1_Mbps;
  r.delivered = 960_kbps;
  r.throughput = 2_Mbps;
  EXPECT_TRUE(r.kept(0.04));
  r.delivered = Rate::bits_per_second(959'999);
  EXPECT_FALSE(r.kept(0.04));
}

// Reports of a UDP sink come each second, and not when we look.
TEST(FlowTrack, WithoutNewsABinWaits) {
  FlowTrack track(flow(800_kbps, "udp"), kStart);
  FlowReading s;
  const auto told = [&](std::uint64_t bytes, Duration at) {
    s.received_bytes = bytes;
    s.received_packets = bytes / 1000;
    track.sample(s, nullptr, kStart + at);
  };
  told(100'000, 1s);
  told(100'000, 2s);  // the report comes a little later
  told(300'000, 3s);
  told(400'000, 4s);
  EXPECT_TRUE(track.result().arrival_known);
  EXPECT_DOUBLE_EQ(track.result().respect.value(), 1);
  told(400'000, 5s);
  told(400'000, 6s);
  told(400'000, 7s);  // three seconds without one: nothing arrives
  EXPECT_DOUBLE_EQ(track.result().respect.value(), 4.0 / 7);
  EXPECT_EQ(track.last_second(), Rate{});
}

// 100 packets of 1500 bytes with 1448 of payload: 10 repeated, 20 underway.
TEST(FlowTrack, AcknowledgementsAreTakenAtTheMeanPacketSize) {
  FlowTrack track(flow(800_kbps, "gtcp"), kStart);
  FlowReading s;
  s.sent_packets = 100;
  s.sent_bytes = 150'000;
  s.retransmitted_packets = s.lost_packets = 10;
  s.payload_bytes = 70 * 1448;
  s.in_flight = 20 * 1448;
  track.sample(s, nullptr, kStart + 1s);
  const FlowResult r = track.result();
  EXPECT_EQ(r.throughput, Rate::bits_per_second(70 * 1500 * 8));
  EXPECT_EQ(r.delivered, r.throughput);
  EXPECT_EQ(r.goodput, Rate::bits_per_second(70 * 1448 * 8));
  EXPECT_TRUE(r.arrival_known);
  EXPECT_EQ(r.lost, 10u);
  EXPECT_EQ(r.retransmitted, 10u);
}

// 100 kB a second arrive; the application gets nothing in the first second, all of it in the second, and then
// half: the other is repetitions.
TEST(FlowTrack, OfTcpBytesInOrderCount) {
  FlowIdentity identity = flow(800_kbps, "gtcp");
  identity.in_order = true;
  FlowTrack track(identity, kStart);
  FlowReading r;
  Time at = kStart;
  for (const std::uint64_t in_order : {0u, 200u, 250u, 300u}) {
    r.received_bytes += 100'000;
    r.carried_bytes += 90'000;
    r.payload_bytes = in_order * 900;
    track.sample({}, &r, at += 1s);
  }
  const FlowResult result = track.result();
  EXPECT_EQ(result.throughput, 800_kbps);
  EXPECT_EQ(result.delivered, 600_kbps);
  EXPECT_EQ(result.goodput, 540_kbps);
  EXPECT_DOUBLE_EQ(result.respect.value(), (0 + 1 + 0.5 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(result.time_to_target.value(), 2);
  EXPECT_EQ(track.last_second(), 400_kbps);
  EXPECT_FALSE(result.kept(0.2));
  EXPECT_TRUE(result.kept(0.25));
}

TEST(FlowTrack, NobodyTellsWhatArrived) {
  FlowTrack track(flow(800_kbps, "udp"), kStart);
  FlowReading s;
  s.sent_packets = 100;
  s.sent_bytes = 150'000;
  track.sample(s, nullptr, kStart + 1s);
  const FlowResult r = track.result();
  EXPECT_FALSE(r.arrival_known);
  EXPECT_EQ(r.throughput, Rate{});
  EXPECT_EQ(r.sent, 100u);
  EXPECT_FALSE(r.in_share);
}

TEST(FlowTrack, CountersComeFromTheEndThatKnows) {
  FlowTrack track(flow(800_kbps, "tfrc"), kStart);
  FlowReading s, r;
  s.sent_packets = 100;
  s.lost_packets = 9;
  s.rtt = 50ms;
  s.min_rtt = 40ms;
  r.received_packets = 80;
  r.received_in_packets = 60;
  r.received_bytes = 1;
  r.lost_packets = 20;
  r.duplicate_packets = 3;
  r.one_way_delay_sum = 1.6;
  r.loss_event_rate = 0.02;
  track.sample(s, &r, kStart + 1s);
  FlowResult result = track.result();
  EXPECT_EQ(result.received, 80u);
  EXPECT_EQ(result.lost, 20u);
  EXPECT_EQ(result.duplicates, 3u);
  EXPECT_DOUBLE_EQ(result.in_share.value(), 0.75);
  EXPECT_EQ(result.rtt, 50ms);
  EXPECT_EQ(result.min_rtt, 40ms);
  EXPECT_EQ(result.one_way_delay, 20ms);
  EXPECT_DOUBLE_EQ(result.loss_event_rate.value(), 0.02);
  s.loss_event_rate = 0.01;
  r.lost_packets = 0;
  track.sample(s, &r, kStart + 2s);
  result = track.result();
  EXPECT_DOUBLE_EQ(result.loss_event_rate.value(), 0.01) << "the sender's is the one that it acts on";
  EXPECT_EQ(result.lost, 9u);
}

TEST(FlowTrack, WhatIsNotKnownIsNotThere) {
  FlowTrack track(flow(800_kbps, "gtfrc"), kStart);
  FlowReading s;
  s.received_packets = 10;
  s.received_bytes = 1000;
  s.one_way_delay_sum = 5;
  track.sample(s, nullptr, kStart + 1s);
  const FlowResult r = track.result();
  EXPECT_FALSE(r.rtt);
  EXPECT_FALSE(r.min_rtt);
  EXPECT_FALSE(r.loss_event_rate);
  EXPECT_FALSE(r.one_way_delay) << "only between ends that share a clock";
  EXPECT_FALSE(r.in_share) << "DCCP feedback tells nothing of precedence";
}

}  // namespace
}  // namespace surety::endpoints
