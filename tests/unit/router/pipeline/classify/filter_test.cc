// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/filter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

// An entry says what it constrains; the rest of a Match stays open.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace surety {
namespace {

using namespace frames;
using config::FilterEntry;
using config::Match;

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kFragment = 44, kDccp = 33, kAuthentication = 51,
                       kDestinationOptions = 60, kSctp = 132;

FilterEntry permit(const Match& m, const std::string& name = "") {
  return {true, m, name};
}
FilterEntry deny(const Match& m, const std::string& name = "") {
  return {false, m, name};
}
Filter filter(std::vector<FilterEntry> entries) {
  return Filter({"f", std::move(entries)});
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

// Through the parser; the port has any MAC address.
ParsedPacket parsed(const Octets& frame) {
  ParsedPacket p;
  EXPECT_TRUE(parse(frame, {.mac = kOurMac}, p).forwards());
  return p;
}
std::uint32_t entry(const Filter& f, const Octets& frame) {
  const ParsedPacket header = parsed(frame);
  const FilteredPacket packet{&header, frame.data()};
  std::uint32_t found = 12345;
  f.match({&packet, 1}, {&found, 1});
  return found;
}
bool passes(const Filter& f, const Octets& frame) {
  return f.verdict(entry(f, frame)).permit != 0;
}

Octets v4(std::uint8_t protocol, const Octets& payload, const V4& h = {}) {
  return ethernet(kIpv4) + ip4(protocol, payload, h);
}
Octets v6(std::uint8_t next, const Octets& payload, const V6& h = {}) {
  return ethernet(kIpv6) + ip6(next, payload, h);
}
// Bytes of a datagram from `offset` on, a multiple of eight.
Octets fragment4(std::uint8_t protocol, const Octets& payload, std::size_t offset, bool more = true) {
  return v4(protocol, payload, {.place = static_cast<std::uint16_t>(offset / 8 | (more ? 0x2000 : 0))});
}
Octets fragment6(std::uint8_t protocol, const Octets& payload, std::size_t offset, bool more = true) {
  return v6(kFragment, Octets{protocol, 0} + be16(offset | (more ? 1 : 0)) + be32(7) + payload);
}

TEST(Filter, WithoutEntriesDeniesEverything) {
  const Filter f = filter({});
  EXPECT_EQ(entry(f, v4(kUdp, udp(1, 2, 0))), 0u) << "the end";
  EXPECT_FALSE(passes(f, v4(kUdp, udp(1, 2, 0))));
  EXPECT_FALSE(passes(f, v6(kUdp, udp(1, 2, 0))));
}

TEST(Filter, TheFirstEntryThatMatchesDecides) {
  const Filter f = filter({deny({.destination_port = {22, 22}}), permit({.protocol = kTcp}),
                           permit({.source = {prefix("10.1.0.0/16")}}), deny({.protocol = kUdp})});
  EXPECT_EQ(entry(f, v4(kTcp, tcp(1, 22, 0))), 0u);
  EXPECT_EQ(entry(f, v4(kTcp, tcp(1, 80, 0))), 1u);
  EXPECT_EQ(entry(f, v4(kUdp, udp(1, 80, 0))), 2u);
  EXPECT_EQ(entry(f, v4(kUdp, udp(1, 80, 0), {.source = 0x0a020009})), 3u);
  EXPECT_EQ(entry(f, v4(kIcmp, zeros(8), {.source = 0x0a020009})), 4u) << "none";
  EXPECT_EQ(entry(f, v6(kTcp, tcp(1, 22, 0))), 0u);
  EXPECT_EQ(entry(f, v6(kUdp, udp(1, 22, 0))), 0u);
  EXPECT_EQ(entry(f, v6(kUdp, udp(1, 23, 0))), 3u);
  EXPECT_FALSE(passes(f, v4(kTcp, tcp(1, 22, 0))));
  EXPECT_TRUE(passes(f, v4(kTcp, tcp(1, 80, 0))));
  EXPECT_FALSE(passes(f, v4(kIcmp, zeros(8), {.source = 0x0a020009})));
}

TEST(Filter, TagsAndDscpAreLookedAt) {
  const Filter f = filter({permit({.vlan = 7}), permit({.dscp = 46})});
  EXPECT_TRUE(passes(f, ethernet(0x8100) + vlan(7, kIpv4) + ip4(kUdp, udp(1, 2, 0))));
  EXPECT_FALSE(passes(f, ethernet(0x8100) + vlan(8, kIpv4) + ip4(kUdp, udp(1, 2, 0))));
  EXPECT_TRUE(passes(f, v4(kUdp, udp(1, 2, 0), {.tos = 46 << 2 | 1})));
  EXPECT_TRUE(passes(f, v6(kUdp, udp(1, 2, 0), {.traffic_class = 46 << 2})));
  EXPECT_FALSE(passes(f, v6(kUdp, udp(1, 2, 0), {.traffic_class = 45 << 2})));
}

TEST(Filter, KnowsWhetherAFlowKeyTellsAllThatItLooksAt) {
  EXPECT_FALSE(filter({permit({.vlan = 7, .protocol = kTcp}), deny({})}).each_packet());
  EXPECT_TRUE(filter({permit({.vlan = 7}), deny({.dscp = 0}), permit({})}).each_packet());
}

// --- fragments ---

// Permits the web, and nothing else of TCP; all of UDP but DNS; then whatever is no ICMP.
class Fragments : public testing::TestWithParam<bool> {
 protected:
  static Octets fragment(std::uint8_t protocol, const Octets& payload, std::size_t offset, bool more = true) {
    return GetParam() ? fragment6(protocol, payload, offset, more)
                      : fragment4(protocol, payload, offset, more);
  }
  const Filter f_ = filter({permit({.protocol = kTcp, .destination_port = {80, 80}}),
                            deny({.protocol = kTcp}), deny({.destination_port = {53, 53}}),
                            permit({.protocol = kUdp}), deny({.protocol = kIcmp}), permit({})});
};
INSTANTIATE_TEST_SUITE_P(Families, Fragments, testing::Bool());

TEST_P(Fragments, TheFirstOneHasPorts) {
  EXPECT_EQ(entry(f_, fragment(kTcp, tcp(9, 80, 4), 0)), 0u);
  EXPECT_EQ(entry(f_, fragment(kTcp, tcp(9, 81, 4), 0)), 1u);
  EXPECT_EQ(entry(f_, fragment(kTcp, tcp(80, 9, 4), 0)), 1u);
  EXPECT_EQ(entry(f_, fragment(kUdp, udp(9, 53, 8), 0)), 2u);
  EXPECT_EQ(entry(f_, fragment(kUdp, udp(53, 9, 8), 0)), 3u);
}

TEST_P(Fragments, AnEntryThatPermitsByPortsMatchesALaterOne) {
  EXPECT_EQ(entry(f_, fragment(kTcp, zeros(8), 16)), 0u);
  EXPECT_EQ(entry(f_, fragment(kTcp, zeros(8), 1480, false)), 0u);
  const Filter narrow = filter({permit({.vlan = 7, .destination_port = {80, 80}})});
  EXPECT_FALSE(passes(narrow, fragment(kTcp, zeros(8), 16))) << "if everything else does";
}

TEST_P(Fragments, AnEntryThatDeniesByPortsDoesNotMatchALaterOne) {
  EXPECT_EQ(entry(f_, fragment(kUdp, zeros(8), 16)), 3u);
  EXPECT_EQ(entry(filter({deny({.source_port = {1, 65535}}), permit({})}), fragment(kUdp, zeros(8), 8)), 1u);
  EXPECT_EQ(entry(filter({deny({.protocol = kUdp}), permit({})}), fragment(kUdp, zeros(8), 8)), 0u)
      << "of the protocol it is known";
}

// What looks like ports in the middle of a datagram is not.
TEST_P(Fragments, BytesOfALaterOneAreNoPorts) {
  const Filter f = filter({deny({.destination_port = {53, 53}}), permit({})});
  EXPECT_TRUE(passes(f, fragment(kUdp, udp(9, 53, 0), 8)));
  EXPECT_FALSE(passes(filter({permit({.protocol = kIcmp, .destination_port = {0, 65534}})}),
                      fragment(kIcmp, zeros(8), 8)))
      << "ICMP has no ports, in no fragment";
  EXPECT_FALSE(passes(filter({permit({.protocol = kIcmp, .destination_port = {0, 65534}})}),
                      fragment(kIcmp, zeros(8), 0)));
}

TEST_P(Fragments, WithoutItsPortsAFirstOneIsWhatAnybodyDenies) {
  for (const std::uint8_t protocol : {kDccp, kSctp}) {
    EXPECT_FALSE(
        passes(filter({deny({.destination_port = {53, 53}}), permit({})}), fragment(protocol, zeros(3), 0)));
    EXPECT_FALSE(passes(filter({deny({.protocol = kTcp}), permit({})}), fragment(protocol, zeros(3), 0)));
    EXPECT_FALSE(passes(filter({permit({.destination_port = {0, 65534}})}), fragment(protocol, zeros(3), 0)));
    EXPECT_FALSE(passes(filter({permit({.protocol = protocol})}), fragment(protocol, zeros(3), 0)));
    EXPECT_TRUE(passes(filter({permit({})}), fragment(protocol, zeros(3), 0)));
    EXPECT_TRUE(passes(filter({permit({.protocol = protocol, .destination_port = {53, 53}})}),
                       fragment(protocol, be16(9) + be16(53), 0)));
  }
}

TEST(Filter, AnAtomicFragmentIsAWholePacket) {
  const Filter f = filter({permit({.destination_port = {80, 80}})});
  EXPECT_TRUE(passes(f, fragment6(kTcp, tcp(9, 80, 0), 0, false)));
  EXPECT_FALSE(passes(f, fragment6(kTcp, tcp(9, 81, 0), 0, false)));
}

// Options between the fragment header and TCP: other fragments of it could bring other ports.
TEST(Filter, WhatAnIPv6FragmentHidesBehindAHeaderIsWhatAnybodyDenies) {
  const Octets options = Octets{kTcp, 0, 1, 4, 0, 0, 0, 0};
  for (const std::uint8_t next : {kDestinationOptions, kAuthentication})
    for (const std::size_t offset : {0u, 8u, 16u}) {
      const Octets frame = fragment6(next, options + tcp(9, 80, 4), offset);
      EXPECT_EQ(entry(filter({deny({.protocol = kTcp}), permit({})}), frame), 0u);
      EXPECT_EQ(entry(filter({deny({.destination_port = {22, 22}}), permit({})}), frame), 0u);
      EXPECT_EQ(entry(filter({permit({.protocol = kTcp}), permit({.destination_port = {80, 80}}),
                              permit({.protocol = next})}),
                      frame),
                3u);
      EXPECT_EQ(
          entry(filter({deny({.source = {prefix("2001:db9::/32")}, .protocol = kTcp}), permit({})}), frame),
          1u)
          << "who cannot be meant is not";
      EXPECT_TRUE(passes(filter({permit({.protocol = kFragment})}), frame));
    }
}

// --- counters ---

TEST(Filter, CountersHaveNamesOrNumbers) {
  const Filter f = filter({permit({.protocol = kTcp}), deny({.protocol = kUdp}, "no-udp"), permit({})});
  using Counter = Filter::Counter;
  EXPECT_THAT(f.counters(), testing::ElementsAre(Counter{"1", true}, Counter{"no-udp", false},
                                                 Counter{"3", true}, Counter{"default", false}));
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(f.verdict(i).counter, i);
}

TEST(Filter, EntriesOfOneNameThatDoTheSameShareACounter) {
  const Filter f =
      filter({permit({.protocol = kTcp}, "web"), deny({}, "web"), permit({}, "web"), deny({}, "default")});
  using Counter = Filter::Counter;
  EXPECT_THAT(f.counters(),
              testing::ElementsAre(Counter{"web", true}, Counter{"web", false}, Counter{"default", false}));
  EXPECT_EQ(f.verdict(0).counter, 0u);
  EXPECT_EQ(f.verdict(1).counter, 1u);
  EXPECT_EQ(f.verdict(2).counter, 0u);
  EXPECT_EQ(f.verdict(3).counter, 2u);
  EXPECT_EQ(f.verdict(4).counter, 2u);
}

// --- against a naive model ---

struct Seen {
  ParsedPacket header;
  Octets frame;
};

bool inside(const config::PortRange& r, std::size_t at, const Seen& s) {
  const std::size_t port = s.frame[s.header.l4_offset + at] * 256u + s.frame[s.header.l4_offset + at + 1];
  return port >= r.from && port <= r.to;
}

bool contains(const std::vector<Prefix>& list, const IpAddress& a) {
  const auto has = [&](const Prefix& p) { return p.contains(a); };
  return list.empty() || std::any_of(list.begin(), list.end(), has);
}

bool naive(const FilterEntry& e, const Seen& s, bool later) {
  const Match& m = e.match;
  const ParsedPacket& h = s.header;
  if (m.family != Match::Family::any && (m.family == Match::Family::ipv6) != h.v6) return false;
  if (!contains(m.source, source_of(h.key))) return false;
  if (!contains(m.destination, destination_of(h.key))) return false;
  const bool by_ports = m.destination_port != config::PortRange{};
  if (h.protocol == kDestinationOptions) return e.permit ? !m.protocol && !by_ports : true;
  if (m.protocol.value_or(h.protocol) != h.protocol) return false;
  if (!by_ports) return true;
  if (h.protocol != kTcp && h.protocol != kUdp) return false;
  return later ? e.permit : inside(m.destination_port, 2, s);
}

class Random {
 public:
  std::uint32_t below(std::uint32_t n) { return rng_.next() % n; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::uint16_t port() { return static_cast<std::uint16_t>(below(6) * 10); }
  FilterEntry entry() {
    FilterEntry e{one_in(2)};
    if (one_in(2)) {
      const bool v6 = one_in(2);
      e.match.family = v6 ? Match::Family::ipv6 : Match::Family::ipv4;
      for (std::uint32_t i = 0; !v6 && i <= below(3); ++i)
        e.match.source.push_back({IpAddress::v4(10, 1, static_cast<std::uint8_t>(below(4)), 0),
                                  static_cast<std::uint8_t>(22 + below(11))});
    }
    if (one_in(2)) e.match.protocol = std::array{kTcp, kUdp, kIcmp}[below(3)];
    if (one_in(2)) {
      const auto [from, to] = std::minmax({port(), port()});
      e.match.destination_port = {from, to};
    }
    return e;
  }
  Seen packet(bool& later) {
    const std::uint8_t protocol = std::array{kTcp, kUdp, kIcmp}[below(3)];
    const Octets payload = protocol == kTcp   ? tcp(port(), port(), 12)
                           : protocol == kUdp ? udp(port(), port(), 12)
                                              : zeros(16);
    const bool fragment = one_in(2);
    later = fragment && one_in(2);
    const std::size_t offset = later ? 64 : 0;
    Seen s;
    if (one_in(2))
      s.frame = !fragment ? v6(protocol, payload)
                          : fragment6(one_in(4) ? kDestinationOptions : protocol, payload, offset);
    else
      s.frame = v4(protocol, payload,
                   {.source = 0x0a010000u + below(4) * 256 + below(3),
                    .place = static_cast<std::uint16_t>(fragment ? offset / 8 | 0x2000 : 0)});
    s.header = parsed(s.frame);
    return s;
  }

 private:
  Rng rng_{1};
};

TEST(Filter, AgainstANaiveModelManyAtOnce) {
  Random random;
  for (const std::uint32_t size : {1u, 3u, 10u, 50u, 200u}) {
    std::vector<FilterEntry> entries;
    for (std::uint32_t i = 0; i < size; ++i) entries.push_back(random.entry());
    const Filter f = filter(entries);
    for (std::size_t n = 0; n <= Filter::kMostAtOnce; ++n) {
      std::vector<Seen> seen(n);
      std::vector<FilteredPacket> packets;
      std::vector<std::uint32_t> expected;
      for (Seen& s : seen) {
        bool later = false;
        s = random.packet(later);
        packets.push_back({&s.header, s.frame.data()});
        expected.push_back(0);
        while (expected.back() < size && !naive(entries[expected.back()], s, later)) ++expected.back();
      }
      std::vector<std::uint32_t> found(n, 12345);
      f.match(packets, found);
      EXPECT_EQ(found, expected) << n << " packets, " << size << " entries";
    }
  }
}

// What differs in too many fields for one table is looked for in several.
TEST(Filter, TheFirstOfManyThatDifferInManyFields) {
  std::vector<FilterEntry> entries;
  for (std::uint32_t i = 0; i < 1'500; ++i) {
    FilterEntry& e = entries.emplace_back(deny({.source = {prefix("10.7.0.0/16")}}));
    if ((i & 1) != 0) e.match.destination = {prefix("10.8.0.0/16")};
    if ((i & 2) != 0) e.match.protocol = kUdp;
    if ((i & 4) != 0) e.match.source_port = {9, 9};
    if ((i & 8) != 0) e.match.destination_port = {9, 9};
    if ((i & 16) != 0) e.match.dscp = std::uint8_t{1};
    if ((i & 32) != 0) e.match.vlan = std::uint16_t{1};
  }
  for (const std::uint32_t at : {10u, 999u, 1'000u, 1'499u}) {
    auto with = entries;
    with[at] = permit({.protocol = kTcp, .destination_port = {80, 80}});
    with.back() = at == 1'499 ? with.back() : permit({.protocol = kTcp});
    const Filter f = filter(with);
    EXPECT_EQ(entry(f, v4(kTcp, tcp(1, 80, 0))), at);
    EXPECT_EQ(entry(f, v4(kTcp, tcp(1, 81, 0))), at == 1'499 ? 1'500u : 1'499u);
    EXPECT_EQ(entry(f, v4(kUdp, udp(1, 80, 0), {.source = 0x0a070001})), 0u);
  }
}

// As long as an access list of addresses gets.
TEST(Filter, TenThousandEntries) {
  std::vector<FilterEntry> entries;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const auto b = static_cast<std::uint8_t>(i >> 8), c = static_cast<std::uint8_t>(i);
    entries.push_back({i % 3 != 0, {.source = {Prefix{IpAddress::v4(10, b, c, 0), 24}}}});
    if (i % 2 == 0) entries.back().match.destination_port = {80, 443};
  }
  const Filter f = filter(entries);
  for (const std::uint32_t i : {0u, 1u, 4'711u, 9'999u}) {
    const V4 from{.source = 0x0a000001 + (i << 8)};
    EXPECT_EQ(entry(f, v4(kUdp, udp(1, 100, 0), from)), i);
    EXPECT_EQ(entry(f, v4(kUdp, udp(1, 79, 0), from)), i % 2 == 0 ? 10'000 : i);
  }
  EXPECT_EQ(entry(f, v4(kUdp, udp(1, 100, 0), {.source = 0x0a000001 + (10'000 << 8)})), 10'000u);
}

}  // namespace
}  // namespace surety
