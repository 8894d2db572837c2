// SPDX-License-Identifier: BSD-3-Clause
// Ethernet and VLAN tags, the golden frames of Scapy, and what must hold of every frame there is.
#include "router/pipeline/wire/headers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "conditioners/rng.h"
#include "router/pipeline/wire/parse_ipv4.h"
#include "router/pipeline/wire/parse_ipv6.h"
#include "router/pipeline/wire/parse_ordinary.h"
#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

using namespace frames;

const Octets kV4 = ip4(17, udp(1, 2, 8)), kV6 = ip6(17, udp(1, 2, 8));

TEST(Headers, Stations) {
  expect_verdicts({
      {"ours", ethernet(kIpv4) + kV4, "forward"},
      {"ours, IPv6", ethernet(kIpv6) + kV6, "forward"},
      {"another's", ethernet(kIpv4, kTheirMac) + kV4, "drop foreign_mac"},
      {"another's, last byte", ethernet(kIpv4, {2, 0, 0, 0, 0, 2}) + kV4, "drop foreign_mac"},
      {"another's, first byte", ethernet(kIpv4, {6, 0, 0, 0, 0, 1}) + kV4, "drop foreign_mac"},
      {"another's ARP", ethernet(kArp, kTheirMac) + zeros(28), "drop foreign_mac"},
      {"unicast in broadcast", ethernet(kIpv4, kBroadcast) + kV4, "drop foreign_mac"},
      {"unicast in multicast", ethernet(kIpv4, kGroupMac) + kV4, "drop foreign_mac"},
      {"unicast in multicast, IPv6", ethernet(kIpv6, {0x33, 0x33, 0, 0, 0, 1}) + kV6, "drop foreign_mac"},
      {"broken in broadcast", ethernet(kIpv4, kBroadcast) + zeros(40), "drop ipv4_version"},
  });
}

TEST(Headers, PromiscuousPortTakesAnyStationsFramesButForwardsNoBroadcast) {
  ParseContext context = our_context();
  context.promiscuous = true;
  EXPECT_EQ(verdict(ethernet(kIpv4, kTheirMac) + kV4, context), "forward");
  EXPECT_EQ(verdict(ethernet(kIpv6, kTheirMac) + kV6, context), "forward");
  EXPECT_EQ(verdict(ethernet(kIpv4, kBroadcast) + kV4, context), "drop foreign_mac");
}

TEST(Headers, Ethertypes) {
  expect_verdicts({
      {"ARP", ethernet(kArp, kBroadcast) + zeros(28), "punt arp"},
      {"ARP too short", ethernet(kArp, kBroadcast) + zeros(27), "drop truncated"},
      {"ARP in a VLAN", ethernet(0x8100) + vlan(9, kArp) + zeros(28), "punt arp"},
      {"LLDP", ethernet(0x88cc, {1, 0x80, 0xc2, 0, 0, 0xe}) + zeros(46), "punt control"},
      {"LACP", ethernet(0x8809, {1, 0x80, 0xc2, 0, 0, 2}) + zeros(46), "punt control"},
      {"802.1X", ethernet(0x888e, {1, 0x80, 0xc2, 0, 0, 3}) + zeros(46), "punt control"},
      {"LLC", ethernet(38, {1, 0x80, 0xc2, 0, 0, 0}) + zeros(46), "punt control"},
      {"LLC, exact", ethernet(46, kGroupMac) + zeros(46), "punt control"},
      {"LLC, too short", ethernet(47, kGroupMac) + zeros(46), "drop truncated"},
      {"LLC, longest", ethernet(1500, kGroupMac) + zeros(1500), "punt control"},
      {"neither length nor type", ethernet(1501, kGroupMac) + zeros(1501), "drop ethertype"},
      {"neither length nor type", ethernet(0x05ff, kGroupMac) + zeros(1600), "drop ethertype"},
      {"MPLS", ethernet(0x8847) + zeros(46), "drop ethertype"},
      {"PPPoE session", ethernet(0x8864) + zeros(46), "drop ethertype"},
      {"loopback test", ethernet(0x9000) + zeros(46), "drop ethertype"},
      {"unknown", ethernet(0xffff) + zeros(46), "drop ethertype"},
      {"empty", {}, "drop truncated"},
      {"13 bytes", Octets(13, 0xff), "drop truncated"},
  });
}

TEST(Headers, VlanTags) {
  struct TagCase {
    Octets frame;
    unsigned vlan, inner_vlan, l3_offset;
  };
  const std::vector<TagCase> cases{
      {ethernet(kIpv4) + kV4, 0, 0, 14},
      {ethernet(0x8100) + vlan(1, kIpv4) + kV4, 1, 0, 18},
      {ethernet(0x88a8) + vlan(0xffff, kIpv4) + kV4, 0xfff, 0, 18},
      {ethernet(0x9100) + vlan(0x2123, kIpv6) + kV6, 0x123, 0, 18},
      {ethernet(0x9200) + vlan(7, 0x8100) + vlan(8, kIpv4) + kV4, 7, 8, 22},
      {ethernet(0x8100) + vlan(0xa000, kIpv4) + kV4, 0, 0, 18},  // priority tag
      {ethernet(0x88a8) + vlan(7, 0x8100) + vlan(8, kIpv4) + kV4, 7, 8, 22},
      {ethernet(0x8100) + vlan(7, 0x8100) + vlan(8, kIpv6) + kV6, 7, 8, 22},
      {ethernet(0x9100) + vlan(7, 0x9100) + vlan(0xb000, kIpv6) + kV6, 7, 0, 22},
  };
  for (const TagCase& c : cases) {
    ParsedPacket p;
    ASSERT_EQ(words(parse_exact(c.frame, p)), "forward");
    EXPECT_EQ(p.vlan, c.vlan);
    EXPECT_EQ(p.inner_vlan, c.inner_vlan);
    EXPECT_EQ(p.l3_offset, c.l3_offset);
    const auto ports = std::uint64_t{0x0200'0100};  // 1 and 2, as loaded
    EXPECT_EQ(p.key.rest, std::uint64_t{2} << 61 | std::uint64_t{3} << 56 |
                              static_cast<std::uint64_t>(c.vlan) << 44 |
                              static_cast<std::uint64_t>(c.inner_vlan) << 32 | ports);
  }
}

TEST(Headers, VlanDepthAndTruncatedTags) {
  const Octets two = ethernet(0x88a8) + vlan(1, 0x8100);
  expect_verdicts({
      {"three", two + vlan(2, 0x8100) + vlan(3, kIpv4) + kV4, "drop vlan_depth"},
      {"three, the last of zero", two + vlan(2, 0x88a8) + vlan(0, kIpv4) + kV4, "drop vlan_depth"},
      {"cut in the second", ethernet(0x88a8) + vlan(1, 0x8100) + Octets{0, 2, 8}, "drop truncated"},
      {"cut behind the second", two + vlan(2, kIpv4), "drop truncated"},
      {"ethertype behind", two + vlan(2, 0x8847) + zeros(46), "drop ethertype"},
  });
}

TEST(Headers, ArpAndControlTellWhereTheyBegin) {
  ParsedPacket p;
  ASSERT_EQ(words(parse_exact(ethernet(0x88a8) + vlan(5, 0x8100) + vlan(6, kArp) + zeros(28), p)),
            "punt arp");
  EXPECT_EQ(p.l3_offset, 22);
  EXPECT_EQ(p.vlan, 5);
  EXPECT_EQ(p.inner_vlan, 6);
}

// --- golden frames ---

struct Golden {
  std::string name, outcome;
  std::map<std::string, unsigned> fields;
  Octets frame;
};

std::string trimmed(const std::string& s) {
  const auto first = s.find_first_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

Golden read_golden(const std::string& line) {
  std::istringstream in(line);
  std::string fields, hex, field;
  Golden g;
  std::getline(in, g.name, '|');
  std::getline(in, g.outcome, '|');
  std::getline(in, fields, '|');
  std::getline(in, hex);
  g.name = trimmed(g.name);
  g.outcome = trimmed(g.outcome);
  hex = trimmed(hex);
  for (std::istringstream words(fields); words >> field;) {
    const auto equals = field.find('=');
    g.fields[field.substr(0, equals)] = static_cast<unsigned>(std::stoul(field.substr(equals + 1)));
  }
  for (std::size_t i = 0; i < hex.size(); i += 2)
    g.frame.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return g;
}

const std::vector<Golden>& golden() {
  static const std::vector<Golden> all = [] {
    std::vector<Golden> read;
    std::ifstream file(SURETY_SOURCE_DIR "/tests/unit/router/pipeline/wire/headers_golden.hex");
    for (std::string line; std::getline(file, line);)
      if (!line.starts_with('#')) read.push_back(read_golden(line));
    return read;
  }();
  return all;
}

TEST(HeadersGolden, OutcomeAndFieldsAreScapys) {
  ASSERT_EQ(golden().size(), 40u);
  for (const Golden& g : golden()) {
    SCOPED_TRACE(g.name);
    ParsedPacket p;
    EXPECT_EQ(words(parse_exact(g.frame, p)), g.outcome);
    if (g.outcome.starts_with("drop") || g.fields.empty()) continue;
    const std::map<std::string, unsigned> seen{{"length", p.length},    {"l3", p.l3_offset},
                                               {"l4", p.l4_offset},     {"protocol", p.protocol},
                                               {"vlan", p.vlan},        {"inner", p.inner_vlan},
                                               {"tc", p.traffic_class}, {"ttl", p.ttl},
                                               {"v6", unsigned{p.v6}},  {"fragment", unsigned{p.fragment}}};
    EXPECT_EQ(seen, g.fields);
    EXPECT_EQ(p.key.v6, p.v6);
  }
}

TEST(HeadersGolden, EveryPrefixOfAnIpPacketIsDropped) {
  for (const Golden& g : golden()) {
    if (g.fields.empty()) continue;
    for (std::size_t size = 0; size < g.frame.size(); ++size) {
      const std::string v = verdict({g.frame.begin(), g.frame.begin() + static_cast<std::ptrdiff_t>(size)});
      EXPECT_TRUE(v.starts_with("drop")) << g.name << " cut to " << size << ": " << v;
    }
  }
}

TEST(HeadersGolden, PaddingBehindThePacketChangesNothing) {
  for (const Golden& g : golden()) {
    ParsedPacket bare, padded;
    const std::string v = words(parse_exact(g.frame, bare));
    EXPECT_EQ(words(parse_exact(g.frame + Octets(20, 0xaa), padded)), v) << g.name;
    EXPECT_EQ(padded.length, bare.length) << g.name;
    EXPECT_EQ(padded.key, bare.key) << g.name;
  }
}

// --- what holds of every frame ---

bool same(const ParsedPacket& a, const ParsedPacket& b) {
  return a.key == b.key && a.length == b.length && a.vlan == b.vlan && a.inner_vlan == b.inner_vlan &&
         a.l4_offset == b.l4_offset && a.l3_offset == b.l3_offset && a.protocol == b.protocol &&
         a.traffic_class == b.traffic_class && a.ttl == b.ttl && a.v6 == b.v6 && a.fragment == b.fragment;
}

// Untagged frames to us: the straight line must be indistinguishable from the complete parser.
void expect_general_agrees(const Octets& frame, const std::string& fast, const ParsedPacket& fast_out) {
  if (frame.size() < 34 || !std::equal(kOurMac.begin(), kOurMac.end(), frame.begin())) return;
  const unsigned type = load_be16(&frame[12]);
  if (type != kIpv4 && type != kIpv6) return;
  const detail::Frame f{frame.data(), frame.size(), 14};
  ParsedPacket out;
  const ParseOutcome general = type == kIpv4 ? detail::parse_ipv4_general(f, our_context(), out)
                                             : detail::parse_ipv6_general(f, our_context(), out);
  ASSERT_EQ(words(general), fast);
  if (general.drop == DropReason::none) {
    ASSERT_TRUE(same(out, fast_out));
  }
}

// What the straight line for frames with tags takes, the complete parser takes as well, and the same. Whether
// it took it.
bool expect_tagged_agrees(const Octets& frame, const ParseOutcome& complete, const ParsedPacket& p) {
  ParsedPacket q;
  const auto ours = [](auto...) { return our_context().port; };
  if (!OrdinaryParser(our_context()).tagged(frame.data(), frame.size(), q, ours)) return false;
  EXPECT_TRUE(complete.forwards() && same(p, q));
  return true;
}

// An interface below an old outer tag is as fast as others.
TEST(Headers, OrdinaryPacketsBehindOldTagsTakeTheStraightLine) {
  for (const std::uint16_t protocol : kTagProtocols) {
    const Octets frame = ethernet(protocol) + vlan(7, 0x8100) + vlan(8, kIpv4) + kV4;
    ParsedPacket p;
    const ParseOutcome outcome = parse_exact(frame, p);
    EXPECT_TRUE(expect_tagged_agrees(frame, outcome, p)) << protocol;
  }
  const Octets other = ethernet(0x9300) + vlan(7, kIpv4) + kV4;
  ParsedPacket p;
  EXPECT_FALSE(expect_tagged_agrees(other, parse_exact(other, p), p));
}

void expect_within(const Octets& frame, const ParsedPacket& p) {
  ASSERT_LE(p.l3_offset, 22);
  ASSERT_LE(p.l3_offset + p.length, frame.size());
  ASSERT_GE(p.l4_offset, p.l3_offset + (p.v6 ? 40 : 20));
  ASSERT_LE(p.l4_offset, p.l3_offset + p.length);
}

// Up to three bytes changed, most often within the headers; sometimes with the checksum put right again, else
// hardly any IPv4 mutant would come past it.
Octets mutant(Octets frame, Rng& rng) {
  for (std::uint32_t n = 1 + rng.next() % 3; n > 0; --n)
    frame[12 + rng.next() % (frame.size() - 12)] =
        static_cast<std::uint8_t>(rng.next() & 1 ? rng.next() : rng.next() % 9);
  const std::size_t header = (frame[14] & 0xfu) * std::size_t{4};
  if (load_be16(&frame[12]) == kIpv4 && header >= 20 && 14 + header <= frame.size() && (rng.next() & 3) != 0)
    fix_checksum(&frame[14]);
  if (rng.next() % 8 == 0) frame.resize(rng.next() % frame.size());
  return frame;
}

TEST(HeadersProperties, MutantsOfGoldenFrames) {
  Rng rng(20261120);
  std::map<std::string, unsigned> seen;
  unsigned tagged = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    for (const Golden& g : golden()) {
      const Octets frame = mutant(g.frame, rng);
      ParsedPacket p;
      const ParseOutcome outcome = parse_exact(frame, p);
      const std::string v = words(outcome);
      ++seen[v];
      ASSERT_TRUE(outcome.drop == DropReason::none || outcome.punt == PuntReason::none);
      if (outcome.forwards()) expect_within(frame, p);
      expect_general_agrees(frame, v, p);
      tagged += expect_tagged_agrees(frame, outcome, p);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tagged, 100u);
  // Mutation reaches everything that parse() can say.
  for (std::size_t r = 0; r < static_cast<std::size_t>(DropReason::no_kernel_peer); ++r)
    EXPECT_GT(seen["drop " + std::string(kDropReasonInfo[r].name)], 0u) << kDropReasonInfo[r].name;
  for (const char* punt : {"arp", "multicast", "neighbor_discovery", "dhcp", "link_local", "control"})
    EXPECT_GT(seen["punt " + std::string(punt)], 0u) << punt;
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(DropReason::no_kernel_peer) + 6 + 1);
}

}  // namespace
}  // namespace surety
