// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/frame_sender.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/control/control_bed.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace test;
using frames::operator+;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Result = ExceptionResult;

constexpr std::uint8_t kIcmp = 1;

// A packet of the kernel for a host.
Octets packet(std::uint8_t protocol, const Octets& payload, std::uint32_t to, std::uint8_t dscp) {
  return frames::ethernet(frames::kIpv4) +
         frames::ip4(protocol, payload, {.destination = to, .tos = static_cast<std::uint8_t>(dscp << 2)});
}

struct FrameSenderTest : testing::Test {
  ControlBed bed;
  std::uint32_t free_at_start = rte_mempool_avail_count(packet_pool());

  void TearDown() override { EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free_at_start); }
  void expect_dropped(Result result) {
    EXPECT_EQ(bed.counted(kWan, result), 1U);
    EXPECT_EQ(bed.counted(kWan, Result::from_kernel), 0U);
    EXPECT_THAT(bed.sent, IsEmpty());
  }
  // The DSCP with which a frame of the kernel leaves.
  std::uint8_t dscp_sent(const Octets& frame, Result as = Result::from_kernel) {
    bed.sent.clear();
    bed.sender.send(kWan, frame, as);
    return dscp_of(bed.sent.at(0).frame);
  }
};

TEST_F(FrameSenderTest, AFrameGoesToTheWorkerOfItsPort) {
  const Octets frame = udp_frame();
  bed.sender.send(kWan, frame, Result::from_kernel);
  EXPECT_THAT(bed.frames_by(kWan), ElementsAre(frame));
  EXPECT_EQ(bed.sent[0].interface, std::nullopt);
  EXPECT_EQ(bed.counted(kWan, Result::from_kernel), 1U);
}

TEST_F(FrameSenderTest, AFrameOfAnInterfaceIsNotedForItsTags) {
  const InterfaceIndex acme = bed.links.interfaces()->of_definition(0);
  bed.sender.send(acme, udp_frame(), Result::from_twin);
  ASSERT_THAT(bed.sent, SizeIs(1));
  EXPECT_EQ(bed.sent[0].port, kLan);
  EXPECT_EQ(bed.sent[0].interface, acme);
  EXPECT_EQ(bed.counted(kLan, Result::from_twin), 1U);
}

TEST_F(FrameSenderTest, AWorkerThatDoesNotKeepUpIsTheReason) {
  bed.full = true;
  bed.sender.send(kWan, udp_frame(), Result::from_kernel);
  expect_dropped(Result::ring_full);
}

TEST_F(FrameSenderTest, AFrameMustFitIntoAPacketBuffer) {
  bed.sender.send(kWan, Octets(5000), Result::from_kernel);
  expect_dropped(Result::oversized);
}

TEST_F(FrameSenderTest, WithoutAPoolNothingIsSent) {
  FrameSender none(bed.links, bed.gate, nullptr, [](PortIndex, rte_mbuf*) { return true; });
  none.send(kWan, udp_frame(), Result::from_kernel);
  expect_dropped(Result::no_buffer);
}

TEST_F(FrameSenderTest, AnswersOfTheKernelAreBestEffort) {
  const Octets answer = packet(kIcmp, responder_frames::echo(0), 0x0a020007, kEf);
  EXPECT_EQ(dscp_sent(answer), kBe);
  EXPECT_EQ(dscp_sent(answer, Result::from_twin), kBe);
  EXPECT_TRUE(checksum_right(bed.sent[0].frame));
}

TEST_F(FrameSenderTest, NotThoseToConfiguredNeighbors) {
  EXPECT_EQ(dscp_sent(packet(kIcmp, responder_frames::echo(0), 0x0a020042, kEf)), kEf);
}

TEST_F(FrameSenderTest, NorItsOwnRequestsAndTheRoutersFrames) {
  EXPECT_EQ(dscp_sent(packet(kIcmp, responder_frames::echo(8), 0x0a020007, kCs6)), kCs6);
  EXPECT_EQ(dscp_sent(packet(kIcmp, responder_frames::echo(0), 0x0a020007, kCs6), Result::from_responder),
            kCs6);
}

}  // namespace
}  // namespace surety
