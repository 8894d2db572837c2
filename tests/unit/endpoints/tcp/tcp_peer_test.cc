// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_peer.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

constexpr std::uint32_t kIrs = 0xffff'ff00;

tcp::Segment syn() {
  tcp::Segment s;
  s.sequence = kIrs;
  s.flags = tcp::kSyn | tcp::kAck;
  s.window = 1000;
  return s;
}
tcp::Segment ack(std::uint32_t offset, std::uint16_t window) {
  tcp::Segment s;
  s.sequence = kIrs + 1 + offset;
  s.flags = tcp::kAck;
  s.window = window;
  return s;
}
TcpPeer opened(const tcp::Segment& s, bool offered = true) {
  TcpPeer p;
  p.open(s, offered, offered, offered, 536);
  return p;
}

TEST(TcpPeer, OptionsHoldWhenBothEndsHaveThem) {
  tcp::Segment s = syn();
  s.mss = std::uint16_t{1400};
  s.window_scale = std::uint8_t{3};
  s.timestamps = tcp::Timestamps{77, 0};
  s.sack_permitted = true;
  const TcpPeer both = opened(s), theirs = opened(s, false), neither = opened(syn());
  EXPECT_EQ(both.mss(), 1400);
  EXPECT_TRUE(both.timestamps() && both.scales() && both.sacks());
  EXPECT_EQ(both.recent(), 77u);
  EXPECT_EQ(both.next(), kIrs + 1);
  EXPECT_EQ(both.right_edge(), 1001u) << "a SYN's window is not scaled";
  EXPECT_FALSE(theirs.timestamps() || theirs.scales() || theirs.sacks());
  EXPECT_EQ(neither.mss(), 536);
  EXPECT_FALSE(neither.timestamps() || neither.scales() || neither.sacks());
}

TEST(TcpPeer, TheWindowIsTheLatestSegments) {
  tcp::Segment s = syn();
  s.window_scale = std::uint8_t{2};
  TcpPeer p = opened(s);
  EXPECT_TRUE(p.take_window(ack(0, 500), 101));
  EXPECT_EQ(p.right_edge(), 101u + 2000);
  EXPECT_FALSE(p.take_window(ack(0, 500), 201)) << "the same field, further on";
  EXPECT_EQ(p.right_edge(), 201u + 2000);
  EXPECT_FALSE(p.take_window(ack(0, 900), 150)) << "WL2: an older acknowledgement";
  EXPECT_EQ(p.right_edge(), 201u + 2000);
  EXPECT_TRUE(p.take_window(ack(10, 100), 150)) << "WL1: a later segment";
  EXPECT_EQ(p.right_edge(), 150u + 400) << "and it may shrink";
  EXPECT_FALSE(p.take_window(ack(0, 60'000), 300)) << "WL1: an earlier one";
  EXPECT_EQ(p.right_edge(), 150u + 400);
  EXPECT_EQ(p.largest_window(), 2000u);
}

TEST(TcpPeer, TextIsTakenWhereItIsInOrder) {
  TcpPeer p = opened(syn());
  const std::uint8_t bytes[10] = {};
  tcp::Segment s = ack(5, 1000);
  s.payload = bytes;
  EXPECT_FALSE(p.take_text(s));
  EXPECT_EQ(p.next(), kIrs + 1) << "a gap";
  s.sequence = kIrs + 1;
  EXPECT_FALSE(p.take_text(s));
  EXPECT_EQ(p.next(), kIrs + 11);
  s.sequence += 4;
  s.flags |= tcp::kFin;
  EXPECT_TRUE(p.take_text(s)) << "what is new of it, and the FIN";
  EXPECT_EQ(p.next(), kIrs + 16);
  EXPECT_FALSE(p.take_text(s)) << "nothing new";
  EXPECT_EQ(p.next(), kIrs + 16);
}

// RFC 9293 3.4: the window is open at its left and closed at its right edge, across the wrap.
TEST(TcpPeer, SegmentsAreAcceptableInTheWindow) {
  const TcpPeer p = opened(syn());
  const struct {
    std::uint32_t offset;
    TcpPeer::Verdict verdict;
  } cases[] = {{0, TcpPeer::Verdict::accept},
               {65534, TcpPeer::Verdict::accept},
               {65535, TcpPeer::Verdict::answer},
               {0u - 1, TcpPeer::Verdict::answer}};
  for (const auto& c : cases) {
    Refusal refusal = Refusal::none;
    EXPECT_EQ(p.admit(ack(c.offset, 1), refusal), c.verdict) << c.offset;
    EXPECT_EQ(refusal, c.verdict == TcpPeer::Verdict::accept ? Refusal::none : Refusal::tcp_sequence);
  }
}

TEST(TcpPeer, WhatBeginsBeforeTheWindowMayReachIntoIt) {
  const TcpPeer p = opened(syn());
  const std::uint8_t bytes[10] = {};
  tcp::Segment s = ack(0u - 9, 1);
  s.payload = bytes;
  Refusal refusal = Refusal::none;
  EXPECT_EQ(p.admit(s, refusal), TcpPeer::Verdict::accept);
  s.sequence -= 1;
  EXPECT_EQ(p.admit(s, refusal), TcpPeer::Verdict::answer);
}

}  // namespace
}  // namespace surety::endpoints
