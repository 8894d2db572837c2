// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/buffer_plan.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

config::Config two_ports(config::Device::Kind kind) {
  config::Config c;
  c.ports.resize(2);
  for (auto& p : c.ports) p.device.kind = kind;
  return c;
}

TEST(BufferPlan, CountsWhatEachOfTwoPortsOfAfXdpHas) {
  const BufferNeeds n = buffer_needs(two_ports(config::Device::Kind::af_xdp));
  EXPECT_EQ(n.devices, 2u * 3 * 2048) << "to receive into, to send, sent";
  EXPECT_EQ(n.queues, 2u * 1000);
  EXPECT_EQ(n.held, 0u) << "nothing holds packets";
  EXPECT_EQ(n.between, 1024u + 2 * 1024 + 2 * 128);
  EXPECT_EQ(n.working, 2u * (256 + 384));
  EXPECT_EQ(n.total(), 18'896u);
}

TEST(BufferPlan, EachQueueOfAfXdpHasItsRings) {
  auto c = two_ports(config::Device::Kind::af_xdp);
  c.ports[1].rx_queues = 4;
  EXPECT_EQ(buffer_needs(c).devices, 5u * 3 * 2048);
}

TEST(BufferPlan, PortsThatCopyHaveNext) {
  for (const auto kind :
       {config::Device::Kind::af_packet, config::Device::Kind::memif, config::Device::Kind::null})
    EXPECT_EQ(buffer_needs(two_ports(kind)).devices, 512u);
}

TEST(BufferPlan, EachWorkerMayHoldPackets) {
  auto c = two_ports(config::Device::Kind::memif);
  c.services.resize(1);
  c.services[0].conditioner = config::Csa{};
  EXPECT_EQ(buffer_needs(c, 1).held, 16'384u);
  EXPECT_EQ(buffer_needs(c, 4).held, 4u * 16'384);
}

TEST(BufferPlan, AReloadMayBringTheFirstServiceThatHolds) {
  auto c = two_ports(config::Device::Kind::af_xdp);
  const std::uint32_t pool = pool_size(c);
  c.services.resize(1);
  c.services[0].conditioner = config::Csa{};
  EXPECT_LE(least_buffers(c), pool);
}

}  // namespace
}  // namespace surety
