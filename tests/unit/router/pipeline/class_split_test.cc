// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/class_split.h"

#include <map>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

class ClassSplitTest : public testing::Test {
 protected:
  ~ClassSplitTest() override {
    for (rte_mbuf* m : frames) rte_pktmbuf_free(m);
  }
  Packet packet(const Octets& frame) {
    frames.push_back(to_mbuf(frame));
    return {frames.back(), kNoFlow, static_cast<std::uint16_t>(frame.size() - 14)};
  }
  Packet packet(std::uint8_t dscp, std::uint8_t ecn = 0, std::size_t length = 100) {
    return packet(udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | ecn)}, length));
  }
  // Packets that are to be looked up in their frames.
  void begin(std::span<Packet> burst) {
    std::vector<HandedPacket> handed;
    for (const Packet& p : burst)
      handed.emplace_back(static_cast<rte_mbuf*>(p.handle), p.length, 0, Precedence::out, false, 1);
    split.begin(handed, burst, 0);
  }
  ClassRun only_run(std::vector<Packet>& burst) {
    ClassRun run, none;
    begin(burst);
    EXPECT_TRUE(split.take(run));
    EXPECT_FALSE(split.take(none));
    return run;
  }
  struct Taken {
    std::size_t class_index;
    std::vector<int> lengths;
    std::vector<bool> ecn_capable;
    bool operator==(const Taken&) const = default;
  };
  // All that is left. The caller's changes to a run must not reach those behind it.
  std::vector<Taken> take_all() {
    std::vector<Taken> all;
    for (ClassRun run; split.take(run);) {
      EXPECT_EQ(run.packets.size(), run.ecn_capable.size());
      all.push_back({run.class_index, {}, {run.ecn_capable.begin(), run.ecn_capable.end()}});
      for (const Packet& p : run.packets) all.back().lengths.push_back(p.length);
      std::fill(run.packets.begin(), run.packets.end(), Packet{});
      std::fill(run.ecn_capable.begin(), run.ecn_capable.end(), true);
    }
    return all;
  }

  Snapshot snapshot{configured(Port::yaml(", queues: uplink", kQueues))};
  ClassSplit split{snapshot.queues[1].by_dscp};
  std::vector<rte_mbuf*> frames;
};

TEST_F(ClassSplitTest, TheDscpDecidesClassAndPrecedence) {
  const struct {
    std::uint8_t dscp;
    std::size_t cls;
    Precedence precedence;
  } cases[] = {{kCs6, 0, Precedence::in},   {56, 0, Precedence::in},
               {kEf, 1, Precedence::in},    {kAf11, 2, Precedence::in},
               {kAf12, 2, Precedence::out}, {kAf21, 3, Precedence::in},
               {20, 3, Precedence::out},    {kBe, 3, Precedence::out},
               {63, 3, Precedence::out}};  // named by nobody: where BE goes
  for (const auto& c : cases) {
    std::vector<Packet> burst{packet(c.dscp)};
    const ClassRun run = only_run(burst);
    EXPECT_EQ(run.class_index, c.cls) << int{c.dscp};
    EXPECT_EQ(run.packets[0].precedence, c.precedence) << int{c.dscp};
    EXPECT_EQ(split.class_of(c.dscp), c.cls) << int{c.dscp};
  }
}

TEST_F(ClassSplitTest, RedIsAPrecedenceToo) {
  auto by_dscp = snapshot.queues[1].by_dscp;
  by_dscp[kAf13] = {by_dscp[kAf12].class_index, Precedence::red};
  split.adopt(by_dscp);
  std::vector<Packet> burst{packet(kAf12), packet(kAf13)};
  ClassRun run = only_run(burst);
  EXPECT_EQ(run.packets[0].precedence, Precedence::out);
  EXPECT_EQ(run.packets[1].precedence, Precedence::red);
  EXPECT_EQ(HandedPacket(frames[1], 100, 2, Precedence::red, true, 3).precedence(), Precedence::red);
}

TEST_F(ClassSplitTest, Ipv6TrafficClassDecidesToo) {
  using namespace frames;
  const auto frame = [](std::uint8_t traffic_class) {
    return ethernet(kIpv6) + ip6(17, udp(1, 2, 3), {.traffic_class = traffic_class});
  };
  std::vector<Packet> burst{packet(frame(kEf << 2 | 1)), packet(frame(kAf12 << 2))};
  begin(burst);
  EXPECT_THAT(take_all(), ElementsAre(Taken{1, {51}, {true}}, Taken{2, {51}, {false}}));
}

TEST_F(ClassSplitTest, EachEcnFieldButZeroIsCapable) {
  std::vector<Packet> burst;
  for (std::uint8_t ecn = 0; ecn < 4; ++ecn) burst.push_back(packet(kAf11, ecn));
  EXPECT_THAT(only_run(burst).ecn_capable, ElementsAre(false, true, true, true));
}

TEST_F(ClassSplitTest, ABurstOfOneClassIsLeftWhereItIs) {
  std::vector<Packet> burst{packet(kAf11), packet(kAf12), packet(kAf11)};
  const ClassRun run = only_run(burst);
  EXPECT_EQ(run.packets.data(), burst.data());
  EXPECT_EQ(run.packets.size(), 3u);
}

TEST_F(ClassSplitTest, ClassesComeAsTheirFirstPacketsDo) {
  std::vector<Packet> burst{packet(kBe, 0, 101),   packet(kAf11, 1, 102), packet(kAf12, 0, 103),
                            packet(kAf21, 2, 104), packet(kCs6, 0, 105),  packet(kAf11, 0, 106)};
  begin(burst);
  EXPECT_THAT(take_all(),
              ElementsAre(Taken{3, {101, 104}, {false, true}},
                          Taken{2, {102, 103, 106}, {true, false, false}}, Taken{0, {105}, {false}}));
}

TEST_F(ClassSplitTest, AnEmptyBurstHasNoClasses) {
  std::vector<Packet> burst{packet(kAf11), packet(kBe)};
  ClassRun run;
  EXPECT_FALSE(split.take(run)) << "nothing has begun";
  begin(burst);
  EXPECT_EQ(take_all().size(), 2u);
  begin(std::span(burst).first(0));
  EXPECT_FALSE(split.take(run));
}

TEST_F(ClassSplitTest, AnotherTableDecidesFromThenOn) {
  Snapshot other{configured(Port::yaml(", queues: uplink", R"(
queues:
  uplink:
    - {name: a, dscp: [AF11], weight: 1}
    - {name: b, dscp: [BE], weight: 1}
)"))};
  split.adopt(other.queues[1].by_dscp);
  std::vector<Packet> burst{packet(kAf11), packet(kCs6)};
  begin(burst);
  EXPECT_THAT(take_all(), ElementsAre(Taken{0, {100}, {false}}, Taken{1, {100}, {false}}));
  EXPECT_EQ(split.class_of(kCs6), 1u);
}

// What a vector says of its packets is what their frames would.
TEST_F(ClassSplitTest, AVectorSaysAsMuchAsItsFrames) {
  Burst v;
  v.size = 4;
  for (std::size_t i = 0; i < v.size; ++i) {
    packet(kAf11);
    v.mbuf[i] = frames[i];
    v.header[i].length = static_cast<std::uint16_t>(100 + i);
    v.header[i].traffic_class = static_cast<std::uint8_t>(kAf11 << 2 | i);
    v.mark[i] = i % 2 == 0 ? kKeepDscp : kAf12;
    v.egress[i] = i == 2 ? 3 : 1;
  }
  std::array<Packet, kBurst> room;
  EXPECT_EQ(split.begin(v, v.leaving_by(1), room), 3u);
  ClassRun run;
  ASSERT_TRUE(split.take(run));
  EXPECT_EQ(run.class_index, split.class_of(kAf11));
  ASSERT_EQ(run.packets.size(), 3u);
  constexpr std::array<std::size_t, 3> kThere{0, 1, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    const Packet& p = run.packets[i];
    EXPECT_EQ(p.handle, frames[kThere[i]]);
    EXPECT_EQ(p.flow, kNoFlow);
    EXPECT_EQ(p.length, 100 + kThere[i]);
    EXPECT_EQ(p.precedence, kThere[i] == 0 ? Precedence::in : Precedence::out);
    EXPECT_EQ(p.verdict, DropReason::none);
    EXPECT_EQ(run.ecn_capable[i], kThere[i] != 0);
  }
  EXPECT_EQ(split.begin(v, v.leaving_by(2), room), 0u);
  EXPECT_FALSE(split.take(run));
  EXPECT_EQ(split.begin(v, v.all(), room), 4u);
  EXPECT_EQ(room[2].handle, frames[2]);
}

// Of any value, among any others; what is behind a vector's last packet is none of its own.
TEST(Burst, KnowsItsPlaces) {
  Burst v;
  Rng rng(3);
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 63u, 64u})
    for (int values = 1; values < 256; values *= 2) {
      v.size = size;
      for (PortIndex& p : v.egress) p = static_cast<PortIndex>(rng.next() % static_cast<unsigned>(values));
      LaneMask all = 0;
      for (int value = 0; value < 256; ++value) {
        LaneMask there = 0;
        for (std::size_t i = 0; i < size; ++i) there |= LaneMask{v.egress[i] == value} << i;
        EXPECT_EQ(v.leaving_by(static_cast<PortIndex>(value)), there);
        all |= there;
      }
      EXPECT_EQ(v.all(), all);
    }
}

// Packets are told apart by their lengths. What another worker has looked up gives the same.
TEST_F(ClassSplitTest, AnyMixtureKeepsTheOrderOfEachClass) {
  constexpr std::array kDscps{kBe, kAf11, kAf12, kAf21, kEf, kCs6};
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<Packet> burst;
    std::vector<HandedPacket> handed;
    std::vector<Taken> expected;
    const auto size = static_cast<int>(rng.next() % (kBurst + 1));
    for (int length = 100; length < 100 + size; ++length) {
      const std::uint8_t dscp = kDscps[rng.next() % kDscps.size()],
                         ecn = static_cast<std::uint8_t>(rng.next() % 4);
      burst.push_back(packet(dscp, ecn, static_cast<std::size_t>(length)));
      Packet& p = burst.back();
      const auto arrival = ClassSplit::look_up(p, traffic_class(egress_ip(p)), snapshot.queues[1].by_dscp);
      handed.emplace_back(frames.back(), p.length, arrival.class_index, p.precedence, arrival.ecn_capable);
      const std::size_t cls = split.class_of(dscp);
      auto run = std::find_if(expected.begin(), expected.end(),
                              [&](const Taken& t) { return t.class_index == cls; });
      if (run == expected.end()) run = expected.insert(run, {cls, {}, {}});
      run->lengths.push_back(length);
      run->ecn_capable.push_back(ecn != 0);
    }
    begin(burst);
    EXPECT_EQ(take_all(), expected);
    std::vector<Packet> room(kBurst);
    split.begin(handed, room, 0);
    EXPECT_EQ(take_all(), expected);
    for (rte_mbuf* m : frames) rte_pktmbuf_free(m);
    frames.clear();
  }
}

TEST_F(ClassSplitTest, WhatIsHandedOverKeepsItsClassAndPrecedence) {
  const Packet p = packet(kAf11);
  const std::array handed{HandedPacket(frames[0], p.length, 3, Precedence::out, true)};
  std::array<Packet, 1> room;
  split.begin(handed, room, 0);
  ClassRun run;
  ASSERT_TRUE(split.take(run));
  EXPECT_EQ(run.class_index, 3u);
  EXPECT_EQ(run.packets[0].handle, frames[0]);
  EXPECT_EQ(run.packets[0].flow, kNoFlow);
  EXPECT_EQ(run.packets[0].length, 100);
  EXPECT_EQ(run.packets[0].precedence, Precedence::out);
  EXPECT_EQ(run.packets[0].verdict, DropReason::none);
  EXPECT_TRUE(run.ecn_capable[0]);
}

}  // namespace
}  // namespace surety
