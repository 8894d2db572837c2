// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/mbuf_notes.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

// An mbuf without a pool: the notes are fields of its own.
struct Mbuf : rte_mbuf {
  Mbuf() : rte_mbuf{} {}
};

TEST(MbufNotes, OfAnInputBufferAreRouteOffsetAndCustomer) {
  Mbuf m;
  note_held(&m, 0xfedcba98, 127, 0xabcd);
  EXPECT_EQ(held_route(&m), 0xfedcba98u);
  EXPECT_EQ(noted_l3_offset(&m), 127);
  EXPECT_EQ(noted_customer(&m), 0xabcd);
}

TEST(MbufNotes, OfTheWayOutDoNotOverlap) {
  Mbuf m, copy;
  EXPECT_FALSE(PacketOwner::of(&m).any());
  EXPECT_EQ(interface_of(&m, 7), 7);
  set_owner(&m, PacketOwner::base(0x3fff), 0xfedcba98, 0xffff, Precedence::out);
  set_interface(&m, 0xabcd, VlanTags::of_word(0x12345678));
  copy_owner(&m, &copy);
  copy_interface(&m, &copy);
  for (const rte_mbuf* each : {static_cast<rte_mbuf*>(&m), static_cast<rte_mbuf*>(&copy)}) {
    const PacketOwner owner = PacketOwner::of(each);
    EXPECT_EQ(owner.flow, 0xfedcba98u);
    EXPECT_EQ(owner.service(), 0xffff);
    EXPECT_EQ(owner.worker(), 0x3fffu);
    EXPECT_EQ(owner.precedence(), Precedence::out);
    EXPECT_EQ(interface_of(each, 7), 0xabcd);
    EXPECT_EQ(noted_tags(each).word(), VlanTags::of_word(0x12345678).word());
  }
  clear_owner(&m);
  EXPECT_FALSE(PacketOwner::of(&m).any());
  EXPECT_EQ(interface_of(&m, 7), 0xabcd);
}

TEST(MbufNotes, ForTheControlThreadDoNotOverlap) {
  Mbuf m;
  note_punted(&m, PuntReason::neighbor, 0xffffff, 127, 0xabcd, 0x1234);
  EXPECT_EQ(punted_reason(&m), PuntReason::neighbor);
  EXPECT_EQ(punted_next_hop(&m), 0xffffffu);
  EXPECT_EQ(noted_l3_offset(&m), 127);
  EXPECT_EQ(noted_customer(&m), 0xabcd);
  EXPECT_EQ(punted_interface(&m), 0x1234);
}

}  // namespace
}  // namespace surety
