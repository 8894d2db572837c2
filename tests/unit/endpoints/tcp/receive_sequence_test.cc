// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/receive_sequence.h"

#include <gtest/gtest.h>

#include <array>

namespace surety::endpoints {
namespace {

constexpr std::uint32_t kNext = 0xffff'ff00;  // wraps soon
constexpr std::array<std::uint8_t, 2000> kBytes{};

tcp::Segment segment(std::uint32_t from, std::size_t length, bool fin = false) {
  tcp::Segment s;
  s.sequence = kNext + from;
  s.payload = std::span(kBytes).first(length);
  s.flags = static_cast<std::uint8_t>(tcp::kAck | (fin ? tcp::kFin : 0));
  return s;
}

TEST(ReceiveSequence, AcceptsWhatTouchesTheWindow) {
  const ReceiveSequence r(kNext, 1000);
  EXPECT_TRUE(r.acceptable(segment(0, 0)));
  EXPECT_FALSE(r.acceptable(segment(1000, 0)));
  EXPECT_TRUE(r.acceptable(segment(999, 100)));
  EXPECT_FALSE(r.acceptable(segment(1000, 100)));
  EXPECT_TRUE(r.acceptable(segment(-100u, 101)));
  EXPECT_FALSE(r.acceptable(segment(-100u, 100)));
  EXPECT_TRUE(ReceiveSequence(kNext, 0).acceptable(segment(0, 0)));
  EXPECT_FALSE(ReceiveSequence(kNext, 0).acceptable(segment(1, 0)));
}

TEST(ReceiveSequence, TakesNothingTwiceAndNothingBeyondTheWindow) {
  ReceiveSequence r(kNext, 1000);
  const auto text = r.text_of(segment(-100u, 1500));
  EXPECT_EQ(text.begin, kNext);
  EXPECT_EQ(text.bytes.size(), 1000u);
  EXPECT_FALSE(r.take(text));
  EXPECT_EQ(r.next(), kNext + 1000);
  EXPECT_EQ(r.delivered(), 1000u);
  EXPECT_EQ(r.offset_of(kNext + 1200), 1200u);
}

TEST(ReceiveSequence, AFilledHoleDeliversWhatIsBehindIt) {
  ReceiveSequence r(kNext, 2000);
  EXPECT_EQ(r.keep(r.text_of(segment(500, 500))), TcpReassembly::Added::fresh);
  EXPECT_EQ(r.keep(r.text_of(segment(500, 500))), TcpReassembly::Added::duplicate);
  EXPECT_EQ(r.gaps(), 1u);
  EXPECT_EQ(r.next(), kNext);
  EXPECT_TRUE(r.take(r.text_of(segment(0, 500))));
  EXPECT_EQ(r.delivered(), 1000u);
  EXPECT_TRUE(r.beyond().empty());
}

TEST(ReceiveSequence, NothingIsTakenBehindTheFin) {
  ReceiveSequence r(kNext, 2000);
  EXPECT_EQ(r.keep(r.text_of(segment(500, 100, true))), TcpReassembly::Added::fresh);
  EXPECT_FALSE(r.at_fin());
  EXPECT_TRUE(r.text_of(segment(600, 100)).bytes.empty());
  EXPECT_TRUE(r.take(r.text_of(segment(0, 1000))));
  EXPECT_TRUE(r.at_fin());
  EXPECT_EQ(r.delivered(), 600u);
  r.take_fin();
  EXPECT_FALSE(r.at_fin());
  EXPECT_EQ(r.next(), kNext + 601);
}

TEST(ReceiveSequence, AFinBeyondTheWindowHasNotArrived) {
  const ReceiveSequence r(kNext, 1000);
  EXPECT_FALSE(r.text_of(segment(0, 1000, true)).fin);
  EXPECT_TRUE(r.text_of(segment(0, 999, true)).fin);
}

}  // namespace
}  // namespace surety::endpoints
