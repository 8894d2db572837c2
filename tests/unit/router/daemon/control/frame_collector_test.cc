// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/frame_collector.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/control/control_bed.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace test;
using arp::Operation;
using responder_frames::arp_frame;
using responder_frames::kPeer;
using testing::SizeIs;

struct FrameCollectorTest : testing::Test {
  ControlBed bed;

  // Answers the router's request for a host at the port.
  static void answer(ControlPort& c, const std::string& host, Time now) {
    const std::string own = to_string(c.addresses->list().front().address);
    c.responder->receive(arp_frame(Operation::reply, c.mac, kPeer, host, c.mac, own), now);
  }
};

TEST_F(FrameCollectorTest, NothingIsNoWork) {
  bed.open(kLan);
  EXPECT_FALSE(bed.collector.collect(kStart));
  EXPECT_TRUE(bed.collector.collected_all());
}

TEST_F(FrameCollectorTest, RoutesLearnFromTheResponder) {
  ControlPort& wan = bed.open(kWan);
  const std::uint64_t before = bed.counted(kWan, ExceptionResult::from_responder);
  ASSERT_TRUE(wan.responder->want(address("10.2.0.1"), kStart));
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_THAT(bed.frames_by(kWan), SizeIs(1)) << "the request";
  EXPECT_EQ(bed.counted(kWan, ExceptionResult::from_responder), before + 1);
  answer(wan, "10.2.0.1", kStart);
  EXPECT_FALSE(bed.routes.knows(kWan, address("10.2.0.1")));
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_TRUE(bed.routes.knows(kWan, address("10.2.0.1")));
}

// A host may send as soon as it has its answer, and is refused by the source check unless the routes know it.
TEST_F(FrameCollectorTest, RoutesKnowAHostBehindATemplateBeforeItIsAnswered) {
  bed.open(kWan);
  ControlPort& homes = bed.open_interface(1);
  const InterfaceIndex home = static_cast<InterfaceIndex>(homes.index + 2);
  std::vector<bool> known;
  bed.before_sending = [&] { known.push_back(bed.routes.knows(home, address("10.4.0.1"))); };
  homes.responder->receive(
      arp_frame(Operation::request, responder_frames::kBroadcast, kPeer, "10.4.0.1", {}, "10.4.0.254"),
      kStart, home);
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_EQ(known, std::vector<bool>{true}) << "the answer alone is sent";
}

// 300 neighbours at one port are more than a round takes.
TEST(FrameCollector, ALinkDoesNotKeepTheOthersWaiting) {
  constexpr int kHosts = 300;
  ControlBed bed(
      "version: 1\nrouter: {name: bed}\n"
      "ports: {lan: {addresses: 10.1.0.254/16}, wan: {addresses: 10.2.0.254/24, trust: core}}\n");
  ControlPort &lan = bed.open(kLan), &wan = bed.open(kWan);
  for (int host = 0; host < kHosts; ++host) {
    const std::string subnet = host < 150 ? "10.1.1." : "10.1.2.";
    ASSERT_TRUE(lan.responder->want(address(subnet + std::to_string(1 + host % 150)), kStart));
  }
  ASSERT_TRUE(wan.responder->want(address("10.2.0.1"), kStart));
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_FALSE(bed.collector.collected_all());
  EXPECT_THAT(bed.frames_by(kLan), SizeIs(FrameCollector::kFramesPerRound));
  EXPECT_THAT(bed.frames_by(kWan), SizeIs(1));
  EXPECT_TRUE(bed.collector.collect(kStart));
  EXPECT_TRUE(bed.collector.collected_all());
  EXPECT_THAT(bed.frames_by(kLan), SizeIs(kHosts));
}

TEST_F(FrameCollectorTest, OneLinkAloneCanBeCollected) {
  ControlPort &lan = bed.open(kLan), &wan = bed.open(kWan);
  ASSERT_TRUE(lan.responder->want(address("10.1.0.1"), kStart));
  ASSERT_TRUE(wan.responder->want(address("10.2.0.1"), kStart));
  EXPECT_TRUE(bed.collector.collect_responder(wan, kStart));
  EXPECT_THAT(bed.frames_by(kLan), SizeIs(0));
  EXPECT_THAT(bed.frames_by(kWan), SizeIs(1));
}

}  // namespace
}  // namespace surety
