// SPDX-License-Identifier: BSD-3-Clause
// Sections `plans` and `subscribers`. What is wrong with them stands in tests/unit/broken/subscribers*.yaml.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/address.h"
#include "config/parse.h"
#include "config/reader.h"
#include "tests/unit/config/parsed.h"

namespace surety::config {
namespace {

using testing::ElementsAre;

Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

// Two plans, and a set of queues and filters for them.
constexpr const char* kPlans =
    "filters: {f: [{deny: {}}], own: [{deny: {}}]}\n"
    "queues: {q: [{name: all}]}\n"
    "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB}, none: {conditioner: none}}\n"
    "plans:\n"
    "  gold: {service: s, shape: 10 Mbit/s, burst: 5 kB, overhead: 24 B, weight: 4, queues: q, filter: {in: "
    "f}}\n"
    "  plain: {service: none}\n";

TEST(ParseSubscriber, IsAnInterfaceWithWhatItsPlanGives) {
  const auto c = on_two_ports(
      std::string(kPlans) +
      "groups: {g: {port: a}}\n"
      "interfaces: {i: {port: b, vlan: 1}}\n"
      "subscribers:\n"
      "  acme: {plan: gold, port: a, vlan: 2, addresses: 10.1.0.1/30, mtu: 1400, group: g}\n"
      "  globex: {plan: gold, port: b, vlan: 2, inner_vlan: 7, filter: {in: own}, twin: off}\n"
      "  homes: {plan: plain, port: a, vlan: 3, inner_vlan: 1-9, addresses: 10.2.1.1/24, hosts: 2}\n");
  ASSERT_EQ(c.interfaces.size(), 4u);
  const auto& acme = c.interfaces[1];
  EXPECT_EQ(acme.name, "acme");
  EXPECT_EQ(acme.customer, "acme");
  EXPECT_EQ(acme.vlan, 2);
  EXPECT_EQ(acme.mtu, 1400);
  EXPECT_EQ(acme.group, 0u);
  EXPECT_EQ(acme.shaper, (PortShaperParams{Rate::bits_per_second(10'000'000), Bytes(5000),
                                           WireOverhead{WireOverhead::Kind::bytes, 24}}));
  EXPECT_EQ(acme.weight, 4u);
  EXPECT_EQ(acme.queues, 0u);
  EXPECT_EQ(acme.filter_in, 0u);
  const auto& globex = c.interfaces[2];
  EXPECT_EQ(globex.filter_in, 1u) << "its own";
  EXPECT_EQ(globex.trust, Port::Trust::customer) << "on a core port, too";
  EXPECT_EQ(globex.source_check, Port::SourceCheck::strict);
  EXPECT_EQ(c.interfaces[3].hosts, 2u);
  EXPECT_FALSE(c.interfaces[3].shaper.rate || c.interfaces[3].queues || c.interfaces[3].filter_in);
}

TEST(ParseSubscriber, IsListedWithItsPlanAndOwner) {
  Tree tree{.directory = "/etc", .file = "/etc/r.yaml", .texts = {}, .values = {}};
  tree.texts["/etc/r.yaml"] = std::string(kPlans) +
                              "version: 1\nports: {a: {device: null}}\n"
                              "include: [radius.yaml, own.yaml]\n"
                              "interfaces: {i: {port: a, vlan: 1}}\n"
                              "subscribers: {acme: {plan: gold, port: a, vlan: 2, suspended: true}}\n";
  tree.texts["/etc/radius.yaml"] =
      std::string(kHeadOfOwner) + "radius\n\"bob\": {\"plan\": \"plain\", \"port\": \"a\", \"vlan\": 3}\n}\n";
  tree.texts["/etc/own.yaml"] = "subscribers: {carol: {plan: gold, port: a, vlan: 4}}\n";
  const auto result = parse_tree(tree);
  ASSERT_TRUE(result.ok()) << result.diagnostics.front().format();
  std::vector<std::string> all;
  for (const Subscriber& s : result.config->subscribers)
    all.push_back(fmt::format("{} {} {} {}", result.config->interfaces[s.interface].name, s.plan, s.owner,
                              s.suspended));
  EXPECT_THAT(all, ElementsAre("acme gold  true", "bob plain radius false", "carol gold  false"));
}

TEST(ParseSubscriber, HasRowsForItsContracts) {
  std::string many =
      "services: {s: {conditioner: none}}\nplans: {gold: {service: s}}\nsubscribers:\n"
      "  c0: {plan: gold, port: a, vlan: 1}\n";
  EXPECT_EQ(on_two_ports(many).metrics.contracts, 1000u);
  for (int n = 1; n <= 1000; ++n) many += fmt::format("  c{}: {{plan: gold, port: a, vlan: {}}}\n", n, n + 1);
  EXPECT_EQ(on_two_ports(many).metrics.contracts, 1001u);
  EXPECT_EQ(on_two_ports(many + "metrics: {contracts: 7}\n").metrics.contracts, 7u);
}

TEST(ParseSubscriber, HasARuleBehindThoseOfTheFile) {
  const auto c = on_two_ports(
      std::string(kPlans) +
      "subscribers:\n"
      "  acme: {plan: gold, port: a, vlan: 2}\n"
      "  homes: {plan: plain, port: a, vlan: 3, inner_vlan: 1-9, addresses: 10.2.1.1/24, filter: {in: own}}\n"
      "classify: [{match: {interface: acme, dscp: EF}, service: none}]\n");
  ASSERT_EQ(c.rules.size(), 3u);
  EXPECT_EQ(c.rules[0].match.interface, 0u) << "the name of a subscriber is one of an interface";
  const auto& acme = c.rules[1];
  Match only;
  only.interface = 0;
  EXPECT_EQ(acme.match, only);
  EXPECT_EQ(acme.service, 0u);
  EXPECT_EQ(acme.per, Rule::Per::interface);
  EXPECT_EQ(acme.contracts, 1u);
  EXPECT_EQ(acme.line, 12);
  EXPECT_EQ(c.rules[2].match.interface, 1u);
  EXPECT_EQ(c.rules[2].service, 1u);
  EXPECT_EQ(c.rules[2].contracts, 9u) << "one for each tag";
}

TEST(ParseSubscriber, KnownByPrefixesIsOnALinkAndHasARuleForItsSources) {
  const auto c = on_two_ports(
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB}}\n"
      "plans: {p: {service: s, shape: 2 Mbit/s, weight: 3}}\n"
      "groups: {g: {port: a}}\n"
      "interfaces: {i: {port: a, vlan: 7, inner_vlan: 8, vlan_protocol: 802.1ad, addresses: 10.7.0.1/24, "
      "mtu: "
      "1400}}\n"
      "subscribers:\n"
      "  acme: {plan: p, port: a, prefixes: [\"2001:db8::/56\", 10.1.0.7], group: g}\n"
      "  globex: {plan: p, interface: i, prefixes: 10.7.0.9}\n",
      "");
  ASSERT_EQ(c.interfaces.size(), 3u);
  const auto &acme = c.interfaces[1], &globex = c.interfaces[2];
  EXPECT_THAT(acme.prefixes, ElementsAre(prefix("10.1.0.7/32"), prefix("2001:db8::/56")));
  EXPECT_FALSE(acme.has_link() || acme.within);
  EXPECT_EQ(std::tuple(acme.port, acme.vlan, acme.mtu, acme.group, acme.weight),
            std::tuple(0u, 0, 2000, 0u, 3u));
  EXPECT_EQ(globex.within, 0u);
  EXPECT_EQ(std::tuple(globex.vlan, globex.first_inner, globex.last_inner, globex.mtu),
            std::tuple(7, 8, 8, 1400));
  EXPECT_EQ(globex.vlan_protocol, kServiceTag);
  EXPECT_EQ(acme.count(), 1u);
  ASSERT_EQ(c.rules.size(), 2u);
  Match of_acme;
  of_acme.port = 0;
  of_acme.vlan = 0;
  of_acme.source = acme.prefixes;
  EXPECT_EQ(c.rules[0].match, of_acme);
  EXPECT_EQ(c.rules[0].customer, "acme");
  EXPECT_EQ(c.rules[0].per, Rule::Per::rule);
  Match of_globex;
  of_globex.interface = 0;
  of_globex.source = globex.prefixes;
  of_globex.family = Match::Family::ipv4;
  EXPECT_EQ(c.rules[1].match, of_globex);
}

TEST(ParseSubscriber, HasATagOfATemplate) {
  const auto c = on_two_ports(
      "filters: {f: [{deny: {protocol: tcp}}, {permit: {}}], own: [{deny: {protocol: udp}}, {permit: {}}]}\n"
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB}, voice: {conditioner: none}}\n"
      "plans: {p: {service: s, shape: 2 Mbit/s}, web: {service: s, filter: {in: own}}}\n"
      "groups: {g: {port: a}}\n"
      "interfaces: {homes: {port: a, vlan: 7, inner_vlan: 10-19, vlan_protocol: 802.1ad, addresses: "
      "10.7.0.1/24, "
      "mtu: 1400, group: g, filter: {in: f}}}\n"
      "classify:\n"
      "  - {match: {interface: homes, dscp: EF}, service: voice}\n"
      "  - {match: {port: a, vlan: 7}, service: s}\n"
      "subscribers:\n"
      "  tagged: {plan: p, port: a, vlan: 8}\n"
      "  acme: {plan: p, interface: homes, inner_vlan: 12}\n"
      "  globex: {plan: web, interface: homes, inner_vlan: 19}\n");
  ASSERT_EQ(c.interfaces.size(), 4u);
  const auto &acme = c.interfaces[2], &globex = c.interfaces[3];
  EXPECT_TRUE(acme.is_tag_of_template());
  EXPECT_FALSE(acme.has_link() || c.interfaces[1].is_tag_of_template() || acme.is_template());
  EXPECT_EQ(std::tuple(acme.within, acme.vlan, acme.first_inner, acme.last_inner, acme.vlan_protocol),
            std::tuple(0u, 7, 12, 12, kServiceTag));
  EXPECT_EQ(std::tuple(acme.mtu, acme.group, acme.filter_in, globex.filter_in), std::tuple(1400, 0u, 0u, 1u));
  EXPECT_EQ(acme.shaper.rate, Rate::bits_per_second(2'000'000));
  EXPECT_TRUE(acme.addresses.empty());
  // Behind the rule for some packets of the template, before the one for all.
  ASSERT_EQ(c.rules.size(), 5u);
  EXPECT_EQ(c.rules[0].match.dscp, 46);
  Match of_acme;
  of_acme.interface = 0;
  of_acme.inner_vlan = 12;
  EXPECT_EQ(c.rules[1].match, of_acme);
  EXPECT_EQ(std::tuple(c.rules[1].customer, c.rules[1].contracts), std::tuple("acme", 1u));
  EXPECT_EQ(c.rules[2].customer, "globex");
  EXPECT_EQ(c.rules[3].match.vlan, 7);
  EXPECT_EQ(c.rules[4].match.interface, 1u) << "a subscriber with tags of its own";
}

// Rules are numbered as in `classify`, whichever rules of subscribers are between them.
TEST(ParseSubscriber, OnATagMovesNoNumberAndNoRuleOfOthers) {
  const auto c = on_two_ports(
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB}, voice: {conditioner: none}}\n"
      "plans: {p: {service: s}}\n"
      "interfaces: {office: {port: a, vlan: 6}, homes: {port: a, vlan: 7, inner_vlan: 1-2, addresses: "
      "10.7.0.1/24}}\n"
      "classify:\n"
      "  - {match: {interface: office}, service: s}\n"
      "  - {match: {interface: homes, protocol: udp}, service: voice, per: interface}\n"
      "  - {match: {interface: homes}, service: s, per: interface}\n"
      "subscribers: {one: {plan: p, interface: homes, inner_vlan: 1}, two: {plan: p, interface: homes, "
      "inner_vlan: 2}}\n");
  std::vector<std::string> all;
  for (const Rule& r : c.rules)
    all.push_back(
        fmt::format("{} {} {}", r.number, r.customer, r.subscriber ? c.interfaces[*r.subscriber].name : "-"));
  EXPECT_THAT(all, ElementsAre("1  -", "2  -", "0 one one", "0 two two", "3  -"));
  EXPECT_EQ(c.rules[1].contracts, 2u) << "of both tags";
  EXPECT_EQ(c.rules[4].contracts, 0u) << "no tag is left";
}

TEST(ParseSubscriber, HasTheFilterSuspendedInPlaceOfItsOwnWhileItIsSuspended) {
  const auto text = [](const char* filters, const char* suspended) {
    return fmt::format(
        "services: {{none: {{conditioner: none}}}}\n"
        "plans: {{plain: {{service: none, filter: {{in: f, out: f}}}}}}\n"
        "filters: {{f: [{{deny: {{protocol: tcp}}}}, {{permit: {{}}}}]{}}}\n"
        "subscribers:\n"
        "  acme: {{plan: plain, port: a, vlan: 2, suspended: {}, filter: {{in: f}}}}\n"
        "  globex: {{plan: plain, port: a, vlan: 3, suspended: yes}}\n",
        filters, suspended);
  };
  for (const char* const own : {"", ", suspended: [{permit: {destination: 10.9.0.1}}]"}) {
    const auto c = on_two_ports(text(own, "yes"));
    ASSERT_EQ(c.filters.size(), 2u);
    EXPECT_EQ(c.filters[1].name, "suspended");
    EXPECT_EQ(c.filters[1].entries[0].permit, *own != 0);
    for (const auto& i : c.interfaces) {
      EXPECT_EQ(i.filter_in, 1u);
      EXPECT_EQ(i.filter_out, 1u);
    }
    EXPECT_EQ(on_two_ports(text(own, "no")).interfaces[0].filter_in, 0u);
  }
}

}  // namespace
}  // namespace surety::config
