// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/classifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "conditioners/rng.h"

// A rule says what it constrains; the rest of a Match stays open.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace surety {
namespace {

using config::Match;
using config::Port;
using config::Rule;
using Per = Rule::Per;

constexpr std::uint8_t kTcp = 6, kUdp = 17, kIcmp = 1;

IpAddress address4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return IpAddress::v4(a, b, c, d);
}
IpAddress address6(std::initializer_list<std::uint8_t> head, std::uint8_t last) {
  IpAddress x = IpAddress::unspecified(true);
  std::copy(head.begin(), head.end(), x.data());
  x.data()[15] = last;
  return x;
}

// What parse() makes of such a packet (headers.h).
struct Shape {
  IpAddress source = address4(10, 1, 0, 1), destination = address4(10, 2, 0, 1);
  std::uint8_t protocol = kTcp;
  std::uint16_t source_port = 1000, destination_port = 80;
  std::uint16_t vlan = 0, inner_vlan = 0;
  std::uint8_t dscp = 0;
  bool fragment = false;
  std::uint8_t port = 0;
};
ParsedPacket packet(const Shape& s) {
  using Class = FlowKey::Class;
  ParsedPacket p;
  p.v6 = p.key.v6 = s.source.is_v6();
  p.protocol = s.protocol;
  p.vlan = s.vlan;
  p.inner_vlan = s.inner_vlan;
  p.interface = s.port;
  p.traffic_class = static_cast<std::uint8_t>(s.dscp << 2 | 1);
  p.fragment = s.fragment;
  const Class c = s.fragment           ? Class::fragment
                  : s.protocol == kTcp ? Class::tcp
                  : s.protocol == kUdp ? Class::udp
                                       : Class::other;
  const std::uint8_t ports[4] = {
      static_cast<std::uint8_t>(s.source_port >> 8), static_cast<std::uint8_t>(s.source_port),
      static_cast<std::uint8_t>(s.destination_port >> 8), static_cast<std::uint8_t>(s.destination_port)};
  std::uint32_t low = s.protocol;
  if (c == Class::tcp || c == Class::udp) std::memcpy(&low, ports, 4);
  p.key.rest = static_cast<std::uint64_t>(c) << 61 | std::uint64_t{s.port} << 56 |
               std::uint64_t{s.vlan} << 44 | std::uint64_t{s.inner_vlan} << 32 | low;
  const std::size_t bytes = s.source.is_v6() ? 16 : 4;
  std::memcpy(p.key.address.data(), s.source.data(), bytes);
  std::memcpy(reinterpret_cast<std::uint8_t*>(p.key.address.data()) + bytes, s.destination.data(), bytes);
  return p;
}

// Port 0 and 2 belong to customers, 1 to the core.
config::Config three_ports() {
  config::Config c;
  c.ports.resize(3);
  for (config::Port& p : c.ports) p.name = "port";
  c.ports[1].trust = Port::Trust::core;
  return c;
}
config::Config with(std::vector<Match> matches, Per per = Per::rule) {
  config::Config c = three_ports();
  for (auto& m : matches) {
    c.rules.emplace_back();
    c.rules.back().match = m;
    c.rules.back().per = per;
  }
  return c;
}
bool matches(const Match& m, const Shape& s) {
  return Classifier(with({m})).match(packet(s), s.port) == 0;
}

TEST(Classifier, WithoutRulesNothingMatches) {
  const Classifier c(three_ports());
  EXPECT_EQ(c.match(packet({}), 0), std::nullopt);
  EXPECT_FALSE(c.classifies(0));
  EXPECT_FALSE(c.uses_dscp());
}

TEST(Classifier, TheFirstMatchWins) {
  const Classifier c(with({{.protocol = kUdp}, {.destination_port = {80, 80}}, {.protocol = kTcp}, {}}));
  EXPECT_EQ(c.match(packet({.protocol = kUdp}), 0), 0);
  EXPECT_EQ(c.match(packet({}), 0), 1);
  EXPECT_EQ(c.match(packet({.destination_port = 81}), 0), 2);
  EXPECT_EQ(c.match(packet({.protocol = kIcmp}), 0), 3);
}

TEST(Classifier, EachFieldDecides) {
  EXPECT_TRUE(matches({.vlan = 100}, {.vlan = 100}));
  EXPECT_FALSE(matches({.vlan = 100}, {.vlan = 101}));
  EXPECT_TRUE(matches({.vlan = 0}, {}));
  EXPECT_FALSE(matches({.vlan = 0}, {.vlan = 256})) << "untagged only";
  EXPECT_TRUE(matches({.inner_vlan = 4000}, {.vlan = 1, .inner_vlan = 4000}));
  EXPECT_FALSE(matches({.inner_vlan = 4000}, {.vlan = 4000, .inner_vlan = 1}));
  EXPECT_TRUE(matches({.protocol = kIcmp}, {.protocol = kIcmp}));
  EXPECT_FALSE(matches({.protocol = kIcmp}, {.protocol = kTcp}));
  EXPECT_TRUE(matches({.dscp = 46}, {.dscp = 46}));
  EXPECT_FALSE(matches({.dscp = 46}, {.dscp = 10}));
  EXPECT_FALSE(matches({.dscp = 0}, {.dscp = 1}));
}

TEST(Classifier, PortRangesIncludeTheirEnds) {
  const Match m{.source_port = {1000, 1255}, .destination_port = {80, 80}};
  EXPECT_TRUE(matches(m, {.source_port = 1000}));
  EXPECT_TRUE(matches(m, {.source_port = 1255}));
  EXPECT_FALSE(matches(m, {.source_port = 999}));
  EXPECT_FALSE(matches(m, {.source_port = 1256}));
  EXPECT_FALSE(matches(m, {.source_port = 80, .destination_port = 1000}));
}

TEST(Classifier, WhatHasNoPortsMatchesNoPorts) {
  const Match high{.destination_port = {0, 65534}}, low{.source_port = {1, 65535}}, any{};
  for (const Match& m : {high, low}) {
    EXPECT_TRUE(matches(m, {.protocol = kUdp}));
    EXPECT_FALSE(matches(m, {.fragment = true}));
    EXPECT_FALSE(matches(m, {.protocol = kIcmp}));
  }
  EXPECT_TRUE(matches(any, {.fragment = true}));
  EXPECT_TRUE(matches({.protocol = kTcp}, {.fragment = true})) << "the protocol is known of every fragment";
}

TEST(Classifier, Prefixes) {
  const Match m4{.source = {Prefix{address4(10, 1, 0, 77), 26}}};  // host bits do not matter
  EXPECT_TRUE(matches(m4, {.source = address4(10, 1, 0, 64)}));
  EXPECT_TRUE(matches(m4, {.source = address4(10, 1, 0, 127)}));
  EXPECT_FALSE(matches(m4, {.source = address4(10, 1, 0, 128)}));
  EXPECT_FALSE(matches(m4, {.source = address4(10, 2, 0, 77)}));
  const Match m6{.destination = {Prefix{address6({0x20, 1, 0x0d, 0xb8, 0, 1}, 0), 47}}};
  const Shape s{.source = address6({0xfd}, 1)};
  const auto to = [&](std::initializer_list<std::uint8_t> head) {
    Shape t = s;
    t.destination = address6(head, 1);
    return t;
  };
  EXPECT_TRUE(matches(m6, to({0x20, 1, 0x0d, 0xb8, 0, 0})));
  EXPECT_TRUE(matches(m6, to({0x20, 1, 0x0d, 0xb8, 0, 1, 0xff, 0xff, 0xff})));
  EXPECT_FALSE(matches(m6, to({0x20, 1, 0x0d, 0xb8, 0, 2})));
}

TEST(Classifier, FamiliesKeepApart) {
  const Shape four{}, six{.source = address6({0xfd}, 1), .destination = address6({0xfd}, 2)};
  EXPECT_TRUE(matches({}, four) && matches({}, six));
  EXPECT_FALSE(matches({.family = Match::Family::ipv6}, four));
  EXPECT_TRUE(matches({.family = Match::Family::ipv6}, six));
  EXPECT_FALSE(matches({.family = Match::Family::ipv4}, six));
  EXPECT_FALSE(matches({.source = {Prefix{address4(0, 0, 0, 0), 0}}}, six));
  EXPECT_FALSE(matches({.destination = {Prefix{address6({}, 0), 0}}}, four));
}

TEST(Classifier, RulesWithoutAPortAreForCustomers) {
  const Classifier c(with({{.protocol = kUdp}, {.port = 1, .protocol = kTcp}}));
  EXPECT_EQ(c.match(packet({.protocol = kUdp}), 0), 0);
  EXPECT_EQ(c.match(packet({.protocol = kUdp, .port = 1}), 1), std::nullopt);
  EXPECT_EQ(c.match(packet({.protocol = kUdp, .port = 2}), 2), 0);
  EXPECT_EQ(c.match(packet({}), 0), std::nullopt);
  EXPECT_EQ(c.match(packet({.port = 1}), 1), 1) << "named, so it applies whatever the trust";
  EXPECT_TRUE(c.classifies(0) && c.classifies(1) && c.classifies(2));
}

TEST(Classifier, ManyAtOnceAreEachAsIfAlone) {
  Match v4_web, v6_web, dns;
  v4_web.destination_port = {80, 80};
  v4_web.family = Match::Family::ipv4;
  v6_web.destination_port = {80, 80};
  v6_web.family = Match::Family::ipv6;
  dns.destination_port = {53, 53};
  const Classifier c(with({v4_web, v6_web, dns}));
  Rng rng(1);
  for (std::size_t n = 0; n <= Classifier::kMostAtOnce; ++n) {
    std::vector<ParsedPacket> packets;
    for (std::size_t i = 0; i < n; ++i) {
      Shape s{.destination_port = static_cast<std::uint16_t>(rng.next() % 2 == 0   ? 80
                                                             : rng.next() % 2 == 0 ? 53
                                                                                   : 9)};
      if (rng.next() % 2 == 0) {
        s.source = address6({0x20, 1}, 1);
        s.destination = address6({0x20, 1}, 2);
      }
      packets.push_back(packet(s));
    }
    std::vector<const ParsedPacket*> pointers;
    for (const auto& p : packets) pointers.push_back(&p);
    std::vector<std::uint16_t> rules(n, 12345);
    c.match(pointers, 0, rules);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_EQ(rules[i], c.match(packets[i], 0).value_or(Classifier::kNoRule)) << i << " of " << n;
  }
}

TEST(Classifier, KnowsWhichPortsItClassifies) {
  const Classifier named(with({{.port = 1}}));
  EXPECT_FALSE(named.classifies(0));
  EXPECT_TRUE(named.classifies(1));
  const Classifier everyone(with({{}}));
  EXPECT_TRUE(everyone.classifies(0));
  EXPECT_FALSE(everyone.classifies(1));
}

TEST(Classifier, KnowsWhetherTheDscpMatters) {
  EXPECT_FALSE(Classifier(with({{.protocol = kUdp}})).uses_dscp());
  EXPECT_TRUE(Classifier(with({{.protocol = kUdp}, {.dscp = 0}})).uses_dscp());
}

TEST(Classifier, SeveralLiveTogether) {
  const Classifier a(with({{.protocol = kUdp}})), b(with({{.protocol = kTcp}}));
  EXPECT_EQ(a.match(packet({}), 0), std::nullopt);
  EXPECT_EQ(b.match(packet({}), 0), 0);
}

// --- contracts ---

class Contract : public testing::Test {
 protected:
  static FlowKey key(Per per, const Shape& s) {
    return Classifier(with({{}, {}}, per)).contract_key(1, packet(s));
  }
  static IpAddress six(std::uint8_t subnet, std::uint8_t host) {
    return address6({0x20, 1, 0x0d, 0xb8, 0, 0, 0, subnet}, host);
  }
  const Shape a4{}, a6{.source = six(1, 1), .destination = six(2, 1)};
};

TEST_F(Contract, OfARuleCoversEverythingOfBothFamilies) {
  const FlowKey k = key(Per::rule, a4);
  EXPECT_EQ(k.rest, std::uint64_t{6} << 61 | 1) << "class shared, rule 1";
  EXPECT_EQ(key(Per::rule, a6), k);
  EXPECT_EQ(
      key(Per::rule, {.source = address4(1, 2, 3, 4), .protocol = kUdp, .vlan = 9, .dscp = 3, .port = 2}), k);
  const Classifier c(with({{}, {}}));
  EXPECT_NE(c.contract_key(0, packet(a4)), c.contract_key(1, packet(a4)));
}

TEST_F(Contract, OfARuleWithListsIsOne) {
  const Prefix net4{address4(192, 0, 2, 0), 28}, host4{address4(198, 51, 100, 7), 32}, net6{six(1, 0), 64};
  const Classifier c(with({{.source = {net4, host4, net6}}, {.destination = {host4, net6}}, {}}));
  const auto rule = [&](const IpAddress& source, const IpAddress& destination) {
    return c.match(packet({.source = source, .destination = destination}), 0);
  };
  const IpAddress other4 = address4(10, 2, 0, 1), other6 = six(2, 1);
  EXPECT_EQ(rule(address4(192, 0, 2, 15), other4), 0);
  EXPECT_EQ(rule(host4.address, other4), 0);
  EXPECT_EQ(rule(six(1, 9), other6), 0);
  EXPECT_EQ(rule(address4(192, 0, 2, 16), other4), 2);
  EXPECT_EQ(rule(address4(198, 51, 100, 8), host4.address), 1);
  EXPECT_EQ(rule(other6, six(1, 9)), 1);
  EXPECT_EQ(rule(other6, six(3, 9)), 2);
  const FlowKey one = c.contract_key(0, packet({.source = host4.address}));
  EXPECT_EQ(c.contract_key(0, packet({.source = six(1, 9), .destination = other6})), one);
  EXPECT_EQ(c.contract_key(0, packet({.source = net4.address})), one);
}

TEST_F(Contract, OfARuleWithListsGoesOnWhereTheListIsTheSame) {
  const Prefix a{address4(192, 0, 2, 0), 28}, b{address4(198, 51, 100, 7), 32};
  const Classifier before(with({{.source = {a, b}}, {.source = {a}}}));
  const Classifier after(with({{.source = {b}}, {.source = {a, b}}, {.source = {a}}}), &before);
  EXPECT_EQ(after.id(1), before.id(0));
  EXPECT_EQ(after.id(2), before.id(1));
  EXPECT_GT(after.id(0), 1u) << "another one";
}

TEST_F(Contract, OfASource) {
  for (Shape s : {a4, a6}) {
    const FlowKey k = key(Per::source, s);
    EXPECT_EQ(k.v6, s.source.is_v6());
    Shape other = s;
    other.destination.data()[3] ^= 1;
    other.source_port = 7;
    other.vlan = 7;
    other.port = 2;
    EXPECT_EQ(key(Per::source, other), k);
    for (const std::size_t byte : {std::size_t{0}, s.source.is_v6() ? std::size_t{15} : std::size_t{3}}) {
      other = s;
      other.source.data()[byte] ^= 1;
      EXPECT_NE(key(Per::source, other), k) << byte;
    }
  }
}

TEST_F(Contract, OfADestination) {
  for (Shape s : {a4, a6}) {
    const FlowKey k = key(Per::destination, s);
    Shape other = s;
    other.source.data()[3] ^= 1;
    EXPECT_EQ(key(Per::destination, other), k);
    for (const std::size_t byte : {std::size_t{0}, s.source.is_v6() ? std::size_t{15} : std::size_t{3}}) {
      other = s;
      other.destination.data()[byte] ^= 1;
      EXPECT_NE(key(Per::destination, other), k) << byte;
    }
  }
}

TEST_F(Contract, OfAPrefixCoversTheSourcesInIt) {
  for (const Shape& s : {a4, a6}) {
    const unsigned width = s.source.is_v6() ? 128 : 32;
    for (unsigned length = 0; length <= width; ++length) {
      config::Config c = with({{}}, Per::prefix);
      c.rules[0].prefix_v4 = c.rules[0].prefix_v6 = static_cast<std::uint8_t>(length);
      const Classifier classifier(c);
      const auto contract = [&](const Shape& x) { return classifier.contract_key(0, packet(x)); };
      for (unsigned bit = 0; bit < width; ++bit) {
        Shape other = s;
        other.source.data()[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        EXPECT_EQ(contract(other) == contract(s), bit >= length) << "bit " << bit << " of /" << length;
      }
      Shape other = s;
      other.destination.data()[0] ^= 1;
      EXPECT_EQ(contract(other), contract(s));
    }
  }
}

TEST_F(Contract, OfAVlanIsOneOfAPortAndItsOuterTag) {
  const Shape s{.vlan = 100};
  const FlowKey k = key(Per::vlan, s);
  EXPECT_EQ(key(Per::vlan, {.source = six(1, 1), .destination = six(1, 2), .vlan = 100}), k);
  EXPECT_EQ(key(Per::vlan, {.protocol = kIcmp, .vlan = 100}), k);
  EXPECT_NE(key(Per::vlan, {.vlan = 101}), k);
  EXPECT_NE(key(Per::vlan, {.vlan = 100, .port = 2}), k);
  for (std::uint16_t inner = 1; inner < 4095; ++inner)
    EXPECT_EQ(key(Per::vlan, {.vlan = 100, .inner_vlan = inner}), k) << "no rule names " << inner;
}

TEST_F(Contract, HasAnInnerTagThatTheRuleNames) {
  const Classifier c(with({{.vlan = 100, .inner_vlan = 7}, {.vlan = 100}}, Per::vlan));
  const auto contract = [&](std::uint16_t rule, const Shape& s) { return c.contract_key(rule, packet(s)); };
  EXPECT_EQ(contract(0, {.vlan = 100, .inner_vlan = 7}),
            contract(0, {.protocol = kIcmp, .vlan = 100, .inner_vlan = 7}));
  EXPECT_NE(contract(0, {.vlan = 100, .inner_vlan = 7}), contract(0, {.vlan = 100}));
  EXPECT_EQ(contract(1, {.vlan = 100, .inner_vlan = 7}), contract(1, {.vlan = 100}));
}

TEST_F(Contract, OfAPortAsAnInterfaceHasNoTags) {
  const FlowKey k = key(Per::interface, {});
  EXPECT_EQ(key(Per::interface, {.vlan = 100}), k);
  EXPECT_EQ(key(Per::interface, {.vlan = 100, .inner_vlan = 200}), k);
  EXPECT_NE(key(Per::interface, {.port = 2}), k);
}

TEST_F(Contract, OfAnInterfaceHasItsTags) {
  config::Config c = with({{}}, Per::interface);
  c.interfaces.push_back({.name = "home", .port = 0, .vlan = 100, .first_inner = 7, .last_inner = 9});
  for (const Per per : {Per::interface, Per::vlan}) {
    c.rules[0].per = per;
    const Classifier classifier(c);
    const auto contract = [&](std::uint16_t inner) {
      const Interfaces interfaces(c);
      ParsedPacket p = packet({.vlan = 100, .inner_vlan = inner});
      p.interface = interfaces.find(0, 0x8100, 100, inner);
      EXPECT_NE(p.interface, kNoInterface);
      return classifier.contract_key(0, p);
    };
    EXPECT_NE(contract(7), contract(8));
    EXPECT_EQ(contract(7), contract(7));
  }
}

// --- against a naive model ---

bool contains(const Prefix& p, const IpAddress& a) {
  if (p.address.is_v6() != a.is_v6()) return false;
  for (unsigned bit = 0; bit < p.length; ++bit)
    if (((p.address.data()[bit / 8] ^ a.data()[bit / 8]) & (0x80 >> bit % 8)) != 0) return false;
  return true;
}
bool contains(const std::vector<Prefix>& list, const IpAddress& a) {
  const auto has = [&](const Prefix& p) { return contains(p, a); };
  return list.empty() || std::any_of(list.begin(), list.end(), has);
}
bool naive(const Match& m, const Shape& s, const config::Config& c) {
  if (m.port ? *m.port != s.port : c.ports[s.port].trust != Port::Trust::customer) return false;
  if (m.family != Match::Family::any && (m.family == Match::Family::ipv6) != s.source.is_v6()) return false;
  if (m.vlan.value_or(s.vlan) != s.vlan || m.inner_vlan.value_or(s.inner_vlan) != s.inner_vlan) return false;
  if (m.protocol.value_or(s.protocol) != s.protocol || m.dscp.value_or(s.dscp) != s.dscp) return false;
  if (!contains(m.source, s.source) || !contains(m.destination, s.destination)) return false;
  const auto whole = [](const config::PortRange& r) { return r.from == 0 && r.to == 65535; };
  if (whole(m.source_port) && whole(m.destination_port)) return true;
  if (s.fragment || (s.protocol != kTcp && s.protocol != kUdp)) return false;
  return s.source_port >= m.source_port.from && s.source_port <= m.source_port.to &&
         s.destination_port >= m.destination_port.from && s.destination_port <= m.destination_port.to;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : rng_(seed) {}
  std::uint32_t below(std::uint32_t n) { return rng_.next() % n; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  IpAddress address(bool v6) {  // few different bits, so that prefixes and packets meet
    IpAddress a = IpAddress::unspecified(v6);
    for (std::size_t i = 0; i < (v6 ? 16u : 4u); ++i)
      a.data()[i] = one_in(3) ? static_cast<std::uint8_t>(below(4) * 65) : 0;
    return a;
  }
  // Of one family, or of both (0).
  std::vector<Prefix> prefixes(std::uint32_t family) {
    std::vector<Prefix> list(one_in(2) ? 0 : 1 + below(3));
    for (Prefix& p : list) {
      const bool v6 = family == 0 ? one_in(2) : family == 2;
      p = {address(v6), static_cast<std::uint8_t>(below(v6 ? 129 : 33))};
    }
    return list;
  }
  std::uint16_t l4_port() { return static_cast<std::uint16_t>(one_in(5) ? 65535 : below(40) * 50); }
  std::uint8_t protocol() { return std::array{kTcp, kUdp, kIcmp}[below(3)]; }
  config::PortRange range() {
    if (one_in(2)) return {};
    const auto [from, to] = std::minmax({l4_port(), l4_port()});
    return {from, to};
  }
  Match match() {
    Match m;
    const std::uint32_t family = below(3);
    m.family = static_cast<Match::Family>(family);
    m.source = prefixes(family);
    m.destination = prefixes(family);
    if (one_in(3)) m.port = below(3);
    if (one_in(4)) m.vlan = static_cast<std::uint16_t>(below(3));
    if (one_in(6)) m.inner_vlan = static_cast<std::uint16_t>(below(3));
    if (one_in(2)) m.protocol = protocol();
    if (one_in(4)) m.dscp = static_cast<std::uint8_t>(below(3) * 21);
    m.source_port = range();
    m.destination_port = range();
    return m;
  }
  Shape shape() {
    const bool v6 = one_in(2);
    return {.source = address(v6),
            .destination = address(v6),
            .protocol = protocol(),
            .source_port = l4_port(),
            .destination_port = l4_port(),
            .vlan = static_cast<std::uint16_t>(below(3)),
            .inner_vlan = static_cast<std::uint16_t>(below(3)),
            .dscp = static_cast<std::uint8_t>(below(3) * 21),
            .fragment = one_in(5),
            .port = static_cast<std::uint8_t>(below(3))};
  }

 private:
  Rng rng_;
};

class AgainstModel : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AgainstModel, FirstMatch) {
  Random random(GetParam());
  for (int round = 0; round < 5; ++round) {
    std::vector<Match> rules;
    for (std::uint32_t i = 0; i < GetParam(); ++i) rules.push_back(random.match());
    const config::Config config = with(rules);
    const Classifier classifier(config);
    int matched = 0;
    for (int n = 0; n < 2000; ++n) {
      const Shape s = random.shape();
      std::optional<std::uint16_t> expected;
      for (std::size_t i = 0; i < rules.size() && !expected; ++i)
        if (naive(rules[i], s, config)) expected = static_cast<std::uint16_t>(i);
      ASSERT_EQ(classifier.match(packet(s), s.port), expected) << "round " << round << " packet " << n;
      matched += expected.has_value();
    }
    EXPECT_TRUE(GetParam() < 10 || matched > 100) << matched;
  }
}
INSTANTIATE_TEST_SUITE_P(Rules, AgainstModel, testing::Values(1, 2, 10, 30, 100));

}  // namespace
}  // namespace surety
