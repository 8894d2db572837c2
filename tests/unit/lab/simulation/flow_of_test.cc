// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/flow_of.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::lab {
namespace {

using namespace surety::frames;

constexpr std::uint16_t kDccpUdp = 6511;

FlowOf of(const Octets& ip) {
  return flow_of({ip.data(), ip.size()}, kDccpUdp);
}

void expect(const FlowOf& f, std::uint32_t flow, bool from_sender, bool data) {
  EXPECT_EQ(f.flow, flow);
  EXPECT_EQ(f.from_sender, from_sender);
  EXPECT_EQ(f.data, data);
}

Octets dccp_packet(std::uint16_t from, std::uint16_t to, int type) {
  Octets s(24, 0);
  s[0] = static_cast<std::uint8_t>(from >> 8), s[1] = static_cast<std::uint8_t>(from);
  s[2] = static_cast<std::uint8_t>(to >> 8), s[3] = static_cast<std::uint8_t>(to);
  s[8] = static_cast<std::uint8_t>(type << 1 | 1);
  return s;
}

TEST(LabFlowOf, TcpDataIsWhatHasPayload) {
  expect(of(ip4(6, tcp(10003, 5001, 112, 8))), 3, true, true);
  expect(of(ip4(6, tcp(10003, 5001, 12, 8))), 3, true, false);
  expect(of(ip4(6, tcp(5001, 10003, 12, 8))), 3, false, false);
}

TEST(LabFlowOf, DccpDataIsDataAndDataAck) {
  for (int type = 0; type < 10; ++type)
    expect(of(ip4(33, dccp_packet(10000, 5001, type))), 0, true, type == 2 || type == 4);
  expect(of(ip4(33, dccp_packet(5001, 10000, 3))), 0, false, false);
}

TEST(LabFlowOf, DccpInUdpIsLookedInto) {
  expect(of(ip4(17, udp(kDccpUdp, kDccpUdp, 0) + dccp_packet(10007, 5001, 2))), 7, true, true);
  expect(of(ip4(17, udp(kDccpUdp, kDccpUdp, 0) + dccp_packet(5001, 10007, 3))), 7, false, false);
}

TEST(LabFlowOf, UdpFromTheSenderIsData) {
  expect(of(ip4(17, udp(10001, 5001, 64))), 1, true, true);
  expect(of(ip4(17, udp(5001, 10001, 64))), 1, false, false);
}

}  // namespace
}  // namespace surety::lab
