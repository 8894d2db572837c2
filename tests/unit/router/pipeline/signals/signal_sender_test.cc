// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_sender.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using namespace signals;

Prefix prefix(IpAddress a, std::uint8_t length) {
  return {a, length};
}

// lan0: customers, one queue; wan0: core, three classes.
config::Config configuration() {
  config::Config c;
  c.router.id = 0x0a090001;
  c.queues.resize(1);
  c.queues[0].classes.resize(3);
  c.ports.resize(2);
  c.ports[0].addresses = {prefix(v4(10, 1, 0, 254), 24), prefix(v6(1, 254), 64)};
  c.ports[1].trust = config::Port::Trust::core;
  c.ports[1].queues = 0;
  c.ports[1].addresses = {prefix(v4(10, 9, 0, 1), 24), prefix(v6(9, 1), 64)};
  c.signalling.queue_limit = 100;
  return c;
}

class SignalSenderTest : public testing::Test {
 protected:
  static CongestionSignal signal(std::uint8_t port = 1, std::uint8_t class_index = 2, bool ipv6 = false) {
    const SignalMessage m = message(ipv6);
    return {m.source, m.destination, port, class_index, 12, Time{}, {}};
  }
  // What is sent; a default message when nothing is.
  SignalMessage send(const CongestionSignal& s, Time now = {}, UnixTime wall = kWall) {
    std::array<std::uint8_t, kMaxSignalBytes> room;
    const std::size_t n = sender_->write(s, now, wall, room);
    SignalMessage m;
    if (n == 0) return m;
    EXPECT_EQ(read_signal(std::span(room).first(n), m), SignalResult::applied);
    EXPECT_TRUE(is_authentic(std::span(room).first(n), m, keys_.keys.front()));
    return m;
  }
  void restart(Time now = {}, UnixTime wall = kWall) { sender_.emplace(config_, keys_, now, wall); }
  void expect_counters(const SignalSender::QueueCounters& c, std::uint64_t sent, std::uint64_t limited,
                       std::uint64_t lost) {
    EXPECT_EQ(c.sent, sent);
    EXPECT_EQ(c.limited, limited);
    EXPECT_EQ(c.lost, lost);
  }

  config::Config config_ = configuration();
  SignalKeys keys_{{key(2, 50), key(1)}};
  std::optional<SignalSender> sender_{std::in_place, config_, keys_, Time{}, kWall};
};

TEST_F(SignalSenderTest, SaysWhoWhereAndWhen) {
  const SignalMessage m = send(signal(), Time{} + 1s, kWall + 1s);
  EXPECT_EQ(m.from, v4(10, 9, 0, 1));
  EXPECT_EQ(m.to, v4(10, 1, 0, 1));
  EXPECT_EQ(m.source, v4(10, 1, 0, 1));
  EXPECT_EQ(m.destination, v4(10, 2, 0, 1));
  EXPECT_EQ(m.router, 0x0a090001u);
  EXPECT_EQ(m.port, 1);
  EXPECT_EQ(m.queue, 2);
  EXPECT_EQ(m.dscp, 12);
  EXPECT_EQ(m.sent, kWall + 1s);
  EXPECT_EQ(m.key_id, 2);  // the first one
  expect_counters(sender_->counters(1, 2), 1, 0, 0);
}

TEST_F(SignalSenderTest, HasTheDscpOfTheRouter) {
  constexpr std::uint8_t kCs6 = 48, kCs7 = 56;
  std::array<std::uint8_t, kMaxSignalBytes> room;
  ASSERT_GT(sender_->write(signal(), {}, kWall, room), 0u);
  EXPECT_EQ(room[1], kCs6 << 2);
  config_.router.dscp = kCs7;
  restart();
  ASSERT_GT(sender_->write(signal(), {}, kWall, room), 0u);
  EXPECT_EQ(room[1], kCs7 << 2);
  ASSERT_GT(sender_->write(signal(1, 2, true), {}, kWall, room), 0u);
  EXPECT_EQ(room[0], 0x60 | kCs7 >> 2);
  EXPECT_EQ(room[1] & 0xf0, (kCs7 & 3) << 6);
  EXPECT_EQ(send(signal()).dscp, 12) << "the congested packet's";
}

TEST_F(SignalSenderTest, SpeaksTheFamilyOfThePacket) {
  const SignalMessage m = send(signal(1, 2, true));
  EXPECT_EQ(m.from, v6(9, 1));
  EXPECT_EQ(m.to, v6(1, 1));
}

TEST_F(SignalSenderTest, QuotesThePacket) {
  CongestionSignal s = signal_about(frames::ip4(6, frames::tcp(40000, 5001, 10), {.tos = 12 << 2}));
  std::array<std::uint8_t, kMaxSignalBytes> room;
  ASSERT_EQ(sender_->write(s, Time{}, kWall, room), 204u);
  EXPECT_TRUE(std::equal(s.quote.begin(), s.quote.end(), room.begin() + 28));
}

TEST_F(SignalSenderTest, SequencesOfQueuesRiseByOneEach) {
  const std::uint64_t first = std::uint64_t{1'700'000'000} << 32 | (std::uint64_t{123} << 32) / 1000;
  EXPECT_EQ(send(signal(1, 0)).sequence, first);
  EXPECT_EQ(send(signal(1, 0)).sequence, first + 1);
  EXPECT_EQ(send(signal(1, 1)).sequence, first);
  EXPECT_EQ(send(signal(0, 0)).sequence, first);
  EXPECT_EQ(send(signal(1, 0)).sequence, first + 2);
}

TEST_F(SignalSenderTest, SequencesGoOnOverARestart) {
  config_.signalling.queue_limit = 1'000'000;
  restart();
  std::uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) last = send(signal()).sequence;
  restart(Time{}, kWall + 1ms);  // within the same second
  EXPECT_GT(send(signal()).sequence, last);
  EXPECT_GE(send(signal()).sequence >> 32, 1'700'000'000u);
}

TEST_F(SignalSenderTest, EachQueueHasItsLimit) {
  for (int i = 0; i < 20; ++i) send(signal(1, 2));
  expect_counters(sender_->counters(1, 2), 10, 10, 0);  // a tenth of a second's worth
  send(signal(1, 1));
  expect_counters(sender_->counters(1, 1), 1, 0, 0);
  const std::uint64_t next = send(signal(1, 2), Time{} + 10ms).sequence;
  EXPECT_EQ(next & 0xffff, ((std::uint64_t{123} << 32) / 1000 + 10) & 0xffff);  // no number is wasted
  EXPECT_EQ(send(signal(1, 2), Time{} + 10ms).router, 0u);
  expect_counters(sender_->counters(1, 2), 11, 11, 0);
}

// Who hears them knows a queue by its number, and takes no sequence that goes back.
TEST_F(SignalSenderTest, QueuesThatMoveTakeCountersAndLimitAlongAndLeaveSequences) {
  for (int i = 0; i < 20; ++i) send(signal(1, 2));
  const std::uint64_t last = send(signal(1, 0)).sequence;
  sender_->move(1, {{3, ClassMoves::kGone, 0}, {0, 1, 0}}, Time{});
  expect_counters(sender_->counters(1, 0), 10, 10, 0);
  expect_counters(sender_->counters(1, 1), 0, 0, 0);
  expect_counters(sender_->counters(1, 2), 0, 0, 0);
  expect_counters(sender_->counters(1, 3), 1, 0, 0);
  EXPECT_EQ(send(signal(1, 0)).router, 0u) << "beyond its limit";
  EXPECT_EQ(send(signal(1, 0), Time{} + 10ms).sequence, last + 1);
  EXPECT_EQ(send(signal(1, 2)).sequence, last + 10);
  EXPECT_EQ(send(signal(1, 3)).sequence, last) << "a number that has not been used";
}

TEST_F(SignalSenderTest, EightAtOnceWhateverTheLimit) {
  config_.signalling.queue_limit = 1;
  restart();
  for (int i = 0; i < 20; ++i) send(signal());
  expect_counters(sender_->counters(1, 2), 8, 12, 0);
}

TEST_F(SignalSenderTest, TakesWhatTheDriverSaysIsLostOutOfTheSent) {
  send(signal());
  send(signal());
  sender_->lost(signal());
  expect_counters(sender_->counters(1, 2), 1, 0, 1);
}

TEST_F(SignalSenderTest, ItsAddressIsOfTheCoreIfItHasOneThere) {
  config_.ports[1].addresses = {prefix(parse_address("fe80::1").value(), 64)};
  restart();
  EXPECT_EQ(send(signal()).from, v4(10, 1, 0, 254));
  EXPECT_EQ(send(signal(1, 2, true)).from, v6(1, 254));  // never link-local
}

TEST_F(SignalSenderTest, WithoutAnAddressOfTheFamilyOrAKeyItIsLost) {
  config_.ports[0].addresses = {prefix(v4(10, 1, 0, 254), 24)};
  config_.ports[1].addresses.clear();
  restart();
  EXPECT_EQ(send(signal(1, 2, true)).router, 0u);
  expect_counters(sender_->counters(1, 2), 0, 0, 1);
  const SignalKeys none;
  sender_->set_keys(none);
  std::array<std::uint8_t, kMaxSignalBytes> room;
  EXPECT_EQ(sender_->write(signal(), Time{}, kWall, room), 0u);
  expect_counters(sender_->counters(1, 2), 0, 0, 2);
}

TEST_F(SignalSenderTest, TheLongestPrefixNamesTheBorder) {
  config_.signalling.borders = {{prefix(v4(10, 0, 0, 0), 8), v4(10, 9, 0, 8)},
                                {prefix(v4(10, 1, 0, 0), 24), v4(10, 9, 0, 24)},
                                {prefix(v4(10, 1, 0, 0), 16), v4(10, 9, 0, 16)},
                                {prefix(v6(1, 0), 64), v6(9, 64)}};
  restart();
  const auto destination = [&](IpAddress source) {
    CongestionSignal s = signal();
    s.source = source;
    return send(s).to;
  };
  EXPECT_EQ(destination(v4(10, 1, 0, 7)), v4(10, 9, 0, 24));
  EXPECT_EQ(destination(v4(10, 1, 1, 7)), v4(10, 9, 0, 16));
  EXPECT_EQ(destination(v4(10, 2, 1, 7)), v4(10, 9, 0, 8));
  EXPECT_EQ(destination(v4(11, 0, 0, 7)), v4(11, 0, 0, 7));
  CongestionSignal s = signal(1, 2, true);
  EXPECT_EQ(send(s).to, v6(9, 64));
  s.source = v6(2, 7);
  EXPECT_EQ(send(s).to, v6(2, 7));
}

TEST_F(SignalSenderTest, SignsWithTheFirstOfNewKeys) {
  const SignalKeys next{{key(9, 7)}};
  sender_->set_keys(next);
  std::array<std::uint8_t, kMaxSignalBytes> room;
  const auto ip = std::span<const std::uint8_t>(room).first(sender_->write(signal(), Time{}, kWall, room));
  SignalMessage m;
  ASSERT_EQ(read_signal(ip, m), SignalResult::applied);
  EXPECT_EQ(m.key_id, 9);
  EXPECT_TRUE(is_authentic(ip, m, key(9, 7)));
}

TEST_F(SignalSenderTest, SignsWithItsOwnKeyWhereItHasOne) {
  const SignalKeys own{{key(9, 7)},
                       {{config_.router.id + 1, {key(5, 70)}}, {config_.router.id, {key(5, 50)}}}};
  sender_->set_keys(own);
  std::array<std::uint8_t, kMaxSignalBytes> room;
  const auto ip = std::span<const std::uint8_t>(room).first(sender_->write(signal(), Time{}, kWall, room));
  SignalMessage m;
  ASSERT_EQ(read_signal(ip, m), SignalResult::applied);
  EXPECT_TRUE(is_authentic(ip, m, key(5, 50)));
}

TEST_F(SignalSenderTest, NothingIsKnownOfOtherQueues) {
  send(signal(1, 2));
  expect_counters(sender_->counters(0, 0), 0, 0, 0);
  expect_counters(sender_->counters(0, 1), 0, 0, 0);
  expect_counters(sender_->counters(1, 3), 0, 0, 0);
}

}  // namespace
}  // namespace surety
