// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_gate.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using namespace signals;
using Result = SignalResult;

constexpr std::uint32_t kOurId = 0x0a090005;

class SignalGateTest : public testing::Test {
 protected:
  Result judge(const Octets& ip, Duration at = {}, Duration step = {}) {
    const UnixTime wall = kWall + std::chrono::duration_cast<std::chrono::milliseconds>(at + step);
    return gate_.judge(Tight(ip), Time{} + at, wall, out_);
  }
  // The next one of its sequence, sent at `age` before it comes.
  Octets next(Duration at = {}, Duration age = {}) {
    m_.sequence += 1;
    m_.sent = kWall + std::chrono::duration_cast<std::chrono::milliseconds>(at - age);
    return packet(m_, key(1));
  }
  static config::Signalling params() {
    config::Signalling p;
    p.source_limit = 1000;
    return p;
  }

  SignalKeys keys_{{key(1), key(2, 100)}};
  SignalMessage m_ = message();
  SignalGate gate_{params(), kOurId, keys_};
  CongestionSignal out_;
};

TEST_F(SignalGateTest, BelievesTheAuthentic) {
  EXPECT_EQ(judge(packet(m_, key(1)), 3s), Result::applied);
  EXPECT_EQ(out_, (CongestionSignal{m_.source,
                                    m_.destination,
                                    3,
                                    5,
                                    12,
                                    Time{} + 3s,
                                    {},
                                    SignalKind::reminder,
                                    {m_.router, 3, 5, m_.sequence, m_.sent}}));
  ASSERT_EQ(gate_.senders().size(), 1u);
  const auto sender = gate_.senders().front();
  EXPECT_EQ(sender.router, m_.router);
  EXPECT_EQ(sender.port, 3);
  EXPECT_EQ(sender.queue, 5);
  EXPECT_EQ(sender.accepted, 1u);
  EXPECT_EQ(sender.last, Time{} + 3s);
}

TEST_F(SignalGateTest, BelievesIPv6) {
  const SignalMessage m = message(true);
  EXPECT_EQ(judge(packet(m, key(1))), Result::applied);
  EXPECT_EQ(out_.source, m.source);
  EXPECT_EQ(out_.destination, m.destination);
}

TEST_F(SignalGateTest, SaysWhatIsWrongWithTheMessage) {
  const Octets good = next();
  EXPECT_EQ(judge({}), Result::malformed);
  EXPECT_EQ(judge(Octets(good.begin(), good.end() - 1)), Result::malformed);
  Octets bad = good;
  bad[60] ^= 1;
  EXPECT_EQ(judge(bad), Result::checksum);
  bad = good;
  bad[20 + 144] = 3;
  repair(bad);
  EXPECT_EQ(judge(bad), Result::version);
  EXPECT_TRUE(gate_.senders().empty());
}

TEST_F(SignalGateTest, ALiarWithoutTheKeyHasNoEffect) {
  const Octets forged = packet(m_, key(1, 9));
  EXPECT_EQ(judge(forged), Result::forged);
  EXPECT_TRUE(gate_.senders().empty());
  EXPECT_EQ(out_, CongestionSignal{});
  // Nor does it spoil the number for the honest.
  EXPECT_EQ(judge(packet(m_, key(1))), Result::applied);
  m_.sequence += 1'000'000;
  EXPECT_EQ(judge(packet(m_, key(1, 9))), Result::forged);
  m_.sequence -= 999'999;
  EXPECT_EQ(judge(packet(m_, key(1))), Result::applied);
}

TEST_F(SignalGateTest, NoFlippedBitIsBelieved) {
  const Octets good = packet(m_, key(1));
  for (std::size_t bit = 12 * 8; bit < 8 * good.size(); ++bit) {
    Octets flipped = good;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_NE(judge(flipped, Duration(bit * 10'000'000)), Result::applied) << bit;
  }
  EXPECT_EQ(judge(good), Result::applied);
}

TEST_F(SignalGateTest, RefusesItsOwn) {
  m_.router = kOurId;
  EXPECT_EQ(judge(packet(m_, key(1))), Result::reflected);
  SignalGate nameless(params(), 0, keys_);
  m_.router = 0;
  EXPECT_EQ(nameless.judge(packet(m_, key(1)), Time{}, kWall, out_), Result::applied);
}

TEST_F(SignalGateTest, RefusesTheSecondCopy) {
  const Octets once = next();
  EXPECT_EQ(judge(once), Result::applied);
  EXPECT_EQ(judge(once), Result::replayed);
  EXPECT_EQ(judge(next()), Result::applied);
  EXPECT_EQ(judge(once), Result::replayed);
  EXPECT_EQ(gate_.senders().front().accepted, 2u);
}

TEST_F(SignalGateTest, AgeBothWays) {
  EXPECT_EQ(judge(next(0s, 10s)), Result::applied);
  EXPECT_EQ(judge(next(0s, 10'001ms)), Result::stale);
  EXPECT_EQ(judge(next(0s, -10s)), Result::applied);
  EXPECT_EQ(judge(next(0s, -10'001ms)), Result::stale);
}

TEST_F(SignalGateTest, ARestartBringsNothingBack) {
  std::vector<Octets> recorded;
  for (const Duration sent : {1s, 2s, 3s}) recorded.push_back(next(sent));
  for (const Octets& ip : recorded) EXPECT_EQ(judge(ip, 4s), Result::applied);
  gate_ = SignalGate(params(), kOurId, keys_, SignalGate::Start{Time{} + 5s, kWall + 5s});
  for (const Octets& ip : recorded) EXPECT_EQ(judge(ip, 5s), Result::stale);
  EXPECT_EQ(judge(next(5s), 5s), Result::applied) << "sent as it started";
  EXPECT_EQ(judge(next(6s, 1001ms), 6s), Result::stale) << "of a clock that is behind";
  EXPECT_EQ(judge(next(7s, 1001ms), 7s), Result::applied) << "that much later";
  for (const Octets& ip : recorded) EXPECT_EQ(judge(ip, 6s), Result::stale) << "also of a known sender";
}

// A clock that was an hour ahead as the router started and is then set right.
TEST_F(SignalGateTest, AClockThatWasAheadAtTheStartSilencesNobodyForLonger) {
  gate_ = SignalGate(params(), kOurId, keys_, SignalGate::Start{Time{}, kWall + 1h});
  EXPECT_EQ(judge(next(1s), 1s), Result::stale);
  EXPECT_EQ(judge(next(10s), 10s), Result::stale);
  EXPECT_EQ(judge(next(10s + 1ms), 10s + 1ms), Result::applied);
}

TEST_F(SignalGateTest, AStaleOneDoesNotCountAsSeen) {
  m_.sent = kWall + 11s;
  const Octets early = packet(m_, key(1));
  EXPECT_EQ(judge(early), Result::stale);
  EXPECT_EQ(judge(early, 1s), Result::applied);
}

TEST_F(SignalGateTest, WallClockSteps) {
  const Octets first = next();
  EXPECT_EQ(judge(first), Result::applied);
  // Forward by an hour: what the others send looks old until they follow.
  EXPECT_EQ(judge(next(1s), 1s, 1h), Result::stale);
  EXPECT_EQ(judge(next(2s, -1h), 2s, 1h), Result::applied);
  // Back again.
  EXPECT_EQ(judge(next(3s, -1h), 3s), Result::stale);
  EXPECT_EQ(judge(next(4s), 4s), Result::applied);
  EXPECT_EQ(judge(first, 5s, -5s), Result::replayed);
  // And back to when the first was fresh, after its sender has been forgotten.
  EXPECT_EQ(judge(first, 30s, -30s), Result::stale);
}

TEST_F(SignalGateTest, KeysChangeWithoutAGap) {
  EXPECT_EQ(judge(packet(m_, key(1))), Result::applied);
  ++m_.sequence;
  EXPECT_EQ(judge(packet(m_, key(2, 100))), Result::applied);
  const SignalKeys next{{key(2, 100), key(3, 200)}};
  gate_.set_keys(next);
  ++m_.sequence;
  EXPECT_EQ(judge(packet(m_, key(1))), Result::unknown_key);
  EXPECT_EQ(judge(packet(m_, key(2, 100))), Result::applied);
  ++m_.sequence;
  EXPECT_EQ(judge(packet(m_, key(3, 200))), Result::applied);
}

TEST_F(SignalGateTest, ARouterWithAKeyOfItsOwnSpeaksForItselfOnly) {
  const std::uint32_t kA = 1001, kB = 1002, kOther = 1003;
  const SignalKeys keys{{key(1)}, {{kA, {key(5, 50)}}, {kB, {key(5, 80), key(1)}}}};
  gate_.set_keys(keys);
  const auto says = [&](std::uint32_t router, const SignalKey& k) {
    m_.router = router;
    ++m_.sequence;
    return judge(packet(m_, k));
  };
  EXPECT_EQ(says(kA, key(5, 50)), Result::applied);
  EXPECT_EQ(says(kB, key(5, 50)), Result::forged) << "A's key, B's name";
  EXPECT_EQ(says(kOther, key(5, 50)), Result::unknown_key);
  EXPECT_EQ(says(kA, key(1)), Result::unknown_key) << "the common key is not A's any more";
  EXPECT_EQ(says(kB, key(5, 80)), Result::applied);
  EXPECT_EQ(says(kB, key(1)), Result::applied) << "on the way to its own, B has both";
  EXPECT_EQ(says(kOther, key(1)), Result::applied);
}

TEST_F(SignalGateTest, UnknownKeys) {
  EXPECT_EQ(judge(packet(m_, key(3))), Result::unknown_key);
  const SignalKeys none;
  SignalGate gate(params(), kOurId, none);
  EXPECT_EQ(gate.judge(packet(m_, key(1)), Time{}, kWall, out_), Result::unknown_key);
}

// Whoever has no key may send what he likes, from whatever address: he uses up nothing of theirs who have.
TEST_F(SignalGateTest, AFloodOfForgeriesTakesNothingFromTheTrue) {
  const Octets forged = packet(m_, key(1, 9));
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(judge(forged), Result::forged);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(judge(next()), Result::applied);
}

TEST_F(SignalGateTest, EachQueueHasALimit) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(judge(next()), Result::applied);
  EXPECT_EQ(judge(next()), Result::limited);
  ++m_.queue;
  EXPECT_EQ(judge(next()), Result::applied);
  --m_.queue;
  EXPECT_EQ(judge(next(1ms), 1ms), Result::applied);
}

TEST_F(SignalGateTest, WhatAnotherWorkerHasBelievedIsNotBelievedHere) {
  SignalGate other(params(), kOurId, keys_);
  const Octets once = next();
  ASSERT_EQ(other.judge(once, Time{}, kWall, out_), Result::applied);
  gate_.remember(out_, Time{});
  EXPECT_EQ(judge(once), Result::replayed);
  EXPECT_EQ(gate_.senders().front().accepted, 0u) << "counted there";
  EXPECT_EQ(judge(next()), Result::applied);
}

TEST_F(SignalGateTest, OnlyTheAuthenticTakeRoomAsSenders) {
  for (std::uint32_t n = 0; n < SignalGate::kMaxSenders + 10; ++n) {
    m_.from = v4(10, 8, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n));
    m_.router = n;
    ASSERT_EQ(judge(packet(m_, key(1, 9))), Result::forged);
  }
  EXPECT_TRUE(gate_.senders().empty());
  for (std::uint32_t n = 0; n < SignalGate::kMaxSenders + 10; ++n) {
    m_.from = v4(10, 8, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n));
    m_.router = n;
    ASSERT_EQ(judge(packet(m_, key(1)), 1s), n < SignalGate::kMaxSenders ? Result::applied : Result::senders);
  }
  EXPECT_EQ(gate_.senders().size(), SignalGate::kMaxSenders);
  // Who has been silent for twice max_age makes room.
  m_.sent = kWall + 22s;
  EXPECT_EQ(judge(packet(m_, key(1)), 22s), Result::applied);
  EXPECT_EQ(gate_.senders().size(), 1u);
}

}  // namespace
}  // namespace surety
