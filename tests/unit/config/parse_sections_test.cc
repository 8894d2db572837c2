// SPDX-License-Identifier: BSD-3-Clause
// What edge.yaml does not show: the other devices, conditioners, options and spellings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/address.h"
#include "config/parse.h"
#include "tests/unit/config/parsed.h"

namespace surety::config {
namespace {

using namespace surety::literals;
using testing::ElementsAre;
using testing::HasSubstr;

Port port(const std::string& options) {
  const auto c = parsed("", "ports: {a: {" + options + "}}\nqueues: {q: [{name: all}]}\n");
  return c.ports.empty() ? Port{} : c.ports[0];
}
Service service(const std::string& options) {
  const auto c = parsed("services: {s: {" + options + "}}\n");
  return c.services.empty() ? Service{} : c.services[0];
}
Rule rule(const std::string& options) {
  const auto c = parsed("services: {s: {conditioner: none}}\nclassify: [{service: s, " + options + "}]\n");
  return c.rules.empty() ? Rule{} : c.rules[0];
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

TEST(ParseRouter, ItsOwnDscp) {
  EXPECT_EQ(parsed("").router.dscp, 48) << "CS6";
  EXPECT_EQ(parsed("router: {dscp: CS7}\n").router.dscp, 56);
}

TEST(ParseDevice, EveryKind) {
  struct Case {
    const char* text;
    Device::Kind kind;
    const char* name;
  };
  using Kind = Device::Kind;
  const Case cases[] = {
      {"pci 0000:03:00.1", Kind::pci, "0000:03:00.1"},
      {"pci 03:00.7", Kind::pci, "03:00.7"},
      {"af_xdp eth1", Kind::af_xdp, "eth1"},
      {"af_packet eth1.100", Kind::af_packet, "eth1.100"},
      {"tap surety0", Kind::tap, "surety0"},
      {"virtio-user /run/v.sock", Kind::virtio_user, "/run/v.sock"},
      {"vhost /run/v.sock", Kind::vhost, "/run/v.sock"},
      {"ring r0", Kind::ring, "r0"},
      {"null", Kind::null, ""},
      {"'null'", Kind::null, ""},
      {"memif /m.sock client", Kind::memif, "/m.sock"},
  };
  for (const auto& c : cases) {
    const auto device = port(std::string("device: ") + c.text).device;
    EXPECT_EQ(device.kind, c.kind) << c.text;
    EXPECT_EQ(device.name, c.name) << c.text;
    EXPECT_FALSE(device.server) << c.text;
  }
  EXPECT_TRUE(port("device: memif /m.sock server").device.server);
}

TEST(ParseDevice, PcapFilesStartAtTheConfiguration) {
  const auto device = port("device: pcap tx=/tmp/out.pcap rx=in.pcap").device;
  EXPECT_EQ(device.rx_file, "dir/in.pcap");
  EXPECT_EQ(device.tx_file, "/tmp/out.pcap");
}

TEST(ParsePort, EveryOption) {
  const auto p = port(
      "device: null, addresses: 10.0.0.1/31, trust: core, mtu: 9000, mac: '02:00:00:00:00:01', shape: 1 "
      "Gbit/s, burst: 16 kB, "
      "overhead: 24 B, queues: q, promiscuous: yes, tcp_mss: 1360");
  EXPECT_THAT(p.addresses, ElementsAre(prefix("10.0.0.1/31")));
  EXPECT_EQ(p.mtu, 9000);
  EXPECT_EQ(to_string(p.mac.value()), "02:00:00:00:00:01");
  EXPECT_EQ(p.shaper.burst, 16_kB);
  EXPECT_EQ(p.shaper.overhead.per_packet, 24u);
  EXPECT_EQ(p.queues, 0u);
  EXPECT_TRUE(p.promiscuous);
  EXPECT_EQ(p.tcp_mss, 1360);
}

TEST(ParsePort, FiltersAreNamed) {
  const auto c =
      parsed("filters: {f0: [{deny: {}}], f1: [{deny: {}}]}\n",
             "ports: {a: {device: null, filter: {in: f1, out: f0}}, b: {device: null, filter: {}}}\n");
  ASSERT_EQ(c.ports.size(), 2u);
  EXPECT_EQ(c.ports[0].filter_in, 1u);
  EXPECT_EQ(c.ports[0].filter_out, 0u);
  EXPECT_FALSE(c.ports[1].filter_in || c.ports[1].filter_out);
}

TEST(ParsePort, TwinIsANameOrOff) {
  EXPECT_EQ(port("device: null").twin, std::nullopt);
  EXPECT_EQ(port("device: null, twin: tap7").twin, "tap7");
  EXPECT_EQ(port("device: null, twin: off").twin, "");
  EXPECT_EQ(port("device: null, twin: no").twin, "");
}

TEST(ParsePort, TheBurstGrowsWithTheRate) {
  EXPECT_EQ(port("device: null, shape: 34 Mbit/s").shaper.burst, 3_kB);
  EXPECT_EQ(port("device: null, shape: 10 Gbit/s").shaper.burst, 125_kB) << "100 us";
  EXPECT_EQ(port("device: null, shape: 10 Gbit/s, burst: 2 kB").shaper.burst, 2_kB);
}

TEST(ParsePort, OverheadOfKnownWires) {
  EXPECT_EQ(port("device: null, overhead: ethernet").shaper.overhead.wire_bytes(64), 64u + 38);
  EXPECT_EQ(port("device: null, overhead: atm").shaper.overhead.wire_bytes(576), 12u * 53);
  EXPECT_EQ(port("device: null, overhead: 0 B").shaper.overhead.wire_bytes(64), 64u);
}

TEST(ParseRoutes, EcmpPortsAndBlackholes) {
  const auto c = parsed(
      "routes:\n"
      "  - {to: 10.1.0.0/16, via: [10.0.0.2, 10.0.0.3]}\n"
      "  - {to: '2001:db8::/32', via: 'fe80::1', port: a}\n"
      "  - {to: 10.2.0.0/16, port: a}\n"
      "  - {to: 10.3.0.9/16, blackhole: true}\n"
      "  - {to: 10.4.0.1, port: a}\n");
  ASSERT_EQ(c.routes.size(), 5u);
  EXPECT_EQ(c.routes[0].next_hops.size(), 2u);
  EXPECT_EQ(to_string(c.routes[0].next_hops[1].via.value()), "10.0.0.3");
  EXPECT_EQ(c.routes[1].next_hops[0].port, 0u);
  EXPECT_FALSE(c.routes[2].next_hops[0].via);
  EXPECT_EQ(c.routes[2].next_hops[0].port, 0u);
  EXPECT_TRUE(c.routes[3].blackhole);
  EXPECT_TRUE(c.routes[3].next_hops.empty());
  EXPECT_EQ(c.routes[3].to, prefix("10.3.0.0/16"));
  EXPECT_EQ(c.routes[4].to, prefix("10.4.0.1/32"));
}

TEST(ParseNeighbors, AllThreeParts) {
  const auto c = parsed("neighbors: [{address: '2001:db8::2', mac: '02:00:00:00:00:02', port: a}]\n");
  ASSERT_EQ(c.neighbors.size(), 1u);
  EXPECT_EQ(to_string(c.neighbors[0].address), "2001:db8::2");
  EXPECT_EQ(to_string(c.neighbors[0].mac), "02:00:00:00:00:02");
  EXPECT_EQ(c.neighbors[0].port, 0u);
}

TEST(ParseServices, AFixedAlphaHasNoBand) {
  const auto s = service(
      "conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, alpha: {fixed: 0.25, "
      "t1: 10 ms, t2: 20 ms}");
  const auto& alpha = std::get<Csa>(s.conditioner).alpha;
  EXPECT_EQ(alpha.min, Ratio::of(0.25));
  EXPECT_EQ(alpha.max, Ratio::of(0.25));
  EXPECT_EQ(alpha.t1, 10ms);
}

TEST(ParseServices, AlphaComesBackAsItsControlSays) {
  const auto control = [](const std::string& alpha) {
    const auto s = service("conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B" + alpha);
    return std::get<Csa>(s.conditioner).alpha.control;
  };
  EXPECT_EQ(control(""), AlphaControl::search);
  EXPECT_EQ(control(", alpha: {max: 0.2}"), AlphaControl::search);
  EXPECT_EQ(control(", alpha: {control: search}"), AlphaControl::search);
  EXPECT_EQ(control(", alpha: {control: paper}"), AlphaControl::paper);
  EXPECT_EQ(control(", alpha: {control: periodic}"), AlphaControl::periodic);
}

// The papers' band goes with their control.
TEST(ParseServices, WhatAlphaDoesNotSay) {
  const auto of = [](const std::string& alpha) {
    const auto s = service("conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B" + alpha);
    const CsaParams a = std::get<Csa>(s.conditioner).alpha;
    return std::pair(a.max, a.step);
  };
  EXPECT_EQ(of(""), std::pair(Ratio::unlimited(), Ratio::of(0.02)));
  EXPECT_EQ(of(", alpha: {min: 0.1}"), std::pair(Ratio::unlimited(), Ratio::of(0.02)));
  EXPECT_EQ(of(", alpha: {max: 0.4}"), std::pair(Ratio::of(0.4), Ratio::of(0.02)));
  EXPECT_EQ(of(", alpha: {max: 5, step: 0.05}"), std::pair(Ratio::of(5), Ratio::of(0.05)));
  EXPECT_EQ(of(", alpha: {control: paper}"), std::pair(Ratio::of(0.4), Ratio::of(0.02)));
  EXPECT_EQ(of(", alpha: {control: periodic, max: 1}"), std::pair(Ratio::of(1), Ratio::of(0.02)));
}

// The maximum that `auto` comes to, where rules sell it and more.
Ratio auto_max(const std::string& ports, const std::string& rules) {
  const auto c = parsed(
      "services:\n"
      "  s: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, alpha: {max: auto}}\n"
      "  voice: {conditioner: police, rate: 100 kbit/s, bucket: 15 kB}\n"
      "  video: {conditioner: token-bucket, rate: 2 Mbit/s, bucket: 15 kB}\n"
      "  plain: {conditioner: none}\n"
      "classify: [" +
          rules + "]\n",
      "ports: {a: {device: null}, " + ports + "}\n");
  const auto& alpha = std::get<Csa>(c.services.at(0).conditioner).alpha;
  EXPECT_TRUE(alpha.auto_max);
  EXPECT_EQ(alpha.min, Ratio::of(0.04));
  return alpha.max;
}

TEST(ParseServices, AnAutomaticMaximumIsTheCapacityOverWhatIsSoldLessOne) {
  const std::string port = "b: {device: null, trust: core, shape: 10 Mbit/s}";
  const std::string two = port + ", c: {device: null, trust: core, shape: 2 Mbit/s}";
  const std::string eight = "{match: {port: a, vlan: 1}, service: s, per: source, contracts: 8}";
  const std::string one = "{match: {port: a, vlan: 2}, service: s}";
  EXPECT_EQ(auto_max(port, eight), Ratio::of(0.25));
  EXPECT_EQ(auto_max(port, eight + ", " + one), Ratio::millionths(111'111))
      << "without `per` a rule is a contract";
  EXPECT_EQ(auto_max(two, eight), Ratio::of(0.5)) << "all core ports together";
  const std::string atm = "b: {device: null, trust: core, shape: 34 Mbit/s, overhead: atm}";
  EXPECT_EQ(auto_max(atm, "{match: {port: a}, service: s, per: flow, contracts: 25}"),
            Ratio::millionths(202'830))
      << "32 cells for 1500 bytes: 34 x 1500 / 1696 / 25 - 1";
  EXPECT_EQ(auto_max(port, one + ", {match: {port: a, vlan: 3}, service: video, per: flow, contracts: 2}"),
            Ratio::of(1))
      << "other services are sold too";
  EXPECT_EQ(auto_max(port, eight + ", {match: {port: a, vlan: 3}, service: voice, per: flow, contracts: 10}"),
            Ratio::of(0.125))
      << "what is policed never takes more";
  EXPECT_EQ(auto_max(port, eight + ", {match: {port: a}, service: plain, per: flow}"), Ratio::of(0.25));
  EXPECT_EQ(auto_max("b: {device: null, trust: core, shape: 10 Gbit/s}", one), Ratio::of(10))
      << "no ratio is more";
  EXPECT_EQ(auto_max(port, "{match: {port: a}, service: plain}"), Ratio::of(10)) << "nothing is sold";
}

TEST(ParseServices, TokensOfPackets) {
  const auto s = service(
      "conditioner: csa, rate: 1600 kbit/s, in_bucket: 10 packets, out_bucket: 1 packet, tokens: packets, "
      "packet: 576 B");
  const auto& csa = std::get<Csa>(s.conditioner);
  EXPECT_EQ(csa.bucket.in.depth(), 10 * 576 * kCreditPerByte);
  EXPECT_EQ(csa.bucket.in.cost(40), 576 * kCreditPerByte);
  EXPECT_EQ(csa.bucket.out.cost(1500), 576 * kCreditPerByte);
}

TEST(ParseServices, ARateIsEnough) {
  const auto s = service("rate: 4 Mbit/s, objective: 99 %");
  EXPECT_EQ(s.objective, 0.99);
  EXPECT_EQ(s.mark_in, 10);
  EXPECT_EQ(s.mark_out, 12);
  const auto& csa = std::get<Csa>(s.conditioner);
  EXPECT_EQ(csa.bucket.in.depth(), 50'000 * kCreditPerByte) << "100 ms";
  EXPECT_EQ(csa.bucket.out.depth(), 10'000 * kCreditPerByte) << "20 ms";
  EXPECT_EQ(csa.bucket.buffer_bytes, 10'000u) << "20 ms";
  EXPECT_EQ(csa.bucket.buffer, 20u) << "packets of 500 bytes";
  EXPECT_EQ(csa.alpha, (CsaParams{.max = Ratio::unlimited(), .control = AlphaControl::search}));
  const auto named = service("conditioner: csa, rate: 100 kbit/s");
  EXPECT_FALSE(named.mark_in) << "as ever: the DSCP stays";
  const auto& slow = std::get<Csa>(named.conditioner).bucket;
  EXPECT_EQ(slow.in.depth(), 3'000 * kCreditPerByte) << "two packets";
  EXPECT_EQ(slow.buffer, 16u);
  EXPECT_EQ(std::get<TokenBucketMarker>(service("conditioner: token-bucket, rate: 8 Mbit/s").conditioner)
                .bucket.depth(),
            100'000 * kCreditPerByte);
  EXPECT_EQ(std::get<Police>(service("conditioner: police, rate: 8 Mbit/s").conditioner).bucket.depth(),
            100'000 * kCreditPerByte);
}

TEST(ParseServices, ABufferIsATimeOrANumberOfPackets) {
  const auto buffer = [](const std::string& text) {
    return std::get<Csa>(service("rate: 8 Mbit/s, buffer: " + text).conditioner).bucket;
  };
  EXPECT_EQ(buffer("100 packets").buffer, 100u);
  EXPECT_EQ(buffer("100 packets").buffer_bytes, 0u);
  EXPECT_EQ(buffer("1 packet").buffer, 1u);
  EXPECT_EQ(buffer("50 ms").buffer_bytes, 50'000u);
  EXPECT_EQ(buffer("1 s").buffer, 2'000u);
}

TEST(ParseServices, AlphaWithoutALimit) {
  const auto s = service("rate: 8 Mbit/s, alpha: {max: unlimited, min: 0.1}");
  EXPECT_EQ(std::get<Csa>(s.conditioner).alpha.max, Ratio::unlimited());
}

TEST(ParseServices, SrTcm) {
  const auto s = service(
      "conditioner: srtcm, rate: 5 Mbit/s, committed_burst: 15 kB, excess_burst: 0 B, mark: {in: AF21, out: "
      "AF22, red: AF23}");
  const auto& m = std::get<SrTcm>(s.conditioner);
  EXPECT_EQ(m.cir, 5_Mbps);
  EXPECT_EQ(m.cbs, 15_kB);
  EXPECT_EQ(m.ebs, 0_B);
  EXPECT_EQ(s.mark_in, 18);
  EXPECT_EQ(s.mark_out, 20);
  EXPECT_EQ(s.mark_red, 22);
  EXPECT_FALSE(s.drop_red);
  EXPECT_FALSE(s.color_aware);
  EXPECT_EQ(s.committed, 5_Mbps);
  EXPECT_TRUE(service("conditioner: srtcm, color_aware: on, rate: 5 Mbit/s, committed_burst: 15 kB, "
                      "excess_burst: 0 B, mark: {red: AF23}")
                  .color_aware);
}

// A packet that is larger than its bucket would never be green.
TEST(ParseServices, ABurstOfAMeterIsAtLeastOnePacket) {
  const auto one = service("conditioner: srtcm, rate: 1 Mbit/s, committed_burst: 1 kB, excess_burst: 0 B");
  EXPECT_EQ(std::get<SrTcm>(one.conditioner).cbs, 1500_B);
  EXPECT_EQ(std::get<SrTcm>(one.conditioner).ebs, 0_B) << "no yellow, as it says";
  const auto two =
      service("conditioner: trtcm, rate: 1 Mbit/s, peak: 2 Mbit/s, committed_burst: 64 B, peak_burst: 2 kB");
  EXPECT_EQ(std::get<TrTcm>(two.conditioner).cbs, 1500_B);
  EXPECT_EQ(std::get<TrTcm>(two.conditioner).pbs, 2_kB);
}

TEST(ParseServices, TrTcm) {
  const std::string common =
      "conditioner: trtcm, rate: 1 Mbit/s, peak: 3 Mbit/s, committed_burst: 10 kB, peak_burst: 20 kB";
  const auto s = service(common + ", mark: {red: drop}");
  const auto& m = std::get<TrTcm>(s.conditioner);
  EXPECT_EQ(m.cir, 1_Mbps);
  EXPECT_EQ(m.pir, 3_Mbps);
  EXPECT_EQ(m.cbs, 10_kB);
  EXPECT_EQ(m.pbs, 20_kB);
  EXPECT_FALSE(m.rfc4115);
  EXPECT_TRUE(s.drop_red);
  EXPECT_FALSE(s.mark_in || s.mark_out || s.mark_red);
  EXPECT_TRUE(std::get<TrTcm>(service(common + ", rfc4115: on").conditioner).rfc4115);
  EXPECT_TRUE(service(common + ", color_aware: on, mark: {out: AF12, red: drop}").color_aware);
}

TEST(ParseClassify, EveryMatch) {
  const auto r = rule(
      "match: {port: a, vlan: 0, source: '2001:db8::/32', destination: '2001:db8::1', protocol: 6, "
      "source_port: 1000-2000, "
      "destination_port: 80, dscp: CS1}, per: prefix, prefix: {ipv6: 56}");
  EXPECT_EQ(r.match.vlan, 0);
  EXPECT_FALSE(r.match.inner_vlan);
  EXPECT_EQ(r.match.destination, std::vector{prefix("2001:db8::1/128")});
  EXPECT_EQ(r.match.source_port.from, 1000);
  EXPECT_EQ(r.match.source_port.to, 2000);
  EXPECT_EQ(r.match.destination_port.from, 80);
  EXPECT_EQ(r.match.destination_port.to, 80);
  EXPECT_EQ(r.match.dscp, 8);
  EXPECT_EQ(r.match.family, Match::Family::ipv6);
  EXPECT_EQ(r.per, Rule::Per::prefix);
  EXPECT_EQ(r.prefix_v4, 24);
  EXPECT_EQ(r.prefix_v6, 56);
}

TEST(ParseClassify, ContractsAreOneOrAsManyAsSaidOrNotKnown) {
  EXPECT_EQ(rule("match: {port: a}").contracts, 1u);
  EXPECT_EQ(rule("match: {port: a}, per: flow, contracts: 30").contracts, 30u);
  EXPECT_EQ(rule("match: {port: a}, per: flow").contracts, std::nullopt);
}

TEST(ParseClassify, AnInterfaceMayHaveThemAllWhereTheRuleIsOfOne) {
  EXPECT_EQ(rule("match: {port: a}, per: flow, contracts: 30").most, 30u);
  EXPECT_EQ(rule("match: {vlan: 7}, per: vlan, contracts: 30").most, 30u);
  EXPECT_EQ(rule("match: {port: a}, per: flow").most, std::nullopt);
  EXPECT_EQ(rule("match: {port: a}, per: rule").most, std::nullopt);
  EXPECT_EQ(rule("match: {port: a}, per: interface, contracts: 30").most, std::nullopt);
}

TEST(ParseClassify, IcmpFixesTheFamily) {
  EXPECT_EQ(rule("match: {protocol: icmp}").match.family, Match::Family::ipv4);
  EXPECT_EQ(rule("match: {protocol: icmpv6}").match.family, Match::Family::ipv6);
  EXPECT_EQ(rule("match: {protocol: tcp}").match.family, Match::Family::any);
  EXPECT_EQ(rule("match: {vlan: 5, inner_vlan: 6}").match.inner_vlan, 6);
}

TEST(ParseAggregates, ArmDropsNothing) {
  const auto c = parsed(
      "queues: {q: [{name: x, dscp: {in: AF11, out: [AF13, AF12]}}]}\n"
      "aggregates: {g: {port: a, queue: x, marker: arm, rate: 5 Mbit/s, tokens: packets, packet: 576 B}}\n",
      "ports: {a: {device: null, queues: q}}\n");
  ASSERT_EQ(c.aggregates.size(), 1u);
  EXPECT_EQ(c.aggregates[0].marker.drop, Probability(0));
  EXPECT_EQ(c.aggregates[0].marker.tokens, TokenUnit::packets);
  EXPECT_EQ(c.aggregates[0].marker.nominal_packet, 576_B);
  EXPECT_EQ(c.aggregates[0].out_dscp, 14);
}

Aggregate aggregate_at(const std::string& role, const std::string& settings) {
  const auto c = parsed("router: {id: 192.0.2.1, role: " + role +
                            "}\nqueues: {q: [{name: x, dscp: {in: AF11, out: AF12}}]}\n"
                            "aggregates: {g: {port: a, queue: x, rate: 5 Mbit/s" +
                            settings + "}}\n",
                        "ports: {a: {device: null, queues: q}}\n");
  return c.aggregates.at(0);
}

// The ARD paper, section 2.1: early dropping is performed only at the ingress edge router.
TEST(ParseAggregates, OnlyTheIngressEdgeDrops) {
  const struct {
    const char *role, *settings;
    double drop;
  } cases[] = {
      {"border", "", 0.02}, {"border", ", drop: 0.1", 0.1}, {"border", ", ingress: on", 0.02},
      {"core", "", 0},      {"core", ", ingress: off", 0},  {"border", ", ingress: off", 0},
  };
  for (const auto& c : cases) {
    const ArdParams p = aggregate_at(c.role, c.settings).marker;
    EXPECT_EQ(p.drop, Probability(c.drop)) << c.role << c.settings;
    EXPECT_EQ(p.remark, Probability(0.5)) << "remarks everywhere";
  }
}

TEST(ParseAggregates, SourcesAreOnePrefixOrAList) {
  EXPECT_TRUE(aggregate_at("border", "").sources.empty());
  EXPECT_EQ(aggregate_at("border", ", match: {source: 10.1.0.0/26}").sources,
            std::vector{prefix("10.1.0.0/26")});
  EXPECT_EQ(aggregate_at("border", ", match: {source: [10.1.0.7, \"2001:db8::/32\"]}").sources,
            (std::vector{prefix("10.1.0.7/32"), prefix("2001:db8::/32")}));
}

TEST(ParseAggregates, BeforeAClassOfAnInterface) {
  const auto c = parsed(
      "queues: {q: [{name: x, dscp: {in: AF11, out: AF12}}], own: [{name: v, dscp: EF}, {name: y, dscp: {in: "
      "AF21, out: AF22}}]}\n"
      "interfaces: {i: {port: b, vlan: 1}, j: {port: b, vlan: 2, queues: own}}\n"
      "aggregates:\n"
      "  of_port: {port: b, queue: x, rate: 5 Mbit/s}\n"
      "  of_i: {interface: i, queue: x, rate: 5 Mbit/s}\n"
      "  of_j: {interface: j, queue: y, rate: 5 Mbit/s}\n",
      "ports: {a: {device: null}, b: {device: null, queues: q}}\n");
  ASSERT_EQ(c.aggregates.size(), 3u);
  EXPECT_EQ(c.aggregates[0].interface, std::nullopt);
  EXPECT_EQ(c.aggregates[1].interface, 0u);
  EXPECT_EQ(c.aggregates[1].port, 1u) << "where the interface lies";
  EXPECT_EQ(c.aggregates[1].out_dscp, 12) << "of its port's queues";
  EXPECT_EQ(c.aggregates[2].interface, 1u);
  EXPECT_EQ(c.aggregates[2].class_index, 1u) << "of its own queues";
  EXPECT_EQ(c.aggregates[2].out_dscp, 20);
  EXPECT_EQ(c.queues_before(c.aggregates[1])->name, "q");
  EXPECT_EQ(c.queues_before(c.aggregates[2])->name, "own");
}

TEST(ParseSystem, EveryOption) {
  const auto c = parsed(
      "metrics: {listen: off}\n"
      "flow_table: {capacity: 1000000, creation_rate: 5000, idle_timeout: 1 min, held: 1 packet}\n"
      "dpdk: {hugepages: no, memory: 512 MB, mbufs: 2048, max_routes: 100, eal: [--no-telemetry, -v]}\n"
      "kernel: {routes: off, addresses: false}\n");
  EXPECT_EQ(c.metrics.listen, "");
  EXPECT_EQ(c.flow_table.capacity, 1'000'000u);
  EXPECT_EQ(c.flow_table.creation_rate, 5000u);
  EXPECT_EQ(c.flow_table.idle_timeout, 60s);
  EXPECT_EQ(c.flow_table.held_packets, 1u);
  EXPECT_EQ(c.dpdk.hugepages, Dpdk::Hugepages::off);
  EXPECT_EQ(c.dpdk.memory_mb, 512u);
  EXPECT_EQ(c.dpdk.mbufs, 2048u);
  EXPECT_EQ(c.dpdk.max_routes, 100u);
  EXPECT_THAT(c.dpdk.extra, ElementsAre("--no-telemetry", "-v"));
  EXPECT_FALSE(c.kernel.routes || c.kernel.addresses);
}

TEST(ParseSystem, CreationsAreUnlimitedOrAsTheCapacitySays) {
  EXPECT_EQ(parsed("flow_table: {creation_rate: 0}\n").flow_table.creation_rate, 0u);
  EXPECT_EQ(parsed("flow_table: {}\n").flow_table.creation_rate, std::nullopt);
}

TEST(ParseSystem, Log) {
  EXPECT_EQ(parsed("").log.format, Log::Format::text);
  EXPECT_EQ(parsed("").log.level, Log::Level::info);
  const Log log = parsed("log: {format: json, level: notice}\n").log;
  EXPECT_EQ(log.format, Log::Format::json);
  EXPECT_EQ(log.level, Log::Level::notice);
}

TEST(ParseSystem, MemoryIsRoundedUp) {
  EXPECT_EQ(parsed("dpdk: {memory: 1 MiB}\n").dpdk.memory_mb, 2u);
}

TEST(ParseSystem, ListenAddresses) {
  for (const auto* text : {"'[::1]:9464'", "localhost:1", "0.0.0.0:65535"}) {
    EXPECT_NE(parsed(std::string("metrics: {listen: ") + text + "}\n").metrics.listen, Metrics{}.listen)
        << text;
  }
}

TEST(ParseSystem, WhoMayReadTheMetrics) {
  const auto m =
      parsed("metrics: {tls: {cert_file: c.pem, key_file: /etc/k.pem}, password_file: p}\n").metrics;
  ASSERT_TRUE(m.tls);
  EXPECT_EQ(m.tls->cert_file, "dir/c.pem");
  EXPECT_EQ(m.tls->key_file, "/etc/k.pem");
  EXPECT_EQ(m.password_file, "dir/p");
  EXPECT_FALSE(parsed("").metrics.tls);
  EXPECT_TRUE(m.console);
  EXPECT_FALSE(parsed("metrics: {console: off}\n").metrics.console);
}

// Beyond loopback, without a password or with one that all can see on their way.
TEST(ParseSystem, MetricsOfALoopbackAddressNeedNoPassword) {
  const auto warnings = [](const std::string& metrics) {
    const auto r =
        parse("version: 1\nports: {a: {device: null}}\nmetrics: {listen: " + metrics + "}\n", "r.yaml");
    EXPECT_TRUE(r.ok()) << metrics;
    return r.diagnostics.empty() ? "" : r.diagnostics.front().message;
  };
  for (const auto* own : {"off", "'127.0.0.1:1'", "'127.8.9.1:1'", "'[::1]:1'", "localhost:1"})
    EXPECT_EQ(warnings(own), "") << own;
  for (const auto* open : {"'0.0.0.0:1'", "'[::]:1'", "'192.0.2.1:1'", "router:1"}) {
    EXPECT_THAT(warnings(open), HasSubstr("any host that reaches this address")) << open;
    EXPECT_THAT(warnings(open + std::string(", password_file: p")), HasSubstr("add `tls`")) << open;
    EXPECT_EQ(warnings(open + std::string(", password_file: p, tls: {cert_file: c, key_file: k}")), "")
        << open;
  }
}

}  // namespace
}  // namespace surety::config
