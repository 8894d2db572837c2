// SPDX-License-Identifier: BSD-3-Clause
// Any histories of reloads and traffic over ports with queues below them: nothing is lost, each flow keeps
// its order but where its queue changes, and all that may leave does.
#include <random>

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

// A port's configuration at random: mostly with interfaces that have queues.
struct Dice {
  std::mt19937 random;
  bool yes(unsigned of = 2) { return random() % of == 0; }
  unsigned up_to(unsigned n) { return static_cast<unsigned>(1 + random() % n); }
  std::string shape() { return ", shape: " + std::to_string(up_to(50)) + " Mbit/s"; }

  std::string interface(const std::string& name, unsigned vlan) {
    std::string s = "  " + name + ": {port: out0, vlan: " + std::to_string(vlan) + ", addresses: [10.3." +
                    std::to_string(vlan) + ".254/24]";
    if (name == "homes") s += ", inner_vlan: 1-5";
    if (yes()) s += shape();
    if (yes()) s += ", weight: " + std::to_string(up_to(9));
    if (yes()) s += std::string(", queues: ") + (yes() ? "down" : "other");
    if (yes(3)) s += std::string(", group: ") + (yes() ? "east" : "west");
    return s + "}\n";
  }
  std::string rest() {
    std::string s = "interfaces:\n  always: {port: out0, vlan: 9, addresses: [10.3.9.254/24]}\n";
    unsigned vlan = 0;
    for (const char* name : {"one", "two", "three", "homes"}) {
      ++vlan;
      if (!yes(4)) s += interface(name, vlan);
    }
    s += "groups:\n  east: {port: out0" + shape() + ", weight: 3}\n  west: {port: out0" +
         (yes() ? shape() : "") + "}\n";
    const std::string limit = std::to_string(up_to(30));
    return s + "queues:\n  down:\n    - {name: voice, dscp: [EF], priority: strict, rate: 4 Mbit/s, limit: " +
           limit + " packets}\n    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}" +
           (yes() ? ", rio: {in: {min: 5, max: 9, pmax: 0.1}, out: {min: 2, max: 7, pmax: 0.5}}" : "") +
           "}\n  other:\n    - {name: all, dscp: [BE], limit: 20 packets}\n" +
           (yes() ? "    - {name: more, dscp: [AF11]}\n" : "");
  }
};

class EgressTreeProperty : public testing::TestWithParam<unsigned> {};

TEST_P(EgressTreeProperty, NothingIsLostWhateverComesAndGoes) {
  Dice dice{std::mt19937(GetParam())};
  Port p("", dice.rest());
  const auto snapshot = [&]() -> const Snapshot& { return p.snapshot ? *p.snapshot : p.d.snapshot; };
  std::vector<std::unique_ptr<Snapshot>> before;  // who hands over may know an old one
  Egress& egress = *p.d.egresses[1];
  std::uint64_t offered = 0;
  for (int step = 0; step < 400; ++step) {
    const Interfaces& all = *snapshot().interfaces;
    for (unsigned n = dice.up_to(40); n > 0; --n) {
      const auto i = static_cast<InterfaceIndex>(1 + dice.random() % (all.size() - 1));
      if (all[i].port != 1 || all[i].is_template) continue;
      constexpr std::array<std::uint8_t, 4> kMarks{kBe, kAf11, kAf12, kEf};
      rte_mbuf* m = to_mbuf(udp_frame({.tos = static_cast<std::uint8_t>(kMarks[dice.random() % 4] << 2)},
                                      100 + dice.random() % 1300));
      if (all[i].tags.any()) set_interface(m, i, all[i].tags);
      ++p.d.ports[1].taken_over;
      ++offered;
      if (dice.yes()) {
        egress.enqueue_frames({&m, 1}, p.d.now);
      } else {
        const Snapshot& known = before.empty() || dice.yes() ? snapshot() : *before.back();
        const auto length = static_cast<std::uint16_t>(m->pkt_len - RTE_ETHER_HDR_LEN);
        const HandedPacket packet = Egress::describe(m, length, known.queues[1]);
        egress.enqueue_handed({&packet, 1}, p.d.now);
      }
      p.d.disposal.flush();
    }
    p.d.transmit(1, dice.up_to(40));
    if (dice.yes(3)) p.d.turn(p.d.now + Duration(dice.up_to(3'000'000)));
    if (dice.yes(5)) {
      if (p.snapshot) before.push_back(std::move(p.snapshot));
      const Snapshot& last = before.empty() ? p.d.snapshot : *before.back();
      p.snapshot = std::make_unique<Snapshot>(
          configured(Port::yaml(dice.yes() ? dice.shape() : "", dice.rest())), last);
      p.update = Egress::prepare(*p.snapshot, 1, p.d.now, 7);
      p.adopt();
      if (before.size() > 1) before.erase(before.begin());
    }
    p.d.expect_law();
  }
  // Whatever waits leaves as its shapers let it, and the port knows when.
  for (int turns = 0; egress.depth() > 0; ++turns) {
    ASSERT_LT(turns, 100'000);
    const Time next = egress.next_event(p.d.now);
    ASSERT_NE(next, kNever) << egress.depth() << " wait for nothing";
    p.d.turn(std::max(next, p.d.now + 1ns));
    p.d.transmit(1);
  }
  const auto& c = p.d.ports[1];
  std::uint64_t dropped = 0;
  for (const auto n : c.drops) dropped += n;
  EXPECT_EQ(offered, c.tx_packets + dropped);
}

INSTANTIATE_TEST_SUITE_P(Histories, EgressTreeProperty, testing::Range(1u, 13u));

}  // namespace
}  // namespace surety
