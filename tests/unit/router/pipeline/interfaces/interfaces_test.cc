// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/interfaces.h"

#include <gtest/gtest.h>

#include "config/parse.h"
#include "router/pipeline/interfaces/interface_counters.h"

namespace surety {
namespace {

config::Config configured(const std::string& interfaces) {
  const auto result = config::parse(
      "version: 1\nports: {a: {addresses: 10.1.0.254/24}, b: {trust: core, mtu: 2000}}\ninterfaces:\n" +
          interfaces,
      "test.yaml");
  for (const auto& d : result.diagnostics)
    if (d.severity == config::Diagnostic::Severity::error) throw std::runtime_error(d.format());
  return *result.config;
}

const std::string kAcme = "  acme: {port: a, vlan: 107, addresses: 10.2.0.1/30, customer: ACME, mtu: 1400}\n";
const std::string kGlobex =
    "  globex: {port: a, vlan: 100, inner_vlan: 8, vlan_protocol: 802.1ad, addresses: 10.3.0.1/30}\n";
const std::string kHomes =
    "  homes: {port: b, vlan: 200, inner_vlan: 10-13, addresses: 10.4.0.1/24, hosts: 2}\n";

TEST(Interfaces, PortsComeFirstAndAreThemselves) {
  const Interfaces i(configured(kAcme));
  EXPECT_EQ(i.name(0), "a");
  EXPECT_FALSE(i[0].tags.any());
  EXPECT_EQ(i[1].mtu, 2000);
  EXPECT_FALSE(i[1].customer());
  EXPECT_EQ(i[1].definition, kNoInterface);
  EXPECT_EQ(i.customer(0), "a");
}

TEST(Interfaces, HaveNoLargerMtuThanTheDeviceOfTheirPort) {
  config::Config c = configured(kAcme + kGlobex + kHomes);
  c.ports[0].device_mtu = 1450;
  const Interfaces i(c);
  EXPECT_EQ(i[0].mtu, 1450);
  EXPECT_EQ(i[i.of_definition(0)].mtu, 1400) << "lower by itself";
  EXPECT_EQ(i[i.of_definition(1)].mtu, 1450);
  EXPECT_EQ(i.least_mtu(0), 1400);
  EXPECT_EQ(i[1].mtu, 2000) << "another port";
  EXPECT_EQ(i[i.of_definition(2)].mtu, 2000);
}

TEST(Interfaces, KnownByAddressesAreOnTheLinkOfOthers) {
  const std::string rest =
      "services: {s: {conditioner: none}}\n"
      "plans: {p: {service: s}}\n"
      "subscribers:\n"
      "  one: {plan: p, port: a, prefixes: 10.1.0.7}\n"
      "  two: {plan: p, interface: acme, prefixes: [10.2.0.2, 10.9.0.0/24]}\n";
  const Interfaces none(configured(kHomes)), i(configured(kAcme + rest));
  const InterfaceRecord &acme = i[i.of_definition(0)], &one = i[i.of_definition(1)],
                        &two = i[i.of_definition(2)];
  EXPECT_EQ(one.within, 0);
  EXPECT_FALSE(one.tags.any());
  EXPECT_EQ(two.within, i.of_definition(0));
  EXPECT_EQ(two.tags, acme.tags);
  EXPECT_EQ(two.mtu, 1400) << "the link's";
  EXPECT_EQ(acme.within, kNoInterface);
  EXPECT_EQ(i.find(0, kCustomerTag, 107, 0), i.of_definition(0)) << "its frames arrive by the link";
  EXPECT_EQ(i.customer(i.of_definition(2)), "two");
  EXPECT_TRUE(i.notes_on(0));
  EXPECT_FALSE(i.notes_on(1));
  EXPECT_FALSE(none.notes_on(0)) << "nothing is on that port";
  EXPECT_TRUE(none.notes_on(1));
}

TEST(Interfaces, ATagOfATemplateKeepsItsPlaceWhateverPlanItHas) {
  const std::string plan = "services: {s: {conditioner: none}}\nplans: {p: {service: s}}\n",
                    one = "subscribers: {acme: {plan: p, interface: homes, inner_vlan: 11}}\n";
  const Interfaces before(configured(kHomes + plan)), with(configured(kHomes + plan + one), &before),
      after(configured(kHomes + plan), &with);
  const InterfaceIndex homes = before.of_definition(0);
  const auto place = static_cast<InterfaceIndex>(homes + 2);
  EXPECT_EQ(with.of_definition(1), place);
  EXPECT_EQ(with.size(), before.size());
  for (const Interfaces* i : {&before, &with, &after}) {
    EXPECT_EQ(i->find(1, kCustomerTag, 200, 11), place);
    EXPECT_EQ((*i)[place].link, homes);
    EXPECT_TRUE(i->exists(place));
  }
  EXPECT_EQ(with.name(place), "acme");
  EXPECT_EQ(with.customer(place), "acme");
  EXPECT_EQ(with.name(place + 1), "homes.12");
  EXPECT_EQ(after.name(place), "homes.11");
  EXPECT_EQ(after[place].definition, 0);
}

TEST(Interfaces, AreFoundByPortTagsAndProtocol) {
  const Interfaces i(configured(kAcme + kGlobex + kHomes));
  EXPECT_EQ(i.find(0, kCustomerTag, 107, 0), i.of_definition(0));
  EXPECT_EQ(i.find(0, kServiceTag, 107, 0), kNoInterface) << "another protocol";
  EXPECT_EQ(i.find(1, kCustomerTag, 107, 0), kNoInterface) << "another port";
  EXPECT_EQ(i.find(0, kCustomerTag, 107, 5), kNoInterface) << "one tag too many";
  EXPECT_EQ(i.find(0, kServiceTag, 100, 8), i.of_definition(1));
  EXPECT_EQ(i.find(0, kServiceTag, 100, 9), kNoInterface);
  EXPECT_EQ(i.find(0, kServiceTag, 100, 7), kNoInterface);
  EXPECT_EQ(i.find(0, kServiceTag, 100, 0), kNoInterface) << "one tag too few";
  for (std::uint16_t tag = 10; tag <= 13; ++tag)
    EXPECT_EQ(i.find(1, kCustomerTag, 200, tag), i.of_definition(2) + tag - 9) << tag;
  EXPECT_EQ(i.find(1, kCustomerTag, 200, 14), kNoInterface);
}

TEST(Interfaces, HaveWhatTheConfigurationSaysOfThem) {
  const Interfaces i(configured(kAcme + kGlobex + kHomes));
  const InterfaceIndex acme = i.of_definition(0), globex = i.of_definition(1), homes = i.of_definition(2);
  EXPECT_EQ(i.name(acme), "acme");
  EXPECT_EQ(i.customer(acme), "ACME");
  EXPECT_EQ(i[acme].mtu, 1400);
  EXPECT_TRUE(i[acme].customer());
  EXPECT_EQ(i.customer(globex), "globex");
  EXPECT_EQ(to_string(i[acme]), "107");
  EXPECT_EQ(to_string(i[globex]), "100.8");
  EXPECT_EQ(to_string(i[homes]), "200.*");
  EXPECT_TRUE(i[homes].is_template);
  const auto member = static_cast<InterfaceIndex>(homes + 2);
  EXPECT_EQ(i.name(member), "homes.11");
  EXPECT_EQ(i.customer(member), "homes");
  EXPECT_EQ(i[member].link, homes);
  EXPECT_EQ(to_string(i[member]), "200.11");
  EXPECT_EQ(i[member].mtu, 2000) << "its port's";
  EXPECT_FALSE(i[member].customer()) << "its port's";
}

TEST(Interfaces, TagsStandAsInAFrame) {
  const Interfaces i(configured(kAcme + kGlobex));
  const auto bytes = [&](std::size_t d) {
    const InterfaceRecord& r = i[i.of_definition(d)];
    std::vector<int> b(r.tags.bytes());
    for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<int>(r.tags.in_frame(0) >> 8 * n & 0xff);
    return b;
  };
  EXPECT_EQ(bytes(0), (std::vector<int>{0x81, 0x00, 0, 107}));
  EXPECT_EQ(bytes(1), (std::vector<int>{0x88, 0xa8, 0, 100, 0x81, 0x00, 0, 8}));
}

// Next hops, counters and packets that wait name them by index.
TEST(Interfaces, WhatStaysKeepsItsPlace) {
  const Interfaces before(configured(kAcme + kGlobex + kHomes));
  const Interfaces after(configured(kHomes + kAcme), &before);
  EXPECT_EQ(after.of_definition(0), before.of_definition(2));
  EXPECT_EQ(after.of_definition(1), before.of_definition(0));
  EXPECT_EQ(after.name(before.of_definition(0)), "acme");
  const InterfaceIndex gone = before.of_definition(1);
  EXPECT_FALSE(after.exists(gone));
  EXPECT_EQ(after[gone].tags, before[gone].tags) << "what waits for the port leaves with its tags";
  EXPECT_EQ(after.find(0, kServiceTag, 100, 8), kNoInterface);
}

TEST(Interfaces, AFreePlaceStaysEmptyForOneReload) {
  const Interfaces first(configured(kAcme + kGlobex));
  const Interfaces second(configured(kAcme + "  new: {port: a, vlan: 5}\n"), &first);
  EXPECT_NE(second.of_definition(1), first.of_definition(1));
  const Interfaces third(configured(kAcme + "  newer: {port: a, vlan: 6}\n"), &second);
  EXPECT_EQ(third.of_definition(1), first.of_definition(1));
}

TEST(Interfaces, AnotherRangeIsAnotherTemplate) {
  const Interfaces first(configured(kHomes));
  const Interfaces second(
      configured("  homes: {port: b, vlan: 200, inner_vlan: 10-14, addresses: 10.4.0.1/24}\n"), &first);
  EXPECT_NE(second.of_definition(0), first.of_definition(0));
  EXPECT_EQ(second.find(1, kCustomerTag, 200, 14), second.of_definition(0) + 5);
}

TEST(Interfaces, APlaceThatThereWasCanBeAskedForForEver) {
  const Interfaces first(configured(kAcme));
  const InterfaceIndex acme = first.of_definition(0);
  auto last = std::make_unique<Interfaces>(configured("  {}\n"), &first);
  for (int n = 0; n < 3; ++n) {
    last = std::make_unique<Interfaces>(configured("  {}\n"), last.get());
    ASSERT_GT(last->size(), acme);
    EXPECT_FALSE((*last)[acme].live);
  }
}

TEST(Interfaces, ComeAndGoForEver) {
  auto last = std::make_unique<Interfaces>(configured(kHomes));
  for (int n = 0; n < 100; ++n) {  // sixteen would be more than there are places
    const std::string name = n % 2 == 0 ? "even" : "odd";
    last = std::make_unique<Interfaces>(
        configured("  " + name + ": {port: b, vlan: 200, inner_vlan: 1-4000, addresses: 10.4.0.1/20}\n"),
        last.get());
  }
  EXPECT_LE(last->size(), 2u + 3 * 4001);
}

TEST(Interfaces, TakeLittleMemory) {
  std::string many;
  for (int outer = 1; outer <= 16; ++outer)
    many += "  t" + std::to_string(outer) + ": {port: " + (outer <= 1 ? "a" : "b") +
            ", vlan: " + std::to_string(outer) + ", inner_vlan: 1-250, addresses: 10." +
            std::to_string(10 + outer) + ".0.1/16}\n";
  const Interfaces i(configured(many));
  EXPECT_LE(i.bytes() + i.size() * sizeof(InterfaceCount), 16u * 250 * 512);
}

TEST(InterfaceCounters, CountByInterface) {
  InterfaceCounters c;
  c.received(5, 100);
  c.received(5, 60);
  c.sent(65534, 1518);
  EXPECT_EQ(c[5].rx_packets, 2u);
  EXPECT_EQ(c[5].rx_bytes, 160u);
  EXPECT_EQ(c[65534].tx_bytes, 1518u);
  c.forget(5);
  EXPECT_EQ(c[5].rx_packets, 0u);
}

}  // namespace
}  // namespace surety
