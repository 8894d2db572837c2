// SPDX-License-Identifier: BSD-3-Clause
// Sections `groups`, `interfaces` and `pcp`, and what refers to interfaces. What is
// wrong with them stands in tests/unit/broken/interface*.yaml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "config/address.h"
#include "config/parse.h"
#include "tests/unit/config/parsed.h"

namespace surety::config {
namespace {

using namespace surety::literals;
using testing::ElementsAre;
using testing::IsEmpty;

Interface interface(const std::string& options) {
  const auto c = on_two_ports("interfaces: {i: {" + options + "}}\n");
  return c.interfaces.empty() ? Interface{} : c.interfaces[0];
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

TEST(ParseInterface, WhatItDoesNotSayIsOfItsPort) {
  const auto i = interface("port: a, vlan: 107");
  EXPECT_EQ(i.name, "i");
  EXPECT_EQ(i.port, 0u);
  EXPECT_EQ(i.vlan, 107);
  EXPECT_EQ(i.first_inner, 0);
  EXPECT_FALSE(i.is_template());
  EXPECT_EQ(i.count(), 1u);
  EXPECT_EQ(i.members(), 0u);
  EXPECT_EQ(i.vlan_protocol, 0x8100);
  EXPECT_THAT(i.addresses, IsEmpty());
  EXPECT_EQ(i.customer, "i");
  EXPECT_EQ(i.mtu, 2000);
  EXPECT_EQ(i.trust, Port::Trust::customer);
  EXPECT_EQ(i.source_check, Port::SourceCheck::strict);
  EXPECT_FALSE(i.filter_in || i.filter_out || i.group || i.queues || i.shaper.rate || i.twin);
  EXPECT_EQ(i.hosts, 4u);
  EXPECT_EQ(i.weight, 1u);
  const auto core = interface("port: b, vlan: 1");
  EXPECT_EQ(core.mtu, 1500);
  EXPECT_EQ(core.trust, Port::Trust::core);
  EXPECT_EQ(core.source_check, Port::SourceCheck::off);
}

TEST(ParseInterface, EveryOption) {
  const auto c = on_two_ports(
      "groups: {g0: {port: b}, g: {port: a}}\n"
      "filters: {f0: [{deny: {}}], f1: [{deny: {}}]}\n"
      "queues: {q0: [{name: all}], q: [{name: all}]}\n"
      "interfaces:\n"
      "  i: {port: a, vlan: 4094, inner_vlan: 4094, vlan_protocol: 802.1ad, addresses: [10.1.0.1/30, "
      "'2001:db8::1/64'], customer: acme, mtu: 1280, trust: core, source_check: loose, twin: acme0, group: "
      "g, "
      "filter: {in: f1, out: f0}, shape: 10 Mbit/s, burst: 5 kB, overhead: ethernet, weight: 10000, queues: "
      "q}\n"
      "  other: {port: b, vlan: 1, group: g0, queues: q0, twin: off}\n");
  ASSERT_EQ(c.interfaces.size(), 2u);
  const auto& i = c.interfaces[0];
  EXPECT_EQ(i.vlan, 4094);
  EXPECT_EQ(i.first_inner, 4094);
  EXPECT_EQ(i.last_inner, 4094);
  EXPECT_FALSE(i.is_template());
  EXPECT_EQ(i.vlan_protocol, 0x88a8);
  EXPECT_THAT(i.addresses, ElementsAre(prefix("10.1.0.1/30"), prefix("2001:db8::1/64")));
  EXPECT_EQ(i.customer, "acme");
  EXPECT_EQ(i.mtu, 1280);
  EXPECT_EQ(i.trust, Port::Trust::core);
  EXPECT_EQ(i.source_check, Port::SourceCheck::loose);
  EXPECT_EQ(i.twin, "acme0");
  EXPECT_EQ(i.group, 1u);
  EXPECT_EQ(i.filter_in, 1u);
  EXPECT_EQ(i.filter_out, 0u);
  EXPECT_EQ(i.shaper.rate, 10_Mbps);
  EXPECT_EQ(i.shaper.burst, 5_kB);
  EXPECT_EQ(i.shaper.overhead.per_packet, 38u);
  EXPECT_EQ(i.weight, 10000u);
  EXPECT_EQ(i.queues, 1u);
  EXPECT_EQ(c.interfaces[1].twin, "");
}

TEST(ParseInterface, TheOuterTagMayHaveAnOldProtocol) {
  EXPECT_EQ(interface("port: a, vlan: 7, vlan_protocol: 802.1q").vlan_protocol, 0x8100);
  EXPECT_EQ(interface("port: a, vlan: 7, vlan_protocol: '0x9100'").vlan_protocol, 0x9100);
  EXPECT_EQ(interface("port: a, vlan: 7, inner_vlan: 8, vlan_protocol: 0x9200").vlan_protocol, 0x9200);
}

TEST(ParseInterface, TheSourceCheckFollowsItsOwnTrust) {
  EXPECT_EQ(interface("port: a, vlan: 1, trust: core").source_check, Port::SourceCheck::off);
  EXPECT_EQ(interface("port: b, vlan: 1, trust: customer").source_check, Port::SourceCheck::strict);
}

TEST(ParseInterface, ARangeIsATemplate) {
  const auto i = interface("port: a, vlan: 200, inner_vlan: 1-4000, hosts: 64, addresses: 100.64.0.1/16");
  EXPECT_EQ(i.first_inner, 1);
  EXPECT_EQ(i.last_inner, 4000);
  EXPECT_TRUE(i.is_template());
  EXPECT_EQ(i.members(), 4000u);
  EXPECT_EQ(i.count(), 4000u);
  EXPECT_EQ(i.hosts, 64u);
  EXPECT_EQ(interface("port: a, vlan: 2, inner_vlan: 7-8, addresses: 100.64.0.1/16").members(), 2u);
}

TEST(ParseInterface, TagsThatOnlyTouchAreFine) {
  const auto c = on_two_ports(
      "interfaces:\n"
      "  one: {port: a, vlan: 5, vlan_protocol: 802.1ad}\n"
      "  low: {port: a, vlan: 5, inner_vlan: 1-9, addresses: 10.5.0.1/24}\n"
      "  high: {port: a, vlan: 5, inner_vlan: 11-20, addresses: 10.6.0.1/24}\n"
      "  ten: {port: a, vlan: 5, inner_vlan: 10}\n"
      "  low.10: {port: b, vlan: 5, inner_vlan: 1}\n"
      "  next: {port: a, vlan: 6, inner_vlan: 1, vlan_protocol: 802.1ad}\n");
  EXPECT_EQ(c.interfaces.size(), 6u);
}

TEST(ParseInterface, LinkLocalAddressesAreOfEachLink) {
  const auto c = on_two_ports(
      "interfaces: {i: {port: a, vlan: 1, addresses: 'fe80::1/64'}, j: {port: a, vlan: 2, addresses: "
      "'fe80::1/64'}}\n");
  EXPECT_EQ(c.interfaces.size(), 2u);
}

TEST(ParseGroups, EveryOption) {
  const auto c = on_two_ports(
      "groups: {g: {port: b, shape: 2 Mbit/s, burst: 4 kB, overhead: atm, weight: 7}, h: {port: a}}\n"
      "interfaces: {i: {port: b, vlan: 1, group: g}, j: {port: a, vlan: 1, group: h}}\n");
  ASSERT_EQ(c.groups.size(), 2u);
  EXPECT_EQ(c.groups[0].name, "g");
  EXPECT_EQ(c.groups[0].port, 1u);
  EXPECT_EQ(c.groups[0].shaper.rate, 2_Mbps);
  EXPECT_EQ(c.groups[0].shaper.burst, 4_kB);
  EXPECT_EQ(c.groups[0].shaper.overhead.kind, WireOverhead::Kind::atm);
  EXPECT_EQ(c.groups[0].weight, 7u);
  EXPECT_FALSE(c.groups[1].shaper.rate);
  EXPECT_EQ(c.groups[1].weight, 1u);
}

// What a customer's shaper counts is what the wire that he shares carries.
TEST(ParseInterface, CountsTheOverheadOfItsPort) {
  const auto c = on_two_ports(
      "groups: {g: {port: c}}\ninterfaces: {i: {port: c, vlan: 1, group: g, shape: 1 Mbit/s},\n"
      "  j: {port: c, vlan: 2, shape: 1 Mbit/s, overhead: 4 B}, k: {port: a, vlan: 2}}\n",
      "  c: {device: null, overhead: ethernet}\n");
  EXPECT_EQ(c.groups[0].shaper.overhead.per_packet, 38u);
  EXPECT_EQ(c.interfaces[0].shaper.overhead.per_packet, 38u);
  EXPECT_EQ(c.interfaces[1].shaper.overhead.per_packet, 4u);
  EXPECT_EQ(c.interfaces[2].shaper.overhead.per_packet, 0u);
}

TEST(ParsePcp, BothWays) {
  EXPECT_FALSE(on_two_ports("").pcp);
  const auto c = on_two_ports("pcp: {5: [EF], 6: [CS6, CS7], 3: [AF12, AF11], 0: LE}\n");
  ASSERT_TRUE(c.pcp);
  std::array<std::uint8_t, 64> priorities{};
  priorities[46] = 5;
  priorities[48] = priorities[56] = 6;
  priorities[10] = priorities[12] = 3;
  EXPECT_EQ(c.pcp->of_dscp, priorities);
  constexpr std::optional<Dscp> kNone;
  EXPECT_THAT(c.pcp->to_dscp, ElementsAre(1, kNone, kNone, 12, kNone, 46, 48, kNone));
}

TEST(ParseInterface, RoutesAndNeighborsNameIt) {
  const auto c = on_two_ports(
      "interfaces:\n"
      "  i: {port: b, vlan: 1, addresses: 10.1.0.1/24}\n"
      "  homes: {port: a, vlan: 2, inner_vlan: 1-5, addresses: 100.64.0.1/16}\n"
      "routes:\n"
      "  - {to: 10.10.0.0/16, via: 10.1.0.9, interface: i}\n"
      "  - {to: 10.11.0.0/16, interface: i}\n"
      "  - {to: 10.12.0.0/16, via: [10.1.0.8, 100.64.3.4]}\n"
      "  - {to: 10.13.0.0/16, via: 100.64.0.2, interface: homes}\n"
      "neighbors: [{address: 10.1.0.9, mac: '02:00:00:00:00:02', interface: i}]\n");
  ASSERT_EQ(c.routes.size(), 4u);
  EXPECT_EQ(c.routes[0].next_hops[0].interface, 0u);
  EXPECT_FALSE(c.routes[0].next_hops[0].port);
  EXPECT_EQ(c.routes[1].next_hops[0].interface, 0u);
  EXPECT_FALSE(c.routes[1].next_hops[0].via);
  EXPECT_FALSE(c.routes[2].next_hops[1].interface);
  EXPECT_EQ(c.routes[3].next_hops[0].interface, 1u);
  ASSERT_EQ(c.neighbors.size(), 1u);
  EXPECT_EQ(c.neighbors[0].interface, 0u);
  EXPECT_EQ(c.neighbors[0].port, 1u) << "where the interface lies";
}

// Contracts of a rule with `per: interface`, of two customer interfaces with one tag, one template and one
// core interface.
std::optional<Rule> with_rule(const std::string& rule) {
  const auto c = on_two_ports(
      "interfaces:\n"
      "  i: {port: a, vlan: 1}\n"
      "  j: {port: b, vlan: 1, trust: customer}\n"
      "  homes: {port: a, vlan: 2, inner_vlan: 1-5, addresses: 100.64.0.1/16}\n"
      "  core: {port: b, vlan: 9}\n"
      "services: {s: {conditioner: none}}\n"
      "classify: [{" +
      rule + "}]\n");
  return c.rules.empty() ? std::nullopt : std::optional(c.rules[0]);
}
std::optional<std::uint32_t> contracts(const std::string& rule) {
  const auto r = with_rule(rule + ", service: s, per: interface");
  return r ? r->contracts : std::nullopt;
}

TEST(ParseClassify, PerInterfaceSellsAsManyAsThereAre) {
  EXPECT_EQ(contracts("match: {interface: i}"), 1u);
  EXPECT_EQ(contracts("match: {interface: homes, protocol: udp}"), 5u);
  EXPECT_EQ(contracts("match: {interface: core}"), 1u);
  EXPECT_EQ(contracts("match: {interface: homes}, contracts: 3"), 3u) << "as the file says";
  EXPECT_EQ(contracts("match: {}"), 1u + 1 + 1 + 5) << "a, i, j and homes";
  EXPECT_EQ(contracts("match: {port: a}"), 1u + 1 + 5);
  EXPECT_EQ(contracts("match: {port: b}"), 1u + 1 + 1) << "b itself, j and core";
  EXPECT_EQ(contracts("match: {vlan: 0}"), 1u) << "untagged";
  EXPECT_EQ(contracts("match: {vlan: 1}"), 2u);
  EXPECT_EQ(contracts("match: {port: a, vlan: 2}"), 5u);
  EXPECT_EQ(contracts("match: {port: a, vlan: 2, inner_vlan: 4}"), 1u);
  EXPECT_EQ(contracts("match: {port: a, vlan: 2, inner_vlan: 6}"), 0u);
}

// Twelve contracts in all, in equal parts, rounded up.
TEST(ParseClassify, EachInterfaceMayHaveAPartOfTheContracts) {
  const auto most = [](const std::string& match) {
    const auto r = with_rule("match: " + match + ", service: s, per: source, contracts: 12");
    return r ? r->most : std::nullopt;
  };
  EXPECT_EQ(most("{interface: i}"), 12u);
  EXPECT_EQ(most("{interface: homes}"), 3u);
  EXPECT_EQ(most("{}"), 2u) << "a, i, j and five homes";
  EXPECT_EQ(most("{port: a}"), 2u) << "a, i and five homes";
  EXPECT_EQ(most("{port: b}"), 4u) << "b itself, j and core";
  EXPECT_EQ(most("{vlan: 1}"), 6u) << "i and j";
  EXPECT_EQ(most("{vlan: 5}"), 12u) << "the tag at port a";
  EXPECT_EQ(most("{port: a, vlan: 2, inner_vlan: 4}"), 12u);
}

// Of the 100 Mbit/s of the core port 10 are sold by number. What is left goes in equal parts to four rules of
// `i`, one of two homes, and one of a guest at the core port.
TEST(ParseClassify, WhatSendersMultiplyFitsTheWayOut) {
  const auto most = [](const std::string& wan) {
    const auto result = parse(
        "version: 1\n"
        "ports: {a: {device: null}, wan: {device: null, trust: core" +
            wan +
            "}}\n"
            "interfaces:\n"
            "  i: {port: a, vlan: 1}\n"
            "  homes: {port: a, vlan: 2, inner_vlan: 1-2, hosts: 1}\n"
            "  guest: {port: wan, vlan: 9, trust: customer}\n"
            "services: {s: {conditioner: police, rate: 5 Mbit/s, bucket: 9 kB}, free: {conditioner: none}}\n"
            "classify:\n"
            "  - {match: {interface: i, dscp: EF}, service: s, per: flow}\n"
            "  - {match: {interface: i, dscp: AF11}, service: s, per: source, contracts: 2}\n"
            "  - {match: {interface: i, dscp: AF21}, service: s, per: source}\n"
            "  - {match: {interface: i, dscp: AF31}, service: s, per: destination}\n"
            "  - {match: {interface: i, dscp: AF41}, service: s, per: prefix}\n"
            "  - {match: {interface: i}, service: free, per: source}\n"
            "  - {match: {interface: homes}, service: s, per: source}\n"
            "  - {match: {port: wan, vlan: 0}, service: s, per: destination}\n"
            "  - {match: {port: wan, vlan: 9}, service: s, per: source}\n",
        "f.yaml");
    std::vector<std::optional<std::uint32_t>> found;
    for (const Rule& rule : result.config.value().rules) found.push_back(rule.most);
    return found;
  };
  const std::optional<std::uint32_t> none;
  EXPECT_THAT(most(", shape: 100 Mbit/s"), ElementsAre(2, 2, 2, 2, 2, none, 2, none, 2));
  EXPECT_THAT(most(", shape: 10 Mbit/s"), ElementsAre(1, 2, 1, 1, 1, none, 1, none, 1)) << "nothing is left";
  EXPECT_THAT(most(""), ElementsAre(none, 2, none, none, none, none, none, none, none)) << "of unknown speed";
}

// 40 Mbit/s are sold by number. Of the 60 that are left each of the two rules has 30; but calls go to a queue
// of 10 Mbit/s, and of a narrower port the assured queue is sure of 45.
TEST(ParseClassify, WhatSendersMultiplyFitsTheQueueThatItGoesTo) {
  const auto most = [](const std::string& shape) {
    const auto result = parse(
        "version: 1\nports: {a: {device: null}, wan: {device: null, trust: core, queues: q, shape: " + shape +
            "}}\n"
            "queues: {q: [{name: voice, dscp: [EF], priority: strict, rate: 10 Mbit/s}, {name: assured, "
            "dscp: {in: "
            "[AF11], out: [AF12]}, weight: 9}, {name: rest, dscp: [BE]}]}\n"
            "services:\n"
            "  call: {conditioner: police, rate: 1 Mbit/s, bucket: 4 kB, mark: {in: EF}}\n"
            "  s: {conditioner: token-bucket, rate: 5 Mbit/s, bucket: 9 kB, mark: {in: AF11, out: AF12}}\n"
            "  gold: {conditioner: token-bucket, rate: 20 Mbit/s, bucket: 9 kB, mark: {in: AF11, out: "
            "AF12}}\n"
            "classify:\n"
            "  - {match: {port: a, dscp: EF}, service: call, per: flow}\n"
            "  - {match: {port: a, dscp: AF11}, service: s, per: source}\n"
            "  - {match: {port: a, dscp: AF21}, service: gold, per: source, contracts: 2}\n",
        "f.yaml");
    const auto& rules = result.config.value().rules;
    return std::array{rules.at(0).most.value_or(0), rules.at(1).most.value_or(0)};
  };
  EXPECT_EQ(most("100 Mbit/s"), (std::array{10u, 6u}));
  EXPECT_EQ(most("60 Mbit/s"), (std::array{10u, 1u}));
}

TEST(ParseClassify, AnInterfaceIsWhereAPacketComesBy) {
  const auto c = on_two_ports(
      "interfaces: {i: {port: a, vlan: 1}, j: {port: a, vlan: 2}}\n"
      "services: {s: {conditioner: none}}\n"
      "classify: [{match: {interface: j, dscp: EF}, service: s, per: interface}]\n");
  const auto& m = c.rules.at(0).match;
  EXPECT_EQ(m.interface, 1u);
  EXPECT_FALSE(m.port || m.vlan || m.inner_vlan);
  EXPECT_EQ(m.dscp, 46);
  EXPECT_EQ(c.rules[0].per, Rule::Per::interface);
}

TEST(ParseServices, AnObjectiveIsAPartOfTheSeconds) {
  const auto objective = [](const std::string& text) {
    const auto c = on_two_ports("services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB" + text +
                                "}}\nclassify: [{match: {port: a}, service: s}]\n");
    return c.services.at(0).objective;
  };
  EXPECT_EQ(objective(""), std::nullopt);
  EXPECT_EQ(objective(", objective: 99.9 %"), 0.999);
  EXPECT_EQ(objective(", objective: 100 %"), 1);
  EXPECT_EQ(objective(", objective: 0.5"), 0.5);
}

TEST(ParseSystem, ContractsWithSeriesOfTheirOwn) {
  EXPECT_EQ(on_two_ports("").metrics.contracts, 1000u);
  EXPECT_EQ(on_two_ports("metrics: {contracts: 0}\n").metrics.contracts, 0u);
  EXPECT_EQ(on_two_ports("metrics: {contracts: 100000}\n").metrics.contracts, 100'000u);
}

// What `max: auto` comes to for a contract of 10 Mbit/s per interface, with 100 Mbit/s towards the core.
Ratio auto_max(const std::string& group, const std::string& tags) {
  const auto result = parse(
      "version: 1\n"
      "ports: {a: {device: null}, b: {device: null, trust: core, shape: 100 Mbit/s}}\n"
      "groups: {g: {port: a" +
          group + "}}\ninterfaces: {i: {port: a, group: g, addresses: 10.1.0.1/16, " + tags +
          "}}\n"
          "queues: {q: [{name: all, rio: {in: {min: 1, max: 2, pmax: 1}, out: {min: 1, max: 2, pmax: 1}}}]}\n"
          "services:\n"
          "  s: {conditioner: csa, rate: 10 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, alpha: {max: "
          "auto}}\n"
          "classify: [{match: {interface: i}, service: s, per: interface}]\n",
      "f.yaml");
  EXPECT_TRUE(result.ok()) << result.diagnostics.at(0).format();
  return result.ok() ? std::get<Csa>(result.config->services[0].conditioner).alpha.max : Ratio{};
}

TEST(ParseServices, WhatInterfacesOfAGroupHaveBoughtIsAtMostWhatTheGroupHas) {
  EXPECT_EQ(auto_max("", "vlan: 1, inner_vlan: 1-8"), Ratio::of(0.25)) << "8 contracts";
  EXPECT_EQ(auto_max(", shape: 90 Mbit/s", "vlan: 1, inner_vlan: 1-8"), Ratio::of(0.25));
  EXPECT_EQ(auto_max(", shape: 50 Mbit/s", "vlan: 1, inner_vlan: 1-8"), Ratio::of(1));
  EXPECT_EQ(auto_max(", shape: 50 Mbit/s", "vlan: 1, inner_vlan: 1-4000"), Ratio::of(1));
}

}  // namespace
}  // namespace surety::config
