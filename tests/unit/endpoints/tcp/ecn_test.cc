// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/ecn.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

constexpr std::uint8_t kBoth = tcp::kEce | tcp::kCwr;

EcnEcho capable_echo() {
  EcnEcho e;
  EXPECT_EQ(e.on_syn(tcp::kSyn | kBoth), tcp::kEce);
  return e;
}
EcnSender capable_sender() {
  EcnSender s;
  EXPECT_EQ(s.on_syn_sent(true, false), kBoth);
  s.on_answer(tcp::kSyn | tcp::kAck | tcp::kEce);
  EXPECT_TRUE(s.capable());
  return s;
}

// RFC 3168 6.1.1.
TEST(EcnEcho, OnlyASynWithBothFlagsAsksForIt) {
  for (const int flags : {0, +tcp::kEce, +tcp::kCwr}) {
    EcnEcho e;
    EXPECT_EQ(e.on_syn(static_cast<std::uint8_t>(tcp::kSyn | flags)), 0) << flags;
    e.on_data(tcp::kAck, true);
    EXPECT_EQ(e.flags(), 0) << "a mark that nobody asked for";
  }
}

// 6.1.3.
TEST(EcnEcho, AMarkIsEchoedUntilTheSenderHasReduced) {
  EcnEcho e = capable_echo();
  EXPECT_EQ(e.flags(), 0);
  e.on_data(tcp::kAck, true);
  e.on_data(tcp::kAck, false);
  EXPECT_EQ(e.flags(), tcp::kEce);
  EXPECT_EQ(e.flags(), tcp::kEce) << "each ACK has it";
  e.on_data(tcp::kAck | tcp::kCwr, false);
  EXPECT_EQ(e.flags(), 0);
  e.on_data(tcp::kAck | tcp::kCwr, true);
  EXPECT_EQ(e.flags(), tcp::kEce) << "and this one is marked again";
}

TEST(EcnSender, IsCapableOnlyIfBothEndsAre) {
  for (const int flags : {0, +kBoth, +tcp::kCwr}) {
    EcnSender s;
    s.on_syn_sent(true, false);
    s.on_answer(static_cast<std::uint8_t>(tcp::kSyn | tcp::kAck | flags));
    EXPECT_FALSE(s.capable()) << flags;
  }
  EcnSender unwilling;
  EXPECT_EQ(unwilling.on_syn_sent(false, false), 0);
  unwilling.on_answer(tcp::kEce);
  EXPECT_FALSE(unwilling.capable());
}

// 6.1.1.1: some networks drop such SYNs.
TEST(EcnSender, ARepeatedSynDoesNotAskForIt) {
  EcnSender s;
  s.on_syn_sent(true, false);
  EXPECT_EQ(s.on_syn_sent(true, true), 0);
  s.on_answer(tcp::kSyn | tcp::kAck | tcp::kEce);
  EXPECT_FALSE(s.capable()) << "though the first one was answered";
}

// 6.1.2: once for all that was out, and then the receiver is told.
TEST(EcnSender, EchoesCountOnceAWindow) {
  EcnSender s = capable_sender();
  EXPECT_FALSE(s.on_ack(tcp::kAck, 100));
  EXPECT_EQ(s.take_flags(), 0);
  EXPECT_TRUE(s.on_ack(tcp::kAck | tcp::kEce, 100));
  s.on_reduction(1000);
  EXPECT_FALSE(s.on_ack(tcp::kAck | tcp::kEce, 1000)) << "sent before the reduction";
  EXPECT_EQ(s.take_flags(), tcp::kCwr);
  EXPECT_EQ(s.take_flags(), 0) << "in one segment";
  EXPECT_TRUE(s.on_ack(tcp::kAck | tcp::kEce, 1001));
}

TEST(EcnSender, EchoesThatWereNotAgreedOnAreNothing) {
  EcnSender s;
  EXPECT_FALSE(s.on_ack(tcp::kAck | tcp::kEce, 100));
  s.on_reduction(1000);
  EXPECT_EQ(s.take_flags(), 0);
}

}  // namespace
}  // namespace surety::endpoints
