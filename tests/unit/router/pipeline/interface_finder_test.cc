// SPDX-License-Identifier: BSD-3-Clause
// Interfaces in the pipeline: whose a frame is, by its tags, and with which it leaves.
#include "router/pipeline/interface_finder.h"

#include <array>
#include <memory>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace frames;
using test::Udp;

const std::string kYaml = R"(
version: 1
ports:
  lan0: {addresses: 10.1.0.254/16, source_check: off}
  wan0: {trust: core, addresses: 10.2.0.254/16}
interfaces:
  acme: {port: lan0, vlan: 107, mtu: 1000, addresses: 10.7.0.1/24, source_check: SOURCES}
  globex: {port: lan0, vlan: 100, inner_vlan: 8, vlan_protocol: 802.1ad, source_check: SOURCES}
  homes: {port: lan0, vlan: 200, inner_vlan: 1-9, addresses: 10.8.0.1/24, source_check: SOURCES}
  core: {port: wan0, vlan: 300, source_check: SOURCES}
pcp: {5: [EF], 3: [AF11, AF12]}
services:
  gold: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 10 packets, out_bucket: 1 packets, mark: {in: AF11, out: AF12}}
  ef: {conditioner: none, mark: {in: EF}}
classify:
  - {match: {interface: homes}, service: gold, per: interface}
  - {match: {interface: acme}, service: ef}
)";

std::string yaml(const std::string& sources = "off") {
  std::string text = kYaml;
  for (std::size_t at; (at = text.find("SOURCES")) != text.npos;) text.replace(at, 7, sources);
  return text;
}

struct Bed : test::DataPlane {
  explicit Bed(const std::string& text = yaml(), const test::Kernel& kernel = {}) : DataPlane(text, kernel) {}
  InterfaceIndex index(std::size_t definition, std::size_t member = 0) const {
    return static_cast<InterfaceIndex>(snapshot.interfaces->of_definition(definition) + member);
  }
};

constexpr std::uint32_t kHome = 0x0a080005, kAcme = 0x0a070002, kOut = 0x0a020001;

Octets tagged(const Octets& tags, const Octets& ip, PortIndex port = 0) {
  return ethernet(static_cast<std::uint16_t>(tags[0] << 8 | tags[1]), test::port_mac(port)) +
         Octets(tags.begin() + 2, tags.end()) + be16(kIpv4) + ip;
}
Octets tag(std::uint16_t protocol, unsigned tci) {
  return be16(protocol) + be16(tci);
}
Octets packet(std::uint32_t source = kHome, std::uint32_t destination = kOut, std::uint8_t tos = 0,
              std::size_t length = 20, std::uint8_t flags = 0) {
  Octets ip = ip4(17, udp(1000, 5001, length), {source, destination, 0, tos, 64, {}});
  if (flags != 0) {
    ip[6] = flags;
    fix_checksum(ip.data());
  }
  return ip;
}

TEST(InterfacesInThePipeline, OtherTagsAreNobodys) {
  Bed d;
  d.route("10.2.0.0/16", {test::ready(1)});
  const auto fate = [&](const Octets& tags, PortIndex port = 0) {
    return d.fate(tagged(tags, packet(), port), port);
  };
  const auto q = [](unsigned tci) { return tag(0x8100, tci); };
  const auto s = [](unsigned tci) { return tag(0x88a8, tci); };
  EXPECT_EQ(fate(q(107)), "to 1");
  EXPECT_EQ(fate(q(108)), "drop vlan_unknown");
  EXPECT_EQ(fate(s(107)), "drop vlan_unknown") << "another protocol";
  EXPECT_EQ(fate(s(100) + q(8)), "to 1");
  EXPECT_EQ(fate(q(100) + q(8)), "drop vlan_unknown");
  EXPECT_EQ(fate(s(100) + s(8)), "drop vlan_unknown") << "an inner tag of another protocol";
  EXPECT_EQ(fate(s(100)), "drop vlan_unknown");
  EXPECT_EQ(fate(q(200) + q(9)), "to 1");
  EXPECT_EQ(fate(q(200) + q(10)), "drop vlan_unknown");
  EXPECT_EQ(fate(q(107), 1), "drop vlan_unknown") << "another port's";
  EXPECT_EQ(fate(q(0xa000)), "to 1") << "a priority, no tag";
  EXPECT_EQ(fate(q(0xa000 | 107)), "to 1") << "a tag with a priority";
  EXPECT_EQ(fate(q(0xa000) + q(107)), "drop vlan_unknown") << "a priority before a tag";
  EXPECT_EQ(fate(q(107) + q(0xa000)), "to 1") << "a priority behind a tag";
  EXPECT_EQ(fate(s(100) + q(8) + q(1)), "drop vlan_depth");
  d.expect_law();
}

TEST(InterfacesInThePipeline, WhatLeavesHasTheTagsOfItsInterface) {
  Bed d;
  d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
  d.route("10.8.0.5/32", {test::ready_by(0, *d.current->interfaces, d.index(2, 7))});
  d.route("10.9.0.0/16", {test::ready_by(0, *d.current->interfaces, d.index(1))});
  const auto leaves = [&](std::uint32_t to, std::uint8_t tos) {
    EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, to, tos), 1), "to 0");
    const Octets frame = d.transmit(0).at(0);
    const MacAddress station = test::neighbor_mac(1);
    EXPECT_TRUE(std::ranges::equal(station, Octets(frame.begin(), frame.begin() + 6)));
    return Octets(frame.begin() + 12, frame.end() - 48);
  };
  EXPECT_EQ(leaves(kAcme, 0), tag(0x8100, 107) + be16(kIpv4));
  EXPECT_EQ(leaves(kAcme, 46 << 2), tag(0x8100, 5u << 13 | 107) + be16(kIpv4));
  EXPECT_EQ(leaves(kHome, 10 << 2), tag(0x8100, 3u << 13 | 200) + tag(0x8100, 3u << 13 | 7) + be16(kIpv4));
  EXPECT_EQ(leaves(0x0a090001, 0), tag(0x88a8, 100) + tag(0x8100, 8) + be16(kIpv4));
  d.expect_law();
}

// Devices older than 802.1ad: 0x9100 and 0x9200 outside, 0x8100 inside.
TEST(InterfacesInThePipeline, TheOuterTagMayHaveAnOldProtocol) {
  for (const char* device : {"", "device: af_packet lan0, "})
    for (const std::uint16_t protocol : {std::uint16_t{0x9100}, std::uint16_t{0x9200}}) {
      const std::string word = protocol == 0x9100 ? "'0x9100'" : "'0x9200'";
      Bed d(std::string("version: 1\nports:\n  lan0: {") + device +
            "addresses: 10.1.0.254/16, source_check: off}\n"
            "  wan0: {trust: core, addresses: 10.2.0.254/16}\ninterfaces:\n"
            "  one: {port: lan0, vlan: 7, vlan_protocol: " +
            word +
            ", source_check: off}\n"
            "  two: {port: lan0, vlan: 8, inner_vlan: 9, vlan_protocol: " +
            word +
            ", source_check: off}\n"
            "  ad: {port: lan0, vlan: 10, vlan_protocol: 802.1ad, source_check: off}\n"
            "pcp: {5: [EF]}\n");
      d.route("10.2.0.0/16", {test::ready(1)});
      d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
      d.route("10.9.0.0/16", {test::ready_by(0, *d.current->interfaces, d.index(1))});
      const auto fate = [&](const Octets& tags) { return d.fate(tagged(tags, packet())); };
      EXPECT_EQ(fate(tag(protocol, 7)), "to 1");
      EXPECT_EQ(fate(tag(protocol, 0xa007)), "to 1") << "with a priority";
      EXPECT_EQ(fate(tag(0x8100, 7)), "drop vlan_unknown");
      EXPECT_EQ(fate(tag(0x88a8, 7)), "drop vlan_unknown");
      EXPECT_EQ(fate(tag(protocol, 8) + tag(0x8100, 9)), "to 1");
      EXPECT_EQ(fate(tag(protocol, 8) + tag(protocol, 9)), "drop vlan_unknown") << "an inner tag of it";
      EXPECT_EQ(fate(tag(protocol, 10)), "drop vlan_unknown") << "802.1ad's, which no kernel has removed";
      EXPECT_EQ(fate(tag(0x9300, 7)), "drop ethertype");
      const auto leaves = [&](std::uint32_t to, std::uint8_t tos) {
        EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, to, tos), 1), "to 0");
        const Octets frame = d.transmit(0).at(0);
        return Octets(frame.begin() + 12, frame.end() - 48);
      };
      d.transmit(1);
      EXPECT_EQ(leaves(kAcme, 46 << 2), tag(protocol, 5u << 13 | 7) + be16(kIpv4));
      EXPECT_EQ(leaves(0x0a090001, 0), tag(protocol, 8) + tag(0x8100, 9) + be16(kIpv4));
      d.expect_law();
    }
}

TEST(InterfacesInThePipeline, AnInterfaceHasAnMtuOfItsOwn) {
  Bed d(yaml(), {.peers = {KernelPeer::twin, KernelPeer::twin}, .ring = 64});
  d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
  d.route("10.9.0.0/16", {test::ready_by(0, *d.current->interfaces, d.index(1))});
  const auto fate = [&](std::uint32_t to, std::size_t ip_length, std::uint8_t flags = 0x40) {
    return d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, to, 0, ip_length - 28, flags), 1);
  };
  EXPECT_EQ(fate(kAcme, 1000), "to 0");
  EXPECT_EQ(fate(kAcme, 1001), "punt mtu");
  EXPECT_EQ(fate(0x0a090001, 1500), "to 0") << "its port's";
  EXPECT_EQ(fate(kAcme, 1400, 0), "to 0") << "cut";
  d.transmit(0);
  EXPECT_EQ(d.ports[1].fragments, 1u);
  d.expect_law();
}

TEST(InterfacesInThePipeline, FragmentsLeaveWithTagsToo) {
  Bed d;
  d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
  d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, kAcme, 0, 1400), 1);
  const auto frames = d.transmit(0);
  ASSERT_EQ(frames.size(), 2u);
  for (const Octets& f : frames) {
    EXPECT_EQ(Octets(f.begin() + 12, f.begin() + 18), tag(0x8100, 107) + be16(kIpv4));
    EXPECT_LE(f.size(), 14u + 4 + 1000);
  }
}

TEST(InterfacesInThePipeline, RulesAndContractsNameThem) {
  Bed d;
  d.route("10.2.0.0/16", {test::ready(1)});
  const auto dscp_of = [&](const Octets& tags) {
    d.fate(tagged(tags, packet()));
    return test::dscp_of(d.transmit(1).at(0));
  };
  EXPECT_EQ(dscp_of(tag(0x8100, 107)), 46);
  EXPECT_EQ(dscp_of(tag(0x88a8, 100) + tag(0x8100, 8)), 0) << "no rule is for it";
  EXPECT_EQ(dscp_of(tag(0x8100, 200) + tag(0x8100, 1)), 10);
  EXPECT_EQ(dscp_of(tag(0x8100, 200) + tag(0x8100, 2)), 10);
  EXPECT_EQ(d.service("gold").contracts, 2u) << "one each";
  EXPECT_EQ(d.service("gold").flows, 2u);
}

TEST(InterfacesInThePipeline, SourcesAreCheckedByInterface) {
  Bed d(yaml("strict"));
  d.route("10.2.0.0/16", {test::ready(1)});
  d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
  d.route("10.8.0.5/32", {test::ready_by(0, *d.current->interfaces, d.index(2, 7))});
  d.route("10.8.0.0/24",
          {{{}, 0, NextHopEntry::State::glean, d.index(2), (*d.current->interfaces)[d.index(2)].tags}});
  const auto home = [](unsigned inner) { return tag(0x8100, 200) + tag(0x8100, inner); };
  EXPECT_EQ(d.fate(tagged(tag(0x8100, 107), packet(kAcme))), "to 1");
  EXPECT_EQ(d.fate(tagged(home(1), packet(kAcme))), "drop source_check") << "another's, of the same port";
  EXPECT_EQ(d.fate(tagged(home(7), packet(kHome))), "to 1");
  EXPECT_EQ(d.fate(tagged(home(6), packet(kHome))), "drop source_check") << "behind another tag";
  EXPECT_EQ(d.fate(tagged(home(6), packet(0x0a080009))), "drop source_check") << "not known behind any";
  EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(0)) + packet(kAcme)), "to 1") << "the port does not ask";
  d.expect_law();
}

TEST(InterfacesInThePipeline, APriorityIsBelievedWhereItIsTrusted) {
  Bed d;
  d.route("10.2.0.0/16", {test::ready(0)});
  const auto dscp_of = [&](unsigned priority, std::uint8_t dscp, std::uint16_t vlan, PortIndex port) {
    const auto tos = static_cast<std::uint8_t>(dscp << 2 | 1);
    d.fate(tagged(tag(0x8100, priority << 13 | vlan), packet(0x0a630001, kOut, tos), port), port);
    const Octets frame = d.transmit(0).at(0);
    EXPECT_EQ(frame[15] & 3, 1) << "ECN stays";
    EXPECT_TRUE(test::checksum_right(frame));
    return +test::dscp_of(frame);
  };
  EXPECT_EQ(dscp_of(5, 0, 300, 1), 46);
  EXPECT_EQ(dscp_of(3, 12, 300, 1), 12) << "says the same already";
  EXPECT_EQ(dscp_of(3, 0, 300, 1), 10);
  EXPECT_EQ(dscp_of(0, 10, 300, 1), 10) << "no DSCP is named for it";
  EXPECT_EQ(dscp_of(7, 10, 300, 1), 10);
  d.expect_law();
}

TEST(InterfacesInThePipeline, TaggedExceptionsAreTheTwinsWhateverThePortHas) {
  Bed d(yaml(), {.peers = {KernelPeer::sees_all, KernelPeer::sees_all}, .ring = 64});
  const Octets arp = ethernet(0x8100, kBroadcast) + vlan(107, kArp) + zeros(28);
  EXPECT_EQ(d.fate(arp), "punt arp");
  void* m = nullptr;
  ASSERT_EQ(rte_ring_sc_dequeue(d.punts, &m), 0);
  EXPECT_EQ(static_cast<rte_mbuf*>(m)->vlan_tci, d.index(0));
  rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
  EXPECT_EQ(d.fate(ethernet(kArp, kBroadcast) + zeros(28)), "punt arp");
  EXPECT_TRUE(d.take_punts().empty()) << "the kernel has seen what has no tags";
  d.expect_law();
}

TEST(InterfacesInThePipeline, AreCountedOnTheirWayIn) {
  Bed d;
  InterfaceCounters counters;
  InterfaceFinder finder(d.snapshot, &counters);
  const auto v = std::make_unique<Burst>();
  std::array<rte_mbuf, 3> frames{};
  const std::array<InterfaceIndex, 3> interfaces{d.index(0), 0, d.index(0)};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].pkt_len = static_cast<std::uint32_t>(60 - 20 * i);
    v->mbuf[i] = &frames[i];
    v->header[i].interface = interfaces[i];
  }
  v->size = frames.size();
  finder.count(*v);
  EXPECT_EQ(counters[d.index(0)].rx_packets, 2u);
  EXPECT_EQ(counters[d.index(0)].rx_bytes, 80u);
  finder.count(d.index(0), 100);
  finder.count(0, 100);
  EXPECT_EQ(counters[d.index(0)].rx_packets, 3u);
  EXPECT_EQ(counters[d.index(0)].rx_bytes, 180u);
  EXPECT_EQ(counters[0].rx_bytes, 0u) << "the port has counters of its own";
}

TEST(InterfacesInThePipeline, ComeAndGoWithoutHarmToOthers) {
  Bed d;
  d.route("10.2.0.0/16", {test::ready(1)});
  d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
  EXPECT_EQ(d.fate(tagged(tag(0x8100, 107), packet(kAcme))), "to 1");
  EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, kAcme), 1), "to 0");
  std::string without = yaml();
  const auto begin = without.find("  acme:"), end = without.find("  globex:");
  without.erase(begin, end - begin);
  without.erase(without.find("  - {match: {interface: acme}"));
  d.reload(without);
  EXPECT_EQ(d.fate(tagged(tag(0x8100, 107), packet(kAcme))), "drop vlan_unknown");
  EXPECT_EQ(d.fate(tagged(tag(0x88a8, 100) + tag(0x8100, 8), packet())), "to 1");
  const Octets queued = d.transmit(0).at(0);
  EXPECT_EQ(Octets(queued.begin() + 12, queued.begin() + 16), tag(0x8100, 107))
      << "what waited keeps its tags";
  d.reload(yaml());
  EXPECT_EQ(d.fate(tagged(tag(0x8100, 107), packet(kAcme))), "to 1");
  d.expect_law();
}

// However many reloads come before it leaves, and whoever has its place by then.
TEST(InterfacesInThePipeline, WhatWaitsKeepsItsTags) {
  const std::string ports =
      "version: 1\nports: {lan0: {addresses: 10.1.0.254/16, source_check: off}, wan0: {trust: core, "
      "addresses: 10.2.0.254/16}}\n";
  const std::string acme = ports + "interfaces:\n  acme: {port: lan0, vlan: 107, mtu: 1000}\n";
  const std::string globex = ports + "interfaces:\n  globex: {port: lan0, vlan: 666, mtu: 1000}\n";
  for (const auto& [texts, after] : {std::pair{std::vector{ports, globex}, "another has its place"},
                                     {{ports, ports, ports}, "its place is none"}}) {
    Bed d(acme);
    d.route("10.7.0.0/24", {test::ready_by(0, *d.current->interfaces, d.index(0))});
    EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, kAcme), 1), "to 0");
    EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(1)) + packet(kOut, kAcme, 0, 1200), 1), "to 0")
        << "in pieces, which arms the stage that looks at each MTU";
    for (const std::string& text : texts) d.reload(text);
    for (const Octets& frame : d.transmit(0)) {
      EXPECT_EQ(Octets(frame.begin() + 12, frame.begin() + 16), tag(0x8100, 107)) << after;
      EXPECT_TRUE(test::checksum_right(Octets(frame.begin(), frame.begin() + 12) +
                                       Octets(frame.begin() + 16, frame.end())));
    }
    d.expect_law();
  }
}

}  // namespace
}  // namespace surety
