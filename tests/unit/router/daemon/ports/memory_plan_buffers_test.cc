// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "tests/unit/router/daemon/ports/two_ports.h"

namespace surety {
namespace {

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

void add_csa(config::Config& c) {
  c.services.resize(1);
  c.services[0].conditioner = config::Csa{};
}

TEST(BufferPlan, APlaceWithoutAPortHasNone) {
  auto c = two_ports(config::Device::Kind::af_xdp);
  const std::uint32_t before = buffer_needs(c, 3).total();
  c.ports.resize(64);
  EXPECT_EQ(buffer_needs(c, 3).total(), before);
}

TEST(BufferPlan, APoolThatMayGrowHasRoomForMorePortsAndForWhatIsHeld) {
  auto c = two_ports(config::Device::Kind::memif);
  const PoolPlan pool = plan_pool(c, 4);
  EXPECT_EQ(pool.start, buffer_needs(c, 4).total() + 16'384);
  c.ports.push_back(c.ports[0]);
  EXPECT_LE(buffer_needs(c, 4).total(), pool.start);
  add_csa(c);
  EXPECT_GT(buffer_needs(c, 4).total(), pool.start);
  EXPECT_LE(plan_pool(c, 4).start, pool.most);
}

// Each buffer of such a pool is resident from the start.
TEST(BufferPlan, APoolOfAfXdpHasAllFromTheStart) {
  auto c = two_ports(config::Device::Kind::af_xdp);
  const PoolPlan pool = plan_pool(c);
  EXPECT_EQ(pool.start, 18'896u + 2 * 3 * 2048 + 2048);
  EXPECT_EQ(pool.most, pool.start);
  c.ports.push_back(c.ports[0]);
  add_csa(c);
  EXPECT_GT(buffer_needs(c).total(), pool.start);
  EXPECT_LE(least_buffers(c), pool.start) << "what is held gives way";
  EXPECT_EQ(held_within(c, 1, pool.start), pool.start - (buffer_needs(c).total() - 16'384));
  EXPECT_GE(held_within(c, 1, pool.start), std::get<config::Csa>(c.services[0].conditioner).bucket.buffer);
}

TEST(BufferPlan, APoolOfAfXdpHasRoomForAPortAndAServiceThatHolds) {
  for (const std::size_t workers : {1u, 2u, 8u, 16u}) {
    auto c = two_ports(config::Device::Kind::af_xdp);
    const PoolPlan pool = plan_pool(c, workers);
    c.ports.push_back(c.ports[0]);
    add_csa(c);
    EXPECT_LE(least_buffers(c, workers), pool.start) << workers;
    EXPECT_GT(held_within(c, workers, pool.start), 0u) << workers;
  }
}

TEST(BufferPlan, HugepagesHaveAllFromTheStartAndWhatOneWorkerHolds) {
  auto c = two_ports(config::Device::Kind::pci);
  const PoolPlan pool = plan_pool(c, 4, true);
  EXPECT_EQ(pool.start, buffer_needs(c, 4).total() + 16'384 + std::max(16'384u, pool.start / 5));
  EXPECT_EQ(pool.most, pool.start);
  add_csa(c);
  EXPECT_EQ(plan_pool(c, 4, true), pool);
  EXPECT_EQ(held_within(c, 4, pool.start), (pool.start - (buffer_needs(c, 4).total() - 4 * 16'384)) / 4);
}

TEST(BufferPlan, WhatIsHeldGivesWayNoFurtherThanToNothing) {
  auto c = two_ports(config::Device::Kind::memif);
  EXPECT_EQ(held_within(c, 1, 0), 16'384u) << "nothing holds any";
  add_csa(c);
  const BufferNeeds n = buffer_needs(c);
  EXPECT_EQ(held_within(c, 1, n.total()), 16'384u);
  EXPECT_EQ(held_within(c, 1, n.total() - 1), 16'383u);
  EXPECT_EQ(held_within(c, 1, n.total() - n.held), 0u);
  EXPECT_EQ(held_within(c, 1, 0), 0u);
  EXPECT_EQ(least_buffers(c), n.total() - n.held + 100) << "a flow's";
}

}  // namespace
}  // namespace surety
