// SPDX-License-Identifier: BSD-3-Clause
// Queues below a port: which interface's queues a packet waits in, what a reload does to them, and that
// nothing is lost.
#include <fmt/format.h>

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

// Port 1 with groups, interfaces with queues of their own, and one that has none.
constexpr const char* kTree = R"(
groups:
  street: {port: out0, shape: 8 Mbit/s}
interfaces:
  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24], shape: 4 Mbit/s, queues: down}
  two: {port: out0, vlan: 2, addresses: [10.3.2.254/24], group: street, queues: down}
  homes: {port: out0, vlan: 3, inner_vlan: 1-4, addresses: [10.4.0.254/16], group: street, shape: 2 Mbit/s, queues: down}
  plain: {port: out0, vlan: 4, addresses: [10.3.4.254/24]}
)";
constexpr const char* kDown = R"(
queues:
  uplink:
    - {name: all, dscp: [BE]}
  down:
    - {name: voice, dscp: [EF, CS6], priority: strict, rate: 1 Mbit/s, limit: 32 packets}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop, limit: 40 packets}
)";

struct Tree : Port {
  explicit Tree(const std::string& settings = "", const std::string& rest = std::string(kTree) + kDown)
      : Port(settings, rest) {}
  static constexpr InterfaceIndex kNoTags = 1;  // the port itself

  InterfaceIndex interface(const std::string& name) const {
    const Interfaces& all = *now().interfaces;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all.exists(static_cast<InterfaceIndex>(i)) && all.name(static_cast<InterfaceIndex>(i)) == name)
        return static_cast<InterfaceIndex>(i);
    ADD_FAILURE() << name;
    return 0;
  }
  const Snapshot& now() const { return snapshot ? *snapshot : d.snapshot; }
  Egress& egress() { return *d.egresses[1]; }
  // Straight to the egress, behind the tags of an interface.
  void offer(InterfaceIndex i, std::uint8_t dscp, std::size_t n = 1, std::size_t length = 1000) {
    for (; n > 0; --n) {
      rte_mbuf* m = to_mbuf(udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2)}, length));
      const InterfaceRecord& r = (*now().interfaces)[i];
      if (r.tags.any()) set_interface(m, i, r.tags);
      ++d.ports[1].taken_over;
      egress().enqueue_frames({&m, 1}, d.now);
    }
  }
  void offer(const std::string& name, std::uint8_t dscp, std::size_t n = 1) {
    offer(interface(name), dscp, n);
  }
  // How many of each interface leave in so long, by name.
  std::map<std::string, int> leave(Duration time) {
    std::map<std::string, int> count;
    const Time end = d.now + time;
    for (; d.now < end; d.turn(d.now + 100us)) {
      egress().advance(d.now);
      std::array<rte_mbuf*, kBurst> room;
      for (std::size_t n = room.size(); n == room.size();) {
        n = egress().transmit(room, d.now);
        for (rte_mbuf* m : std::span(room).first(n)) {
          ++count[now().interfaces->name(interface_of(m, 1))];
          ++d.ports[1].tx_packets;
          rte_pktmbuf_free(m);
        }
      }
    }
    return count;
  }
  std::uint64_t arrivals(const std::string& name, std::size_t c, Precedence p = Precedence::out) {
    return egress().tree()->hierarchy().queue(interface(name), c).counters(p).arrivals;
  }
  void turn_until_changed() {
    while (egress().tree() != nullptr && egress().tree()->changing()) egress().advance(d.now);
  }
};

// All classes of the interfaces have another number then.
std::string with_a_class_more() {
  std::string text = std::string(kTree) + kDown;
  return text.insert(text.find("    - {name: voice"), "    - {name: more, dscp: [AF21]}\n");
}

TEST(EgressTree, APortHasOneOnlyWhereItsInterfacesAskForIt) {
  EXPECT_NE(Tree().egress().tree(), nullptr);
  Tree flat("", "interfaces:\n  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24]}\n");
  EXPECT_EQ(flat.egress().tree(), nullptr);
  EXPECT_NE(flat.egress().plain(), nullptr);
}

TEST(EgressTree, EachInterfacesPacketsWaitInItsOwnQueues) {
  Tree t;
  t.offer("one", kAf11, 2);
  t.offer("two", kEf, 3);
  t.offer("homes.2", kBe, 4);
  t.offer("plain", kBe, 5);
  t.offer(Tree::kNoTags, kBe, 6);
  EXPECT_EQ(t.arrivals("one", 1, Precedence::in), 2u);
  EXPECT_EQ(t.arrivals("two", 0, Precedence::in), 3u);
  EXPECT_EQ(t.arrivals("homes.2", 1), 4u);
  EXPECT_EQ(t.arrivals("homes.1", 1), 0u);
  EXPECT_EQ(t.egress().tree()->hierarchy().queue(1, 0).counters(Precedence::out).arrivals, 11u);
  EXPECT_EQ(t.egress().depth(), 20u);
  EXPECT_THAT(t.leave(100ms),
              testing::UnorderedElementsAre(testing::Pair("one", 2), testing::Pair("two", 3),
                                            testing::Pair("homes.2", 4), testing::Pair("plain", 5),
                                            testing::Pair("out0", 6)));
  EXPECT_EQ(t.egress().next_departure(t.d.now), kNever);
}

// 1000-byte packets: 4 Mbit/s are 500 a second, 2 Mbit/s 250; a burst of 3 kB.
TEST(EgressTree, ShapersHold) {
  Tree t;
  std::map<std::string, int> sum;
  for (int round = 0; round < 50; ++round) {
    t.offer("one", kBe, 20);
    t.offer("homes.1", kBe, 20);
    for (const auto& [name, n] : t.leave(20ms)) sum[name] += n;
  }
  EXPECT_NEAR(sum["one"], 503, 2);
  EXPECT_NEAR(sum["homes.1"], 253, 2);
}

TEST(EgressTree, StrictPacketsOfAnybodyLeaveBeforeData) {
  Tree t(", shape: 8 Mbit/s");
  t.offer("one", kBe, 10);
  t.leave(10ms);
  t.offer("two", kBe, 30);
  t.offer("homes.3", kEf, 1);
  const auto first = t.leave(2ms);
  EXPECT_EQ(first.count("homes.3"), 1u);
}

TEST(EgressTree, ParametersChangeAndNothingIsLost) {
  Tree t;
  t.offer("one", kBe, 30);
  t.offer("homes.1", kBe, 30);
  std::string faster = std::string(kTree) + kDown;
  faster.replace(faster.find("shape: 4 Mbit/s"), 15, "shape: 80 Mbit/s");
  t.reload("", faster);
  t.turn_until_changed();
  EXPECT_EQ(t.egress().depth(), 60u);
  EXPECT_EQ(t.leave(5ms)["one"], 30);
  EXPECT_EQ(t.arrivals("one", 1), 30u) << "counters go on";
}

TEST(EgressTree, WhatWaitedForAnInterfaceThatGoesIsDroppedByName) {
  Tree t;
  t.offer("one", kBe, 30);
  t.offer("two", kBe, 7);
  const InterfaceIndex one = t.interface("one");
  std::string without = std::string(kTree) + kDown;
  without.erase(without.find("  one:"), without.find("  two:") - without.find("  one:"));
  t.reload("", without);
  t.turn_until_changed();
  EXPECT_EQ(t.d.drops(1, DropReason::interface_gone), 30u);
  EXPECT_EQ(t.egress().depth(), 7u);
  rte_mbuf* m = to_mbuf(udp_frame({}));
  set_interface(m, one, VlanTags(kCustomerTag, 1, 0));
  ++t.d.ports[1].taken_over;
  t.egress().enqueue_frames({&m, 1}, t.d.now);
  t.d.disposal.flush();
  EXPECT_EQ(t.d.drops(1, DropReason::interface_gone), 31u);
}

TEST(EgressTree, OtherClassesGetWhatWaited) {
  Tree t;
  t.offer("one", kBe, 30);
  t.offer("homes.4", kEf, 3);
  t.reload("", with_a_class_more());
  t.turn_until_changed();
  EXPECT_EQ(t.egress().depth(), 33u);
  EXPECT_EQ(t.arrivals("one", 2), 30u);
  EXPECT_EQ(t.arrivals("homes.4", 1, Precedence::in), 3u);
}

TEST(EgressTree, ComesAndGoesWithPacketsWaiting) {
  Tree t("", "interfaces:\n  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24]}\n");
  t.offer("one", kBe, 30);
  ASSERT_NE(t.egress().plain(), nullptr);
  t.reload("", std::string(kTree) + kDown);
  ASSERT_NE(t.egress().tree(), nullptr);
  EXPECT_EQ(t.egress().depth(), 30u);
  EXPECT_EQ(t.arrivals("one", 1), 30u);
  t.reload("", "interfaces:\n  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24]}\n");
  EXPECT_EQ(t.egress().tree(), nullptr);
  EXPECT_EQ(t.egress().depth(), 30u);
  EXPECT_EQ(t.leave(1ms)["one"], 30);
}

TEST(EgressTree, WhatAnotherWorkerFoundIsTakenOver) {
  Tree t;
  const auto hand = [&](const PortQueues& classes) {
    rte_mbuf* m = to_mbuf(udp_frame({.tos = kEf << 2}));
    const InterfaceIndex one = t.interface("one");
    set_interface(m, one, (*t.now().interfaces)[one].tags);
    const HandedPacket packet = Egress::describe(m, 100, classes);
    t.egress().enqueue_handed({&packet, 1}, t.d.now);
    ++t.d.ports[1].taken_over;
  };
  hand(t.d.snapshot.queues[1]);
  EXPECT_EQ(t.arrivals("one", 0, Precedence::in), 1u);
  t.reload("", with_a_class_more());
  hand(t.d.snapshot.queues[1]);  // by the classes before
  t.turn_until_changed();
  hand(t.snapshot->queues[1]);
  EXPECT_EQ(t.arrivals("one", 1, Precedence::in), 3u);
}

// --- many interfaces, whom a reload reaches in slices ---

constexpr const char* kTwoClasses =
    "    - {name: voice, dscp: [EF], priority: strict}\n    - {name: data, dscp: [BE], limit: 40 packets}\n";
constexpr const char* kOneClass = "    - {name: data, dscp: [BE], limit: 40 packets}\n";

std::string many(int n, const std::string& classes) {
  std::string s = "interfaces:\n";
  for (int i = 0; i < n; ++i)
    s += fmt::format(
        "  i{}: {{port: out0, vlan: {}, addresses: [10.3.{}.254/24], shape: 4 Mbit/s, queues: down}}\n", i,
        i + 1, i);
  return s + "queues:\n  down:\n" + classes;
}

TEST(EgressTree, PacketsStayBehindThoseBeforeThemUntilTheirSlice) {
  Tree t("", many(100, kTwoClasses));
  for (std::size_t i = 0; i < 30; ++i) t.offer(t.interface("i99"), kBe, 1, 1000 + i);
  t.reload("", many(100, kOneClass));
  ASSERT_TRUE(t.egress().tree()->changing());
  for (std::size_t i = 30; i < 40; ++i) t.offer(t.interface("i99"), kBe, 1, 1000 + i);
  t.turn_until_changed();
  std::vector<std::size_t> all;
  for (int turn = 0; turn < 200; ++turn, t.d.turn(t.d.now + 1ms))
    for (const auto& f : t.d.transmit(1, 64)) all.push_back(f.size());
  EXPECT_EQ(all.size(), 40u);
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

TEST(EgressTree, AsksForATurnAtOnceUntilAllIsChanged) {
  Tree t("", many(100, kTwoClasses));
  t.reload("", many(100, kOneClass));
  EXPECT_LE(t.egress().next_event(t.d.now), t.d.now);
  t.turn_until_changed();
  EXPECT_EQ(t.egress().next_event(t.d.now), kNever);
}

TEST(EgressTree, ThePoolGrowsWithWhatIsThere) {
  Tree t("", many(1, kOneClass));
  t.reload("", many(150, kOneClass));
  t.turn_until_changed();
  for (int i = 0; i < 150; ++i) t.offer(t.interface("i" + std::to_string(i)), kBe, 30, 100);
  t.d.disposal.flush();
  EXPECT_EQ(t.d.drops(1, DropReason::overflow), 0u);
}

std::string templated(int classes) {
  std::string s =
      "interfaces:\n  t: {port: out0, vlan: 1, inner_vlan: 1-4000, addresses: [10.4.0.254/16], queues: "
      "down}\n"
      "queues:\n  down:\n";
  for (int c = 1; c < classes; ++c) s += fmt::format("    - {{name: c{0}, dscp: [{0}]}}\n", c);
  return s + "    - {name: rest, dscp: [BE]}\n";
}

// The memory of blocks that grew is not joined again: some day it is made anew.
TEST(EgressTree, NobodyIsLeftOutHoweverOftenClassesGrow) {
  Tree t("", templated(1));
  const InterfaceIndex first = t.interface("t.1");
  t.offer(first, kBe, 5, 100);
  bool anew = false;
  for (int classes = 2; classes <= 19; ++classes) {
    t.reload("", templated(classes));
    anew |= t.now().queues[1].tree->anew;
    t.turn_until_changed();
    for (int i = 0; i < 4000; ++i)
      ASSERT_TRUE(t.egress().tree()->hierarchy().has(static_cast<InterfaceIndex>(first + i))) << classes;
    EXPECT_EQ(t.egress().depth(), 5u);
  }
  EXPECT_TRUE(anew) << "or this test finds nothing";
}

// --- aggregates before an interface's queues ---

TEST(EgressTree, WhatIsNotIpIsMarkedByNobody) {
  Tree t("", R"(
interfaces:
  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24], queues: down}
queues:
  down: [{name: data, dscp: {in: [AF11, CS6], out: [AF12, BE]}, aqm: tail-drop}]
aggregates:
  of-one: {interface: one, queue: data, rate: 80 kbit/s}
)");
  Octets arp(60, 0);
  arp[12] = 8;
  arp[13] = 6;
  for (int i = 0; i < 2000; ++i, t.d.turn(t.d.now + 1ms)) {
    rte_mbuf* m = to_mbuf(arp);
    ++t.d.ports[1].taken_over;
    set_interface(m, t.interface("one"), VlanTags(kCustomerTag, 1, 0));
    t.egress().enqueue_own({&m, 1}, t.d.now);
    for (const Octets& f : t.d.transmit(1))
      ASSERT_TRUE(std::equal(arp.begin() + 14, arp.end(), f.begin() + 18));
  }
  EXPECT_EQ(t.d.ports[1].tx_packets, 2000u);
}

TEST(EgressTree, AnAggregateStandsBeforeTheQueuesOfAnInterface) {
  Tree t(", queues: uplink", R"(
interfaces:
  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24], shape: 80 Mbit/s, queues: down}
  two: {port: out0, vlan: 2, addresses: [10.3.2.254/24]}
  three: {port: out0, vlan: 3, addresses: [10.3.3.254/24]}
queues:
  uplink: [{name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop}]
  down:
    - {name: voice, dscp: [EF], priority: strict}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop}
aggregates:
  of-one: {interface: one, queue: data, rate: 80 kbit/s}
  of-two: {interface: two, queue: data, rate: 80 kbit/s}
)");
  for (int second = 0; second < 4; ++second, t.d.turn(t.d.now + 1s)) {
    t.offer("one", kAf11, 50);
    t.offer("two", kAf11, 50);
    t.offer("three", kAf11, 50);
    t.egress().advance(t.d.now);
    while (!t.d.transmit(1).empty()) {
    }
  }
  const auto all = t.egress().aggregates();
  ASSERT_EQ(all.size(), 2u);
  for (const auto& a : all) {
    EXPECT_EQ(a.counters.passed_in + a.counters.remarked + a.counters.dropped, 200u) << a.name;
    EXPECT_GT(a.counters.remarked + a.counters.dropped, 50u) << a.name;
  }
  const Hierarchy& h = t.egress().tree()->hierarchy();
  EXPECT_EQ(h.queue(1, 0).counters(Precedence::in).arrivals, 50u * 4) << "of three, by the port's own queues";
  EXPECT_TRUE(h.has(t.interface("two"))) << "its packets are told apart";
}

// --- congestion of an interface's queue ---

constexpr const char* kCongested = R"(
interfaces:
  one: {port: out0, vlan: 1, addresses: [10.3.1.254/24], shape: 8 Mbit/s, queues: down}
  two: {port: out0, vlan: 2, addresses: [10.3.2.254/24], shape: 8 Mbit/s, queues: down}
queues:
  down:
    - name: data
      dscp: {in: [AF11], out: [AF12, BE]}
      count: packets
      rio: {average: 1, ecn: on, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 1}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, mark: {in: AF11, out: AF12}}
classify: [{match: {source: 10.1.0.0/16}, service: silver}]
)";

std::vector<CongestionSignal> notes(Tree& t) {
  std::vector<CongestionSignal> all(100);
  all.resize(t.egress().take_notes(all));
  return all;
}

TEST(EgressTree, ACongestedQueueOfAnInterfaceTellsTheConditionersHere) {
  Tree t("", kCongested);
  t.offer("one", kAf12, 4);
  t.offer("two", kAf12, 2);
  EXPECT_TRUE(notes(t).empty());
  t.offer("one", kAf12, 8);
  const auto all = notes(t);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(to_string(all[0].source), "10.1.0.1");
  EXPECT_EQ(all[0].dscp, kAf12);
  EXPECT_EQ(t.egress().signals().noted(), 0u);
}

TEST(EgressTree, OfAnInternalRouterItSignalsToTheBorder) {
  Tree t("", kCongested);
  t.egress().enable_signals(true);
  t.offer("one", kAf12, 12);
  EXPECT_TRUE(notes(t).empty());
  EXPECT_EQ(t.egress().signals().noted(), 1u);
}

// All interfaces have half of what the port may tell together, and one of them what is left over.
TEST(EgressTree, OneCongestedInterfaceDoesNotTellForAll) {
  Tree t("", kCongested);
  std::size_t told = 0, others = 0;
  for (int turn = 0; turn < 1000; ++turn, t.d.turn(t.d.now + 1ms)) {
    t.offer("one", kAf12, 30);
    told += notes(t).size();
    if (turn % 100 == 0) t.offer("two", kAf12, 16);
    others += notes(t).size();
  }
  EXPECT_LE(told, 600u);
  EXPECT_GE(others, 10u);
}

TEST(EgressTree, MarksCongestionInPlaceOfDrops) {
  Tree t("", kCongested);
  for (int i = 0; i < 80; ++i) {
    rte_mbuf* m = to_mbuf(udp_frame({.tos = kAf12 << 2 | 2}));
    const InterfaceIndex one = t.interface("one");
    set_interface(m, one, (*t.now().interfaces)[one].tags);
    ++t.d.ports[1].taken_over;
    t.egress().enqueue_frames({&m, 1}, t.d.now);
  }
  const auto& counters =
      t.egress().tree()->hierarchy().queue(t.interface("one"), 0).counters(Precedence::out);
  EXPECT_GT(counters.ecn_marks, 10u);
  EXPECT_EQ(counters.early_drops, 0u);
  std::size_t marked = 0;
  for (int turn = 0; turn < 80; ++turn, t.d.turn(t.d.now + 1ms))
    for (const auto& f : t.d.transmit(1, 64))  // behind a tag
      marked += (traffic_class_of(Octets(f.begin() + 4, f.end())) & 3) == 3;
  EXPECT_GT(marked, 0u);
}

}  // namespace
}  // namespace surety
