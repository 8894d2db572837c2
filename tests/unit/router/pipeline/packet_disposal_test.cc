// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/packet_disposal.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::packet_pool;

constexpr std::size_t kNotIp = 0, kUntagged = 14;

// What becomes of an exception of port 1, in words; the packet is freed whichever way it goes.
class Case {
 public:
  Case(KernelPeer peer, unsigned ring_slots, std::size_t workers = 1)
      : ring_(make_ring(ring_slots)), disposal_(ports_, {peer, peer}, ring_, 1, workers) {}
  ~Case() {
    drain();
    rte_ring_free(ring_);
  }
  std::string punt(PuntReason reason, std::size_t l3_offset = kUntagged, std::uint32_t next_hop = 7) {
    return fate([&](rte_mbuf* m) { disposal_.punt(m, 1, reason, l3_offset, next_hop, 1); });
  }
  std::string refuse(DropReason reason, Refusal why) {
    return fate([&](rte_mbuf* m) { disposal_.drop_and_report(m, 1, reason, why, kUntagged, 1); });
  }
  template <class Leave>
  std::string fate(Leave&& leave) {
    const auto before = ports_;
    const unsigned free = rte_mempool_avail_count(packet_pool());
    leave(test::to_mbuf(test::udp_frame()));  // of one customer
    disposal_.flush();
    std::string words = rte_mempool_avail_count(packet_pool()) == free ? "freed" : "ring";
    const auto& now = ports_[1];
    for (std::size_t r = 0; r < kPuntReasons; ++r)
      if (now.punted[r] > before[1].punted[r]) words += " punted " + std::string(kPuntReasonInfo[r].name);
    for (std::size_t r = 0; r < kDropReasons; ++r)
      if (now.drops[r] > before[1].drops[r]) words += " dropped " + std::string(kDropReasonInfo[r].name);
    return words;
  }
  rte_mbuf* from_ring() {
    void* m = nullptr;
    return rte_ring_sc_dequeue(ring_, &m) == 0 ? static_cast<rte_mbuf*>(m) : nullptr;
  }
  void drain() {
    if (ring_ == nullptr) return;
    while (rte_mbuf* m = from_ring()) rte_pktmbuf_free(m);
  }
  PacketDisposal& disposal() { return disposal_; }
  std::vector<PortCounters>& ports() { return ports_; }

 private:
  static rte_ring* make_ring(unsigned slots) {
    return slots == 0 ? nullptr
                      : rte_ring_create("exits", slots, SOCKET_ID_ANY,
                                        RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  }
  std::vector<PortCounters> ports_ = std::vector<PortCounters>(2);
  rte_ring* ring_;
  PacketDisposal disposal_;
};

TEST(PacketDisposal, WithoutAnyKernelEachExceptionIsADropOfItsOwnName) {
  Case c(KernelPeer::none, 0);
  EXPECT_EQ(c.punt(PuntReason::ttl), "freed dropped ttl_exceeded");
  EXPECT_EQ(c.punt(PuntReason::mtu), "freed dropped mtu_exceeded");
  EXPECT_EQ(c.punt(PuntReason::neighbor), "freed dropped neighbor_unresolved");
  for (const PuntReason other :
       {PuntReason::local, PuntReason::multicast, PuntReason::link_local, PuntReason::neighbor_discovery})
    EXPECT_EQ(c.punt(other), "freed dropped no_kernel_peer");
  EXPECT_EQ(c.punt(PuntReason::arp, kNotIp), "freed dropped no_kernel_peer");
  EXPECT_EQ(c.punt(PuntReason::control, kNotIp), "freed dropped no_kernel_peer");
}

// To the law it is the drop; that its sender is told is beside that.
TEST(PacketDisposal, WhatIsRefusedIsADropOfWhichTheSenderIsTold) {
  Case c(KernelPeer::steered, 2);
  EXPECT_EQ(c.refuse(DropReason::no_route, Refusal::no_route), "ring dropped no_route");
  EXPECT_EQ(c.refuse(DropReason::source_check, Refusal::source), "ring dropped source_check");
  EXPECT_EQ(c.refuse(DropReason::no_route, Refusal::no_route), "freed dropped no_route") << "no room";
  rte_mbuf* const m = c.from_ring();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(punted_reason(m), PuntReason::none);
  EXPECT_EQ(punted_refusal(m), Refusal::no_route);
  EXPECT_EQ(m->port, 1);
  rte_pktmbuf_free(m);
  Case nobody(KernelPeer::none, 8), alone(KernelPeer::steered, 0);
  EXPECT_EQ(nobody.refuse(DropReason::no_route, Refusal::no_route), "freed dropped no_route");
  EXPECT_EQ(alone.refuse(DropReason::no_route, Refusal::no_route), "freed dropped no_route");
}

// The kernel has a copy of each frame, but drops it before its stack if it is for no address of an interface.
TEST(PacketDisposal, PacketsForAPrefixOfTheKernelReachIt) {
  Case c(KernelPeer::sees_all, 8);
  EXPECT_EQ(c.punt(PuntReason::local, kUntagged, kNextHopLocal), "freed punted local");
  EXPECT_EQ(c.punt(PuntReason::local, kUntagged, kNextHopLocalPrefix), "ring punted local");
  EXPECT_EQ(c.punt(PuntReason::local, kUntagged, kNextHopForeign), "ring punted local");
}

// Once, whichever way it goes; and nothing that is no drop.
TEST(PacketDisposal, ShowsDropsToWhoLooksOn) {
  CaptureWish wish;
  wish.drops = true;
  wish.reasons.set();
  CaptureTap tap(std::make_shared<const CaptureWish>(wish), {});
  Case c(KernelPeer::sees_all, 1);
  c.disposal().set_tap(&tap);
  const auto seen = [&] {
    std::string reasons;
    for (; tap.ring().front() != nullptr; tap.ring().pop())
      reasons += std::string(info(static_cast<DropReason>(tap.ring().front()->reason)).name) + ' ';
    return reasons;
  };
  EXPECT_EQ(c.fate([&](rte_mbuf* m) { c.disposal().drop(m, 1, DropReason::early); }), "freed dropped early");
  EXPECT_EQ(seen(), "early ");
  EXPECT_EQ(c.refuse(DropReason::source_check, Refusal::source), "ring dropped source_check");
  EXPECT_EQ(seen(), "source_check ");
  EXPECT_EQ(c.refuse(DropReason::no_route, Refusal::no_route), "freed dropped no_route") << "no room";
  EXPECT_EQ(seen(), "no_route ");
  c.fate([&](rte_mbuf* m) { c.disposal().free(m); });
  EXPECT_EQ(c.punt(PuntReason::arp), "freed punted arp");
  EXPECT_EQ(seen(), "");
  c.disposal().set_tap(nullptr);
  c.fate([&](rte_mbuf* m) { c.disposal().drop(m, 1, DropReason::early); });
  EXPECT_EQ(seen(), "");
}

TEST(PacketDisposal, OfAFloodThatIsRefusedFewAreTold) {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{4}}) {
    Case c(KernelPeer::steered, 1024, workers);
    std::size_t told = 0;
    for (int i = 0; i < 5000; ++i) {
      told += c.refuse(DropReason::no_route, Refusal::no_route).starts_with("ring");
      c.drain();
    }
    EXPECT_GT(told, 100U / workers);
    EXPECT_LE(told, 600U / workers) << "500 by one alone, and its part of what is kept for the modest";
    EXPECT_EQ(c.ports()[1].drops[static_cast<std::size_t>(DropReason::no_route)], 5000U);
  }
}

// The kernel routes as well: any port's exceptions may go to it, as long as it is not the
// port's own link that matters.
TEST(PacketDisposal, AnswersAndResolutionsGoToTheKernelOfAnotherPort) {
  for (const KernelPeer peer : {KernelPeer::none, KernelPeer::steered}) {
    Case c(peer, 8);
    EXPECT_EQ(c.punt(PuntReason::ttl), "ring punted ttl");
    EXPECT_EQ(c.punt(PuntReason::mtu), "ring punted mtu");
    EXPECT_EQ(c.punt(PuntReason::neighbor), "ring punted neighbor");
    EXPECT_EQ(c.punt(PuntReason::local), "ring punted local");
    EXPECT_EQ(c.punt(PuntReason::multicast), "freed dropped no_kernel_peer");
    EXPECT_EQ(c.punt(PuntReason::link_local), "freed dropped no_kernel_peer");
    EXPECT_EQ(c.punt(PuntReason::neighbor_discovery), "freed dropped no_kernel_peer");
    EXPECT_EQ(c.punt(PuntReason::arp), "freed dropped no_kernel_peer");
    EXPECT_EQ(c.punt(PuntReason::control), "freed dropped no_kernel_peer");
  }
}

TEST(PacketDisposal, AKernelThatSeesEveryFrameHasItAlready) {
  Case c(KernelPeer::sees_all, 8);
  for (const auto& [reason, words] :
       {std::pair{PuntReason::local, "freed punted local"}, std::pair{PuntReason::arp, "freed punted arp"},
        std::pair{PuntReason::multicast, "freed punted multicast"},
        std::pair{PuntReason::link_local, "freed punted link_local"},
        std::pair{PuntReason::control, "freed punted control"},
        std::pair{PuntReason::neighbor_discovery, "freed punted neighbor_discovery"}})
    EXPECT_EQ(c.punt(reason), words);
  // It does not forward, so what came up in forwarding it must be told.
  EXPECT_EQ(c.punt(PuntReason::ttl), "ring punted ttl");
  EXPECT_EQ(c.punt(PuntReason::neighbor), "ring punted neighbor");
}

TEST(PacketDisposal, WhatStandsInForTheKernelGetsEverythingByTheRing) {
  Case c(KernelPeer::twin, 16);
  for (std::size_t r = 0; r < kPuntReasons; ++r)
    EXPECT_EQ(c.punt(static_cast<PuntReason>(r)), "ring punted " + std::string(kPuntReasonInfo[r].name));
  EXPECT_EQ(c.punt(PuntReason::arp, kNotIp), "ring punted arp");
  Case alone(KernelPeer::twin, 0);
  EXPECT_EQ(alone.punt(PuntReason::arp, kNotIp), "freed dropped no_kernel_peer");
}

TEST(PacketDisposal, AFullRingIsADropOfItsOwnName) {
  Case c(KernelPeer::none, 2);
  EXPECT_EQ(c.punt(PuntReason::ttl), "ring punted ttl");
  EXPECT_EQ(c.punt(PuntReason::ttl), "ring punted ttl");
  EXPECT_EQ(c.punt(PuntReason::ttl), "freed dropped punt_overflow");
  c.drain();
  EXPECT_EQ(c.punt(PuntReason::ttl), "ring punted ttl");
}

TEST(PacketDisposal, TheControlThreadFindsReasonNextHopAndIpHeader) {
  Case c(KernelPeer::none, 8);
  for (const std::uint32_t hop : {0u, 7u, 0xffffffu})
    for (const std::size_t l3 : {14u, 18u, 22u}) {
      c.punt(PuntReason::neighbor, l3, hop);
      rte_mbuf* m = c.from_ring();
      ASSERT_NE(m, nullptr);
      EXPECT_EQ(punted_reason(m), PuntReason::neighbor);
      EXPECT_EQ(punted_next_hop(m), hop);
      EXPECT_EQ(m->l2_len, l3);
      rte_pktmbuf_free(m);
    }
}

// What has no owner, was only dropped, or is done with, is nobody's loss, whatever has been in its place.
TEST(PacketDisposal, LossesAreCountedOnceForWhoseTheyAre) {
  Case c(KernelPeer::none, 0);
  PacketDisposal& disposal = c.disposal();
  disposal.losses().make_room(1, 4);
  const auto owned = [](FlowId flow) {
    rte_mbuf* const m = test::to_mbuf(test::udp_frame());
    set_owner(m, PacketOwner::base(0), flow, 3, Precedence::out);
    return m;
  };
  for (int round = 0; round < 3; ++round) {
    for (FlowId f = 0; f < 40; ++f) disposal.drop_owned(owned(f % 4), 1, DropReason::early, 50 + f % 4);
    disposal.flush();
    for (FlowId f = 0; f < 40; ++f) disposal.drop(owned(f % 4), 1, DropReason::early);
    disposal.flush();
    for (FlowId f = 0; f < 40; ++f) disposal.free(owned(f % 4));
    rte_mbuf* const nobodys = test::to_mbuf(test::udp_frame());
    clear_owner(nobodys);
    disposal.drop_owned(nobodys, 1, DropReason::early);
    for (FlowId f = 0; f < 100; ++f)
      disposal.drop_owned(owned(f % 4), 0, DropReason::overflow);  // more than a bin
    disposal.flush();
    disposal.flush();
  }
  Loss all;
  for (FlowId f = 0; f < 4; ++f) {
    const Loss loss = disposal.losses().of(0, f);
    EXPECT_EQ(loss.packets, (std::array<std::uint64_t, 2>{0, 3 * (10 + 25)})) << f;
    EXPECT_EQ(loss.bytes[1], 3 * (10 * (50 + f) + 25 * 100)) << f;
    EXPECT_EQ(loss.at(LossPlace::queue), loss.packets[1]);
    all += loss;
  }
  EXPECT_EQ(disposal.losses().of_service(3).packets, all.packets);
  EXPECT_EQ(disposal.losses().of_service(3).bytes, all.bytes);
  EXPECT_EQ(disposal.losses().of_service(3).by_reason, all.by_reason);
  EXPECT_EQ(c.ports()[1].drops[static_cast<std::size_t>(DropReason::early)], 3 * 81u);
  EXPECT_EQ(c.ports()[0].drops[static_cast<std::size_t>(DropReason::overflow)], 300u);
}

TEST(PacketDisposal, DropsAreCountedAtOnceAndFreedInBulk) {
  Case c(KernelPeer::none, 0);
  const unsigned free = rte_mempool_avail_count(packet_pool());
  for (int i = 0; i < 63; ++i) c.disposal().drop(rte_pktmbuf_alloc(packet_pool()), 0, DropReason::no_route);
  EXPECT_EQ(c.ports()[0].drops[static_cast<std::size_t>(DropReason::no_route)], 63u);
  EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free - 63);
  c.disposal().drop(rte_pktmbuf_alloc(packet_pool()), 0, DropReason::police);
  EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free) << "64 at a time, whatever their reasons";
  c.disposal().drop(rte_pktmbuf_alloc(packet_pool()), 1, DropReason::police);
  c.disposal().flush();
  c.disposal().flush();
  EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free);
  EXPECT_EQ(c.ports()[0].drops[static_cast<std::size_t>(DropReason::police)], 1u);
  EXPECT_EQ(c.ports()[1].drops[static_cast<std::size_t>(DropReason::police)], 1u);
}

}  // namespace
}  // namespace surety
