// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/losses.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

PacketOwner owner(std::size_t worker, FlowId flow, std::uint16_t service, Precedence p) {
  rte_mbuf m{};
  set_owner(&m, PacketOwner::base(worker), flow, service, p);
  return PacketOwner::of(&m);
}

TEST(PacketOwner, TravelsWithThePacket) {
  for (const std::size_t worker : {0u, 5u, 0x3fffu})
    for (const FlowId flow : {FlowId{0}, FlowId{1 << 26}, kNoFlow})
      for (const std::uint16_t service : std::initializer_list<std::uint16_t>{0, 1, 0xffff})
        for (const Precedence p : {Precedence::in, Precedence::out}) {
          rte_mbuf m{}, fragment{};
          set_owner(&m, PacketOwner::base(worker), flow, service, p);
          copy_owner(&m, &fragment);
          const PacketOwner o = PacketOwner::of(&fragment);
          EXPECT_TRUE(o.any());
          EXPECT_EQ(o.worker(), worker);
          EXPECT_EQ(o.flow, flow);
          EXPECT_EQ(o.service(), service);
          EXPECT_EQ(o.precedence(), p);
          clear_owner(&m);
          EXPECT_FALSE(PacketOwner::of(&m).any());
        }
}

TEST(Losses, WhatTheConditionerRefusesWasNeverLetGo) {
  Losses losses;
  losses.make_room(1, 4);
  losses.add(owner(0, 2, 7, Precedence::out), DropReason::police, 300);
  const Loss loss = losses.of(0, 2);
  EXPECT_EQ(loss.refused_bytes, 300u);
  EXPECT_EQ(loss.bytes[0] + loss.bytes[1] + loss.packets[0] + loss.packets[1], 0u);
  EXPECT_EQ(loss.at(LossPlace::conditioner), 1u);
  EXPECT_EQ(losses.of_service(7).refused_bytes, 300u);
}

TEST(Losses, AreCountedByWorkerFlowServiceAndPrecedence) {
  Losses losses;
  losses.make_room(2, 4);
  losses.add(owner(0, 3, 1, Precedence::in), DropReason::early, 100);
  losses.add(owner(1, 3, 1, Precedence::out), DropReason::forced, 40);
  losses.add(owner(1, 3, 1, Precedence::in), DropReason::handover_full, 60);
  losses.add(owner(1, kNoFlow, 2, Precedence::in), DropReason::overflow, 9);
  EXPECT_EQ(losses.of(0, 3).bytes, (std::array<std::uint64_t, 2>{100, 0}));
  EXPECT_EQ(losses.of(1, 3).bytes, (std::array<std::uint64_t, 2>{60, 40}));
  EXPECT_EQ(losses.of(1, 3).at(LossPlace::queue), 1u);
  EXPECT_EQ(losses.of(1, 3).at(LossPlace::other), 1u);
  EXPECT_EQ(losses.of_service(1).packets, (std::array<std::uint64_t, 2>{2, 1}));
  EXPECT_EQ(losses.of_service(2).bytes[0], 9u);
}

TEST(Losses, NobodysPacketsAreNobodysLoss) {
  Losses losses;
  losses.make_room(1, 4);
  losses.add({}, DropReason::overflow, 100);
  losses.add(owner(0, 4, 0, Precedence::in), DropReason::overflow,
             100);  // beyond the table: the service's alone
  losses.add(owner(1, 0, 0, Precedence::in), DropReason::overflow, 100);
  for (FlowId f = 0; f < 4; ++f) EXPECT_EQ(losses.of(0, f).packets[0], 0u);
  EXPECT_EQ(losses.of(0, 4).packets[0] + losses.of(1, 0).packets[0], 0u);
  EXPECT_EQ(losses.of_service(0).packets[0], 2u);
}

// A reason that comes later must be named here, or be none that a packet with an owner can have.
TEST(Losses, EveryReasonBehindTheConditionerIsKnown) {
  for (std::size_t r = 0; r < kDropReasons; ++r) {
    const auto reason = static_cast<DropReason>(r);
    const std::string_view stage = info(reason).stage;
    const bool behind = stage == "condition" || stage == "aggregate" || stage == "queue";
    const bool named = std::find(kLossReasons.begin(), kLossReasons.end(), reason) != kLossReasons.end();
    EXPECT_TRUE(named || !behind) << info(reason).name;
  }
}

}  // namespace
}  // namespace surety
