// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/port_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>

#include "router/pipeline/queue_tree.h"
#include "tests/unit/router/pipeline/data_plane.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kPort = R"(version: 1
ports:
  out0: {addresses: [10.2.0.254/16], trust: core, queues: down}
queues:
  down:
    - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s, limit: 32 packets}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop, limit: 40 packets}
  slow:
    - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s, limit: 8 packets}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop, limit: 10 packets}
  more:
    - {name: voice, dscp: [EF, CS6], priority: strict, rate: 1 Mbit/s, limit: 32 packets}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop, limit: 40 packets}
  equal:
    - {name: voice, dscp: [EF]}
    - {name: data, dscp: {in: [AF11], out: [AF12, BE]}}
)";

// An interface `name` with VLAN ID `vlan`.
std::string interface(const char* name, int vlan, const std::string& keys = "") {
  return fmt::format("  {0}: {{port: out0, vlan: {1}, addresses: [10.3.{1}.254/24]{2}}}\n", name, vlan, keys);
}
std::string homes(const std::string& keys = ", weight: 5") {
  return "  homes: {port: out0, vlan: 9, inner_vlan: 1-4, addresses: [10.4.0.254/16]" + keys + "}\n";
}

// The plan of `out0` in a configuration, made from the plan of the one before.
struct Plan {
  explicit Plan(config::Config c, const Plan* before = nullptr)
      : config(std::move(c)),
        interfaces(config, before != nullptr ? &before->interfaces : nullptr),
        own(config::at_rate(config.set_of(config.ports[0].queues), {})),
        tree(PortTree::build(config, interfaces, 0, own, before != nullptr ? before->tree.get() : nullptr)) {}
  explicit Plan(const std::string& rest, const Plan* before = nullptr)
      : Plan(configured(kPort + rest), before) {}

  InterfaceIndex of(const std::string& name) const {
    for (std::size_t i = 0; i < interfaces.size(); ++i)
      if (const auto n = static_cast<InterfaceIndex>(i); interfaces.exists(n) && interfaces.name(n) == name)
        return n;
    ADD_FAILURE() << name;
    return 0;
  }
  const PortTree::Node& node(const std::string& name) const {
    for (const PortTree::Node& n : tree->nodes)
      if (n.first == of(name)) return n;
    ADD_FAILURE() << name;
    return tree->nodes[0];
  }
  std::map<std::string, GroupNumber> groups() const {
    std::map<std::string, GroupNumber> numbers;
    for (const PortTree::Group& g : tree->groups) numbers[g.name] = g.number;
    return numbers;
  }

  config::Config config;
  Interfaces interfaces;
  config::QueueSet own;
  std::shared_ptr<const PortTree> tree;
};

TEST(PortTree, IsNeededForEachKeyThatGivesAnInterfaceQueues) {
  const auto needed = [](const std::string& rest) {
    const Plan plan(rest);
    EXPECT_EQ(PortTree::packets(plan.config, 0) > 0, plan.tree != nullptr);
    return plan.tree != nullptr;
  };
  const std::string groups = "groups:\n  street: {port: out0}\n", interfaces = "interfaces:\n";
  EXPECT_FALSE(needed(""));
  EXPECT_FALSE(needed(groups + interfaces + interface("one", 1)));
  EXPECT_TRUE(needed(groups + interfaces + interface("one", 1, ", group: street")));
  EXPECT_TRUE(needed(interfaces + interface("one", 1, ", queues: down")));
  EXPECT_TRUE(needed(interfaces + interface("one", 1, ", shape: 4 Mbit/s")));
  EXPECT_TRUE(needed(interfaces + interface("one", 1, ", weight: 2")));
  EXPECT_TRUE(needed(interfaces + interface("one", 1) +
                     "aggregates:\n  a: {interface: one, queue: data, rate: 80 kbit/s}\n"));
}

TEST(PortTree, InterfacesWithoutQueuesShareThePorts) {
  const Plan plan("interfaces:\n" + interface("plain", 1) + interface("one", 2, ", queues: slow") + homes());
  const PortTree& tree = *plan.tree;
  const InterfaceIndex plain = plan.of("plain"), one = plan.of("one"), home = plan.of("homes.3");
  EXPECT_EQ(tree.owner(plain), 0);
  EXPECT_EQ(tree.owner(one), one);
  EXPECT_EQ(tree.owner(home), home);
  EXPECT_EQ(tree.set(one).name, "slow");
  EXPECT_EQ(tree.set(home).name, "down") << "its own queues, of the port's set";
  EXPECT_EQ(tree.classes(one)[1].queue.limit, 10u);
  EXPECT_EQ(tree.classes(plain)[1].queue.limit, 40u);
  const Plan next("interfaces:\n" + interface("plain", 1) + homes(), &plan);
  EXPECT_TRUE(tree.exists(one));
  EXPECT_FALSE(next.tree->exists(one));
  EXPECT_TRUE(next.tree->exists(plain));
}

TEST(PortTree, ClassesBeforeWhichAggregatesStandAreNumberedThePortsFirst) {
  const Plan plan("interfaces:\n" + interface("one", 1, ", weight: 2") + interface("two", 2) +
                  interface("three", 3) +
                  "aggregates:\n"
                  "  a: {interface: three, queue: data, rate: 80 kbit/s, match: {source: 10.5.0.0/16}}\n"
                  "  b: {interface: two, queue: data, rate: 80 kbit/s}\n"
                  "  c: {interface: three, queue: data, rate: 80 kbit/s}\n");
  const PortTree& tree = *plan.tree;
  EXPECT_EQ(tree.slot(0, 1), 1u);
  EXPECT_EQ(tree.slot(plan.of("one"), 0), std::nullopt);
  EXPECT_EQ(tree.slot(plan.of("two"), 1), 3u);
  EXPECT_EQ(tree.slot(plan.of("three"), 0), 4u);
  EXPECT_EQ(tree.slots(), 6u);
}

// A group's number is what the Hierarchy has it by, until it has been removed there.
TEST(PortTree, GroupsKeepTheirNumbersAndNewOnesTakeNoneThatIsInUse) {
  const auto with = [](const std::vector<const char*>& groups) {
    std::string text = "groups:\n  idle: {port: out0}\n", interfaces = "interfaces:\n";
    int vlan = 0;
    for (const char* const g : groups) {
      text += fmt::format("  {}: {{port: out0}}\n", g);
      interfaces += interface((std::string("of-") + g).c_str(), ++vlan, std::string(", group: ") + g);
    }
    return text + interfaces;
  };
  const Plan first(with({"a", "b"})), second(with({"b", "c"}), &first), third(with({"b", "c", "d"}), &second);
  EXPECT_THAT(first.groups(), ElementsAre(Pair("a", 0), Pair("b", 1)));
  EXPECT_THAT(second.groups(), ElementsAre(Pair("b", 1), Pair("c", 2)));
  EXPECT_THAT(third.groups(), ElementsAre(Pair("b", 1), Pair("c", 2), Pair("d", 0)));
  EXPECT_EQ(third.node("of-d").parent, 0);
}

TEST(PortTree, WhatIsTheSameIsShared) {
  const std::string same = ", shape: 4 Mbit/s", groups = "groups:\n  g: {port: out0, shape: 8 Mbit/s}\n";
  const auto with = [&](const std::string& third) {
    return groups + "interfaces:\n" + interface("one", 1, same) + interface("two", 2, same) +
           interface("three", 3, ", group: g" + third);
  };
  const Plan first(with(", weight: 2")), second(with(", weight: 3"), &first);
  EXPECT_EQ(first.node("one").params, first.node("two").params);
  EXPECT_NE(first.node("one").params, first.node("three").params);
  EXPECT_EQ(second.node("one").params, first.node("one").params);
  EXPECT_EQ(second.tree->groups[0].params, first.tree->groups[0].params);
  EXPECT_NE(second.node("three").params, first.node("three").params);
}

// --- reloads ---

constexpr const char* kGroups = "groups:\n  g: {port: out0, shape: 8 Mbit/s}\n  h: {port: out0}\n";

std::string tree(const std::string& one, const std::string& two = ", group: g",
                 const std::string& members = ", weight: 5", const std::string& groups = kGroups) {
  return groups + "interfaces:\n" + interface("one", 1, one) + interface("two", 2, two) + homes(members);
}

// The number of changes that a Hierarchy of the one plan needs to become that of the other.
std::uint32_t changes(const std::string& from, const std::string& to) {
  const Plan before(from), after(to, &before);
  Hierarchy hierarchy({}, {}, Time{});
  hierarchy.set_pool(before.tree->pool);
  QueueTree::prepare(before.tree, nullptr, {}, 1).changes.apply(hierarchy, ~0u, Time{});
  hierarchy.set_pool(after.tree->pool);
  HierarchyUpdate update = std::move(QueueTree::prepare(after.tree, before.tree.get(), {}, 1).changes);
  std::uint32_t n = 0;
  for (bool more = update.apply(hierarchy, 0, Time{}); more; ++n) more = update.apply(hierarchy, 1, Time{});
  EXPECT_EQ(update.refused(), 0u);
  for (const PortTree::Node& node : after.tree->nodes)
    for (std::uint32_t i = 0; i < node.count; ++i)
      EXPECT_TRUE(hierarchy.has(static_cast<Hierarchy::Interface>(node.first + i))) << node.first + i;
  return n;
}

TEST(PortTreeReload, OnlyWhatIsAnotherChanges) {
  const std::string old = tree(", weight: 2");
  EXPECT_EQ(changes(old, old), 0u);
  EXPECT_EQ(changes(old, tree(", weight: 3")), 1u);
  EXPECT_EQ(changes(old, tree(", weight: 2", ", group: g", ", weight: 6")), 4u) << "each member";
  EXPECT_EQ(changes(old, tree(", weight: 2", ", group: g", ", weight: 5",
                              "groups:\n  g: {port: out0, shape: 9 Mbit/s}\n")),
            1u);
  EXPECT_EQ(changes(old, tree(", weight: 2", ", group: h")), 3u) << "h comes, `two` moves, g goes";
  EXPECT_EQ(changes(old, tree("")), 1u) << "`one` has no queues any more";
  EXPECT_EQ(changes(old, old + interface("new", 3, ", weight: 4")), 1u);
}

TEST(PortTreeReload, AnInterfaceOfOtherClassesIsRemovedFirst) {
  const std::string old = tree(", queues: down");
  EXPECT_EQ(changes(old, tree(", queues: slow")), 1u);
  EXPECT_EQ(changes(old, tree(", queues: equal")), 2u) << "`voice` is not strict";
}

TEST(PortTreeReload, ATagOfATemplateChangesAlone) {
  const std::string before =
      tree(", weight: 2") + "services: {s: {conditioner: none}}\nplans: {p: {service: s, shape: 1 Mbit/s}}\n";
  const std::string with = before + "subscribers: {acme: {plan: p, interface: homes, inner_vlan: 2}}\n";
  EXPECT_EQ(changes(before, with), 1u);
  EXPECT_EQ(changes(with, with), 0u);
  EXPECT_EQ(changes(with, before), 1u);
}

// Class numbers that another worker has looked up are good for a plan of the same layout.
TEST(PortTreeReload, TheLayoutIsWhatGivesPacketsTheirClass) {
  const Plan plan(tree(", queues: down"));
  const auto same = [&](const std::string& text) { return Plan(text, &plan).tree->same_layout(*plan.tree); };
  EXPECT_TRUE(same(tree(", queues: down, weight: 7", ", group: h")));
  EXPECT_FALSE(same(tree(", queues: more"))) << "CS6 has another class";
  EXPECT_FALSE(same(tree(", queues: equal"))) << "`voice` is not strict";
  EXPECT_FALSE(same(tree(""))) << "its packets wait in the port's queues";
}

// --- room ---

// `n` homes, each with a voice queue of 32 packets and a data queue of 40.
config::Config many_homes(std::size_t n) {
  config::Config c = configured(std::string(kPort) + "interfaces:\n" + homes());
  c.interfaces[0].last_inner = static_cast<std::uint16_t>(n);
  return c;
}

TEST(PortTreeRoom, ThePoolHasWhatTheLimitsAllowOrAPartForEachQueue) {
  const config::Config few = many_homes(2), many = many_homes(4'000);
  EXPECT_EQ(PortTree::packets(few, 0), 3u * 72 + kMostBeyond);
  EXPECT_EQ(Plan(few).tree->nodes[1].part, 48u) << "the most";
  EXPECT_EQ(PortTree::packets(many, 0), 4'001u * 2 * 2 * Chunk::kPackets) << "half of it are the parts";
  EXPECT_EQ(Plan(many).tree->nodes[1].part, Chunk::kPackets);
}

TEST(PortTreeRoom, MbufsOfTheConfigurationMakeThePoolLarger) {
  config::Config c = many_homes(4'000);
  c.dpdk.mbufs = 100'000;
  EXPECT_EQ(PortTree::packets(c, 0), 100'000u);
  EXPECT_EQ(Plan(c).tree->nodes[1].part, 2u * Chunk::kPackets);
}

template <class F>
std::string thrown(F&& f) {
  try {
    f();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(PortTreeRoom, MoreQueuesThanThereIsRoomForAreRefused) {
  config::Config c = many_homes(4'095);
  std::vector<config::QueueClass>& classes = c.queues[0].classes;
  classes.resize(64, classes[1]);
  EXPECT_EQ(thrown([&] { Plan plan(c); }), "") << "64 of the port, and 64 * 4095";
  c.interfaces.push_back({.name = "one", .port = 0, .vlan = 10, .weight = 2});
  EXPECT_EQ(thrown([&] { Plan plan(c); }),
            "port out0 has 262208 queues with those of its interfaces; at most 262144 are possible");
}

TEST(PortTreeRoom, MoreQueueSetsThanThereIsRoomForAreRefused) {
  config::Config c = configured(kPort);
  const auto add = [&](std::size_t n) {
    c.queues.push_back(c.queues[0]);
    c.queues.back().name = fmt::format("set{}", n);
    c.interfaces.push_back({.name = fmt::format("i{}", n),
                            .port = 0,
                            .vlan = static_cast<std::uint16_t>(n),
                            .queues = c.queues.size() - 1});
  };
  for (std::size_t n = 1; n <= 253; ++n) add(n);
  c.interfaces.push_back(c.interfaces.back());
  c.interfaces.back().name = "same";
  c.interfaces.back().vlan = 300;
  EXPECT_EQ(thrown([&] { Plan plan(c); }), "") << "two interfaces have the same set";
  add(254);
  EXPECT_EQ(thrown([&] { Plan plan(c); }), "interfaces of a port have more than 253 different queue sets");
}

}  // namespace
}  // namespace surety
