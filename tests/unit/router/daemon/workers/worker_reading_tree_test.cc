// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker_reading.h"

#include <gmock/gmock.h>

#include "router/operate/observe/reading_merge.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;

constexpr const char* kRouter = R"(version: 1
ports:
  lan0: {}
  wan0: {trust: core, shape: 8 Mbit/s}
interfaces:
  one: {port: wan0, vlan: 1, addresses: [10.3.1.254/24], shape: 4 Mbit/s, queues: down}
  homes: {port: wan0, vlan: 3, inner_vlan: 1-4000, addresses: [10.4.0.254/16], weight: 2, queues: down}
  plain: {port: wan0, vlan: 4, addresses: [10.3.4.254/24]}
queues:
  down:
    - {name: voice, dscp: [EF], priority: strict}
    - {name: data, dscp: [BE], limit: 2 packets, count: packets}
)";

struct TreeCopyTest : testing::Test {
  explicit TreeCopyTest(const std::string& more = "") : d(kRouter + more) {}
  DataPlane d;

  void offer(InterfaceIndex i, std::uint8_t dscp, std::size_t n) {
    for (; n > 0; --n) {
      rte_mbuf* m = test::to_mbuf(test::udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2)}));
      set_interface(m, i, (*d.snapshot.interfaces)[i].tags);
      ++d.ports[1].taken_over;
      d.egresses[1]->enqueue_frames({&m, 1}, d.now);
    }
    d.disposal.flush();
  }
  InterfaceIndex definition(std::size_t n) { return d.snapshot.interfaces->of_definition(n); }
  static std::string to_string(const QueueReading& q) {
    std::string s = q.port + "/" + (q.interface.empty() ? "" : q.interface + "/") + q.name;
    if (!q.of.empty()) s += " of " + q.of;
    if (q.members > 0) s += " x " + std::to_string(q.members);
    return s + ": " + std::to_string(q.counters[0].arrivals + q.counters[1].arrivals) + " " +
           std::to_string(q.depth[0] + q.depth[1]);
  }
  // Also the steps it took.
  std::pair<std::vector<std::string>, int> read(bool owner = true) {
    std::vector<std::unique_ptr<Egress>> egresses(d.egresses.size());
    if (owner) egresses[1] = std::move(d.egresses[1]);
    Reading r = blank_reading(d.snapshot, 0);
    TreeCopy copy(egresses);
    copy.start(r);
    int steps = 1;
    while (!copy.step(r, d.snapshot)) ++steps;
    fill_egresses(r, egresses, d.snapshot);
    name_members(r, d.snapshot);
    if (owner) d.egresses[1] = std::move(egresses[1]);
    Reading all;
    merge(all, r);
    settle_below(all);
    std::vector<std::string> rows;
    for (const QueueReading& q : all.queues)
      if (q.port == "wan0") rows.push_back(to_string(q));
    return {rows, steps};
  }
};

TEST_F(TreeCopyTest, DefinitionsThenMembersThatHadSomething) {
  offer(definition(0), test::kEf, 1);
  offer(static_cast<InterfaceIndex>(definition(1) + 7), test::kBe, 3);
  offer(static_cast<InterfaceIndex>(definition(1) + 4000), test::kEf, 1);
  offer(definition(2), test::kBe, 5);
  const auto [rows, steps] = read();
  EXPECT_THAT(rows,
              testing::ElementsAre("wan0/default: 5 5", "wan0/one/voice: 1 1", "wan0/one/data: 0 0",
                                   "wan0/homes/voice x 4000: 1 1", "wan0/homes/data x 4000: 3 2",
                                   "wan0/homes.7/data of homes: 3 2", "wan0/homes.4000/voice of homes: 1 1"));
  EXPECT_EQ(steps, 4001 / 32 + 1);
}

struct TagOfATemplate : TreeCopyTest {
  TagOfATemplate()
      : TreeCopyTest(
            "services: {s: {conditioner: none}}\nplans: {p: {service: s, queues: down}}\n"
            "subscribers: {acme: {plan: p, interface: homes, inner_vlan: 2}}\n") {}
};

TEST_F(TagOfATemplate, HasRowsOfItsOwn) {
  offer(static_cast<InterfaceIndex>(definition(1) + 1), test::kBe, 1);
  offer(definition(3), test::kBe, 2);
  const auto rows = read().first;
  EXPECT_THAT(rows, testing::IsSupersetOf({"wan0/homes/data x 4000: 1 1", "wan0/homes.1/data of homes: 1 1",
                                           "wan0/acme/data: 2 2"}));
  EXPECT_THAT(rows, testing::Each(testing::Not(testing::HasSubstr("of acme")))) << rows.size();
}

TEST_F(TreeCopyTest, OfAllWorkersOneKnowsHowLongPacketsWaited) {
  offer(definition(0), test::kEf, 2);
  while (!d.transmit(1).empty()) {
  }
  Reading others = blank_reading(d.snapshot, 0), owners = blank_reading(d.snapshot, 1), all;
  fill_egresses(owners, d.egresses, d.snapshot);
  merge(all, others);
  merge(all, owners);
  std::uint64_t packets = 0;
  for (const auto n : (*all.ports[1].sojourns)[0].counts) packets += n;
  EXPECT_EQ(packets, 2u);
}

TEST_F(TreeCopyTest, AnothersRowsStayEmpty) {
  offer(definition(0), test::kEf, 1);
  const auto [rows, steps] = read(false);
  EXPECT_EQ(rows[1], "wan0/one/voice: 0 0");
  EXPECT_EQ(steps, 1);
}

TEST_F(TreeCopyTest, MembersWithRowsHaveACeiling) {
  for (int i = 1; i <= 1100; ++i) offer(static_cast<InterfaceIndex>(definition(1) + i), test::kBe, 1);
  const auto [rows, steps] = read();
  EXPECT_EQ(rows.size(), 5u + 1000);
  EXPECT_EQ(rows[4], "wan0/homes/data x 4000: 1100 1100");
}

}  // namespace
}  // namespace surety
