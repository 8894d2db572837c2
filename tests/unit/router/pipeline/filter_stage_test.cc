// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/filter_stage.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace frames;
using test::DataPlane;
using test::udp_frame;

using Counts = std::map<std::string, std::uint64_t>;

constexpr PortIndex kAccess = 0, kWan = 1;
constexpr std::uint16_t kAcme = 107, kGlobex = 8;

const std::string kPorts =
    "version: 1\n"
    "ports: {access0: {source_check: off}, wan0: {trust: core}}\n"
    "interfaces:\n"
    "  acme: {port: access0, vlan: 107, source_check: off, filter: {in: from, out: to}}\n"
    "  globex: {port: access0, vlan: 8, source_check: off}\n";
const std::string kFilters =
    "filters:\n"
    "  from:\n"
    "    - {deny: {protocol: udp, destination_port: 53}, name: no-dns}\n"
    "    - {permit: {protocol: udp}}\n"
    "  to:\n"
    "    - {permit: {source: 10.9.0.0/16}, name: known}\n";
const std::string kClassified =
    "services: {gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
    "AF12}}}\n"
    "classify: [{match: {port: access0}, service: gold, per: flow}, {match: {interface: acme}, service: "
    "gold, "
    "per: flow}, {match: {interface: globex}, service: gold, per: flow}]\n";

// acme and globex behind tags of access0; 10.2/16 is in the world, 10.1/16 behind acme, 10.3/16 behind
// globex.
struct Edge : DataPlane {
  explicit Edge(const std::string& rest = kClassified, const std::string& filters = kFilters,
                const test::Kernel& kernel = {})
      : DataPlane(kPorts + filters + rest, kernel) {
    route("10.2.0.0/16", {via(kWan, kWan)});
    route("2001:db8:2::/48", {via(kWan, kWan)});
    route("10.1.0.0/16", {via(kAccess, interface(0))});
    route("10.3.0.0/16", {via(kAccess, interface(1))});
  }
  NextHopEntry via(PortIndex port, InterfaceIndex interface) const {
    NextHopEntry hop = test::ready(port);
    hop.interface = interface;
    hop.tags = (*current->interfaces)[interface].tags;
    return hop;
  }
  InterfaceIndex interface(std::size_t definition) const {
    return current->interfaces->of_definition(definition);
  }
  Counts counts() const {
    Counts by_name;
    std::size_t at = 0;
    for (std::size_t f = 0; f < current->filters.size(); ++f)
      for (const auto& c : current->filters[f].counters())
        by_name[current->filters[f].config().name + '/' + c.name] += ingress->filter_counts()[at++];
    std::erase_if(by_name, [](const auto& c) { return c.second == 0; });
    return by_name;
  }
};

Octets from(std::uint16_t tag, std::uint16_t to_port, std::uint16_t from_port = 1000, std::uint8_t tos = 0) {
  return udp_frame({.from = from_port, .to = to_port, .tos = tos, .vlan = tag});
}
Octets tagged(const Octets& ip, std::uint16_t type) {
  return ethernet(0x8100, test::port_mac(kAccess)) + vlan(kAcme, type) + ip;
}

TEST(FilterStage, WhatComesInIsAskedOnceForAFlow) {
  Edge edge;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(edge.fate(from(kAcme, 80)), "to 1");
  EXPECT_EQ(edge.counts(), (Counts{{"from/2", 1}}));
  EXPECT_EQ(edge.fate(from(kGlobex, 53)), "to 1") << "it has none";
  EXPECT_EQ(edge.counts(), (Counts{{"from/2", 1}}));
  edge.expect_law();
}

TEST(FilterStage, HostsOfALinkHaveTheirOwn) {
  Edge edge(
      "classify: [{match: {port: access0, vlan: 5}, service: s}]\n"  // a tag of the port
      "services: {s: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
      "AF12}}}\n"
      "plans: {p: {service: s}, web: {service: s, filter: {in: web}}}\n"
      "subscribers:\n"
      "  suspended: {plan: web, port: access0, prefixes: [10.1.0.0/30, '2001:db8:1::/48'], suspended: yes}\n"
      "  surfer: {plan: web, interface: acme, prefixes: 10.1.0.8}\n"
      "  free: {plan: p, interface: acme, prefixes: 10.1.0.9}\n",
      kFilters + "  web: [{permit: {protocol: udp, destination_port: 80}}]\n");
  const auto fate = [&](std::uint32_t host, std::uint16_t tag, std::uint16_t to) {
    return edge.fate(udp_frame({.source = 0x0a010000 + host, .to = to, .vlan = tag}));
  };
  EXPECT_EQ(fate(1, 0, 80), "drop filtered");
  EXPECT_EQ(fate(4, 0, 80), "to 1") << "another host of the link";
  EXPECT_EQ(fate(1, kAcme, 80), "to 1") << "on another link";
  EXPECT_EQ(fate(1, 5, 80), "to 1") << "with a tag of the port";
  EXPECT_EQ(fate(8, kAcme, 80), "to 1");
  EXPECT_EQ(fate(8, kAcme, 90), "drop filtered") << "in place of the filter of acme";
  EXPECT_EQ(fate(9, kAcme, 90), "to 1");
  EXPECT_EQ(fate(9, kAcme, 53), "drop filtered") << "by the filter of acme";
  EXPECT_EQ(edge.fate(ethernet(kIpv6, test::port_mac(kAccess)) + ip6(17, udp(1, 2, 8))), "drop filtered");
  EXPECT_EQ(
      edge.counts(),
      (Counts{{"from/2", 2}, {"from/no-dns", 1}, {"suspended/all", 2}, {"web/1", 1}, {"web/default", 1}}));
  edge.expect_law();
}

// Each field decides, in both directions, for packets of the port that belong to none of its interfaces.
TEST(FilterStage, APortHasFiltersOfItsOwn) {
  for (const std::string& rest : {kClassified, std::string()}) {
    DataPlane edge(
        "version: 1\n"
        "ports:\n"
        "  access0: {source_check: off, filter: {in: from}}\n"
        "  wan0: {trust: core, filter: {out: to}}\n"
        "interfaces: {acme: {port: access0, vlan: 107, source_check: off}, globex: {port: access0, vlan: "
        "8}}\n"
        "filters:\n"
        "  from:\n"
        "    - {deny: {source: [10.7.0.0/16, 10.8.0.9]}}\n"
        "    - {deny: {destination: [10.2.9.0/24, '2001:db8:2:9::/64']}}\n"
        "    - {permit: {protocol: udp, source_port: 7-9, destination_port: 53}}\n"
        "    - {deny: {destination_port: 53}}\n"
        "    - {deny: {protocol: icmp}}\n"
        "    - {permit: {}}\n"
        "  to: [{deny: {dscp: EF}}, {permit: {}}]\n" +
        rest);
    edge.route("10.2.0.0/16", {test::ready(kWan)});
    const auto fate = [&](const test::Udp& f) { return edge.fate(udp_frame(f)); };
    EXPECT_EQ(fate({}), "to 1");
    EXPECT_EQ(fate({.source = 0x0a070001}), "drop filtered");
    EXPECT_EQ(fate({.source = 0x0a080009}), "drop filtered");
    EXPECT_EQ(fate({.source = 0x0a08000a}), "to 1");
    EXPECT_EQ(fate({.destination = 0x0a020901}), "drop filtered");
    EXPECT_EQ(fate({.from = 9, .to = 53}), "to 1");
    EXPECT_EQ(fate({.from = 10, .to = 53}), "drop filtered");
    EXPECT_EQ(fate({.from = 10, .to = 53, .vlan = kAcme}), "to 1") << "an interface has its own";
    EXPECT_EQ(edge.fate(ethernet(kIpv4, test::port_mac(kAccess)) + ip4(1, zeros(8))), "drop filtered");
    EXPECT_EQ(fate({.tos = 46 << 2}), "drop filtered") << "on its way out";
    EXPECT_EQ(edge.drops(kAccess, DropReason::filtered), 6u);
    edge.expect_law();
  }
}

TEST(FilterStage, WhoIsRefusedMakesNoFlowAndIsAskedAgain) {
  Edge edge;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(edge.fate(from(kAcme, 53)), "drop filtered");
  EXPECT_EQ(edge.ingress->flows().size(), 0u);
  EXPECT_EQ(edge.counts(), (Counts{{"from/no-dns", 3}}));
  EXPECT_EQ(edge.fate(tagged(ip4(1, zeros(8)), kIpv4)), "drop filtered");
  EXPECT_EQ(edge.counts(), (Counts{{"from/no-dns", 3}, {"from/default", 1}}));
  edge.expect_law();
}

// Those behind one that is refused are not mixed up.
TEST(FilterStage, InABurstEachIsJudgedForItself) {
  Edge edge;
  std::vector<Octets> frames;
  for (std::uint16_t i = 0; i < 64; ++i) frames.push_back(from(kAcme, i % 3 == 1 ? 53 : 80, i));
  for (int round = 1; round <= 2; ++round) {
    edge.receive(frames);
    EXPECT_EQ(edge.drops(kAccess, DropReason::filtered), 21u * static_cast<unsigned>(round));
    EXPECT_EQ(edge.ingress->flows().size(), 43u);
    for (const Octets& f : edge.transmit(kWan)) EXPECT_EQ(f[37], 80) << "low byte of the destination port";
  }
  EXPECT_EQ(edge.counts(), (Counts{{"from/2", 43}, {"from/no-dns", 42}}));
  edge.expect_law();
}

TEST(FilterStage, WithoutFlowRecordsEachPacketIsAsked) {
  Edge edge("");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(edge.fate(from(kAcme, 80)), "to 1");
  EXPECT_EQ(edge.fate(from(kAcme, 53)), "drop filtered");
  EXPECT_EQ(edge.fate(from(kGlobex, 53)), "to 1");
  EXPECT_EQ(edge.counts(), (Counts{{"from/2", 3}, {"from/no-dns", 1}}));
  edge.expect_law();
}

// All fragments between two hosts are one flow: what one may do, another may not.
TEST(FilterStage, FragmentsOfAKnownFlowAreJudgedOneByOne) {
  Edge edge;
  const auto v4 = [](std::size_t offset, std::uint16_t port) {
    return tagged(ip4(17, offset == 0 ? udp(9, port, 8) : zeros(16),
                      {.place = static_cast<std::uint16_t>(offset / 8 | 0x2000)}),
                  kIpv4);
  };
  const auto v6 = [](std::size_t offset, std::uint16_t port) {
    return tagged(
        ip6(44, Octets{17, 0} + be16(offset | 1) + be32(7) + (offset == 0 ? udp(9, port, 8) : zeros(16))),
        kIpv6);
  };
  const auto judged = [&](const auto& fragment) {
    EXPECT_EQ(edge.fate(fragment(0, 80)), "to 1");
    EXPECT_EQ(edge.fate(fragment(0, 53)), "drop filtered");
    EXPECT_EQ(edge.fate(fragment(16, 0)), "to 1");
    EXPECT_EQ(edge.fate(fragment(0, 80)), "to 1");
  };
  judged(v4);
  judged(v6);
  EXPECT_EQ(edge.ingress->flows().size(), 2u);
  EXPECT_EQ(edge.counts(), (Counts{{"from/2", 6}, {"from/no-dns", 2}}));
  edge.expect_law();
}

TEST(FilterStage, AFilterThatLooksAtTheDscpIsAskedForEachPacket) {
  Edge edge(kClassified, "filters: {from: [{permit: {dscp: EF}}], to: [{deny: {}}]}\n");
  EXPECT_EQ(edge.fate(from(kAcme, 80, 1, test::kEf << 2)), "to 1");
  EXPECT_EQ(edge.fate(from(kAcme, 80, 1, 0)), "drop filtered");
  EXPECT_EQ(edge.fate(from(kAcme, 80, 1, test::kEf << 2)), "to 1");
}

TEST(FilterStage, WhatLeavesIsAskedByWhereItLeaves) {
  Edge edge;
  const auto send = [&](std::uint32_t source, std::uint32_t to) {
    return edge.fate(udp_frame({.source = source, .destination = to, .port = kWan}), kWan);
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(0x0a090001, 0x0a010001), "to 0");
  EXPECT_EQ(send(0x0a080001, 0x0a010001), "drop filtered");
  EXPECT_EQ(send(0x0a080001, 0x0a030001), "to 0") << "globex has no filter";
  EXPECT_EQ(edge.drops(kWan, DropReason::filtered), 1u);
  EXPECT_EQ(edge.counts(), (Counts{{"to/known", 2}, {"to/default", 1}}));
  edge.expect_law();
}

// They leave by way of the control thread, once it has found the station.
TEST(FilterStage, WhatIsForAStationNotKnownYetIsAskedToo) {
  Edge edge(kClassified, kFilters, {{KernelPeer::twin, KernelPeer::twin}, 8});
  NextHopEntry glean = edge.via(kAccess, edge.interface(0));
  glean.state = NextHopEntry::State::glean;
  edge.route("10.1.7.0/24", {glean});
  glean.interface = edge.interface(1);
  edge.route("10.3.7.0/24", {glean});
  const auto send = [&](std::uint32_t source, std::uint32_t to) {
    return edge.fate(udp_frame({.source = source, .destination = to, .port = kWan}), kWan);
  };
  EXPECT_EQ(send(0x0a090001, 0x0a010701), "punt neighbor");
  EXPECT_EQ(send(0x0a080001, 0x0a010701), "drop filtered");
  EXPECT_EQ(send(0x0a080001, 0x0a030701), "punt neighbor") << "globex has no filter";
  EXPECT_EQ(edge.counts(), (Counts{{"to/known", 1}, {"to/default", 1}}));
  edge.expect_law();
}

TEST(FilterStage, WhatLeavesInABurstIsNotMixedUp) {
  Edge edge;
  std::vector<Octets> frames;
  for (std::uint16_t i = 0; i < 64; ++i)
    frames.push_back(udp_frame({.source = i % 4 == 0 ? 0x0a080001u : 0x0a090001u,
                                .destination = i % 2 == 0 ? 0x0a010001u : 0x0a030001u,
                                .from = i,
                                .port = kWan}));
  edge.receive(frames, kWan);
  EXPECT_EQ(edge.drops(kWan, DropReason::filtered), 16u);
  EXPECT_EQ(edge.counts(), (Counts{{"to/known", 16}, {"to/default", 16}}));
  EXPECT_EQ(edge.transmit(kAccess).size(), 48u);
  edge.expect_law();
}

TEST(FilterStage, TheSenderIsTold) {
  Edge edge(kClassified, kFilters, {.peers = {KernelPeer::twin, KernelPeer::twin}, .ring = 8});
  EXPECT_EQ(edge.fate(from(kAcme, 53)), "drop filtered");
  EXPECT_EQ(edge.fate(udp_frame({.source = 0x0a080001, .destination = 0x0a010001, .port = kWan}), kWan),
            "drop filtered");
  for (const PortIndex port : {kAccess, kWan}) {
    void* told = nullptr;
    ASSERT_EQ(rte_ring_sc_dequeue(edge.punts, &told), 0);
    auto* const m = static_cast<rte_mbuf*>(told);
    EXPECT_EQ(punted_reason(m), PuntReason::none);
    EXPECT_EQ(punted_refusal(m), Refusal::prohibited);
    EXPECT_EQ(m->port, port);
    rte_pktmbuf_free(m);
  }
}

const std::string kStricter =
    "filters:\n"
    "  to: [{permit: {source: 10.9.0.0/16}, name: known}]\n"
    "  from:\n"
    "    - {deny: {protocol: udp, destination_port: 53}, name: no-dns}\n"
    "    - {deny: {protocol: udp, destination_port: 80}, name: no-web}\n"
    "    - {permit: {protocol: udp}}\n";

TEST(FilterStage, AfterAReloadAFlowIsAskedAgain) {
  Edge edge;
  EXPECT_EQ(edge.fate(from(kAcme, 80)), "to 1");
  EXPECT_EQ(edge.fate(from(kAcme, 81)), "to 1");
  edge.reload(kPorts + kStricter + kClassified);
  edge.run_until(edge.now + std::chrono::seconds(1));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(edge.fate(from(kAcme, 80)), "drop filtered");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(edge.fate(from(kAcme, 81)), "to 1");
  EXPECT_EQ(edge.counts(), (Counts{{"from/no-web", 2}, {"from/3", 1}}));
  edge.expect_law();
}

TEST(FilterStage, AfterAReloadEntriesGoOnCounting) {
  Edge edge("");
  edge.fate(from(kAcme, 53));
  edge.fate(udp_frame({.source = 0x0a090001, .destination = 0x0a010001, .port = kWan}), kWan);
  for (const std::string& filters : {kStricter, kFilters}) {
    edge.reload(kPorts + filters);
    EXPECT_EQ(edge.counts(), (Counts{{"from/no-dns", 1}, {"to/known", 1}}));
  }
  edge.fate(from(kAcme, 53));
  EXPECT_EQ(edge.counts(), (Counts{{"from/no-dns", 2}, {"to/known", 1}}));
}

TEST(FilterStage, AnInterfaceMayLoseItsFilterAndGetOne) {
  Edge edge;
  const std::string none =
      "version: 1\n"
      "ports: {access0: {source_check: off}, wan0: {trust: core}}\n"
      "interfaces:\n"
      "  acme: {port: access0, vlan: 107, source_check: off}\n"
      "  globex: {port: access0, vlan: 8, source_check: off, filter: {in: from}}\n";
  edge.reload(none + kFilters + kClassified);
  edge.run_until(edge.now + std::chrono::seconds(1));
  EXPECT_EQ(edge.fate(from(kAcme, 53)), "to 1");
  EXPECT_EQ(edge.fate(from(kGlobex, 53)), "drop filtered");
  EXPECT_EQ(edge.fate(udp_frame({.source = 0x0a080001, .destination = 0x0a010001, .port = kWan}), kWan),
            "to 0");
}

}  // namespace
}  // namespace surety
