// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/signalling_copy.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <set>

#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace signals;
using namespace literals;

constexpr Time kStart = Time(1000s);

// A border that hears 200 queues, half of them an age before the others, and holds 150 paths back.
class SignallingCopyTest : public testing::Test {
 protected:
  SignallingCopyTest() {
    for (std::uint32_t n = 0; n < 200; ++n) hear(n, n < 100 ? kStart : kStart + 15s);
    for (std::uint32_t n = 0; n < 150; ++n) clocks.signal(path(n), 0, SignalKind::reminder, kStart);
    received[0] = 7;
  }
  static Path path(std::uint32_t n) { return {IpAddress::v4(10, 2, static_cast<std::uint8_t>(n), 0), 24}; }
  static config::Signalling unlimited() {
    config::Signalling s;
    s.source_limit = 400'000'000;
    return s;
  }
  void hear(std::uint32_t router, Time now) {
    SignalMessage m = message();
    m.router = router + 1;
    m.sequence += ++sequence;
    CongestionSignal out;
    ASSERT_EQ(gate.judge(packet(m, key(1)), now, kWall, out), SignalResult::applied);
  }
  std::size_t steps() {
    copy.start();
    std::size_t n = 1;
    while (!copy.step(kStart + 1s)) ++n;
    return n;
  }
  std::set<std::uint32_t> routers() const {
    std::set<std::uint32_t> all;
    for (const auto& s : copy.numbers().sources) all.insert(s.router - 1);
    return all;
  }
  std::set<std::uint32_t> paths() const {
    std::set<std::uint32_t> all;
    for (const auto& p : copy.numbers().paths) all.insert(p.path.address.v4_host_order() >> 8 & 0xff);
    return all;
  }

  SignalKeys keys{{key(1)}};
  SignalGate gate{unlimited(), 0, keys};
  std::uint64_t sequence = 0;
  std::vector<CsaDomain> domains{
      {"up/silver", 0, 0, {.min = Ratio::of(0.1), .max = Ratio::of(0.4), .step = Ratio::of(0.1)}}};
  AlphaClocks clocks{domains, kStart};
  SignalCounters received{};
  SignallingCopy copy{{nullptr, &gate, clocks, received}, {}};
};

TEST_F(SignallingCopyTest, ASmallPartAtATime) {
  EXPECT_EQ(steps(), 1 + 350 / SignallingCopy::kStep);
  EXPECT_EQ(copy.numbers().sources.size(), 200u);
  EXPECT_EQ(routers().size(), 200u);
  EXPECT_EQ(paths().size(), 150u);
  EXPECT_EQ(copy.numbers().paths[0].alpha, Ratio::of(0.3));
  EXPECT_EQ(copy.numbers().received, received);
  EXPECT_EQ(copy.numbers().at, kStart + 1s);
  steps();
  EXPECT_EQ(copy.numbers().sources.size(), 200u) << "from the beginning";
}

TEST_F(SignallingCopyTest, WhatStaysIsThereWhateverGoesMeanwhile) {
  copy.start();
  copy.step(kStart);
  hear(150, kStart + 20s + 1ns);  // the first hundred are forgotten
  ASSERT_EQ(gate.sender_count(), 100u);
  copy.step(kStart);
  copy.step(kStart);
  // All paths but the first 20 come to rest.
  const std::array<Ratio, 1> local{Ratio::of(0.4)};
  clocks.advance(local, kStart + 80ms);
  for (std::uint32_t n = 0; n < 20; ++n) clocks.signal(path(n), 0, SignalKind::reminder, kStart + 80ms);
  clocks.advance(local, kStart + 91ms);
  ASSERT_EQ(clocks.remote_count(), 20u);
  while (!copy.step(kStart)) {
  }
  for (std::uint32_t n = 100; n < 200; ++n) EXPECT_EQ(routers().count(n), 1u) << n;
  for (std::uint32_t n = 0; n < 20; ++n) EXPECT_EQ(paths().count(n), 1u) << n;
}

TEST_F(SignallingCopyTest, NothingIsAllocated) {
  const std::size_t before = mallinfo2().uordblks;
  steps();
  steps();
  EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST_F(SignallingCopyTest, TheQueuesOfASender) {
  config::Config c;
  c.ports.resize(2);
  c.signalling.queue_limit = 1;
  SignalSender sender(c, keys, kStart, kWall);
  CongestionSignal s;
  s.port = 1;
  for (int i = 0; i < 3; ++i) sender.lost(s);
  SignallingCopy of_sender({&sender, nullptr, clocks, received}, {{0, 0, {}}, {1, 0, {}}});
  of_sender.start();
  while (!of_sender.step(kStart)) {
  }
  ASSERT_EQ(of_sender.numbers().queues.size(), 2u);
  EXPECT_EQ(of_sender.numbers().queues[0].counters.lost, 0u);
  EXPECT_EQ(of_sender.numbers().queues[1].counters.lost, 3u);
  EXPECT_TRUE(of_sender.numbers().sources.empty());
  std::vector<SignallingNumbers::Queue> fewer{{1, 0, {}}};
  of_sender.adopt(fewer);
  EXPECT_EQ(fewer.size(), 2u) << "to be freed";
  while (!of_sender.step(kStart)) {
  }
  ASSERT_EQ(of_sender.numbers().queues.size(), 1u);
  EXPECT_EQ(of_sender.numbers().queues[0].counters.lost, 3u);
}

}  // namespace
}  // namespace surety
