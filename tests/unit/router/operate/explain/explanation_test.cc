// SPDX-License-Identifier: BSD-3-Clause
// What the explanation says is what becomes of the packet, sent afterwards through the same objects.
#include "router/operate/explain/explanation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;
using testing::HasSubstr;
using State = NextHopEntry::State;

constexpr const char* kYaml = R"(version: 1
router: {name: r}
ports:
  lan: {source_check: "off"}
  wan: {trust: core, queues: up}
filters:
  f: [{deny: {destination_port: 9}, name: nine}, {permit: {}}]
interfaces:
  acme: {port: lan, vlan: 107, customer: acme-inc, filter: {in: f}, source_check: strict}
queues:
  up:
    - {name: best, dscp: [BE], limit: 5 packets, count: packets}
    - name: assured
      dscp: {in: [AF11], out: [AF13]}
      limit: 50 packets
      count: packets
      rio: {average: 1, in: {min: 10, max: 20, pmax: 0.1}, out: {min: 2, max: 6, pmax: 0.5}}
    - {name: bytes, dscp: {in: [AF21], out: [AF23]}, limit: 40 packets, aqm: rio}
services:
  two: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 300 B, mark: {in: AF21, out: AF23}}
  gold: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 300 B, mark: {in: AF11, out: AF13}}
  csa: {conditioner: csa, alpha: {max: 0.4}, rate: 800 kbit/s, in_bucket: 200 B, out_bucket: 200 B, buffer: 1 packet, mark: {in: AF11, out: AF13}}
  cop: {conditioner: police, rate: 8 Mbit/s, bucket: 150 B, mark: {in: AF11}}
aggregates:
  all: {port: wan, queue: assured, rate: 8 Mbit/s, marker: arm}
  some: {port: wan, queue: assured, rate: 8 Mbit/s, marker: arm, match: {source: 10.1.0.0/30}}
classify:
  - {match: {port: lan, destination_port: 5001}, service: gold, per: source}
  - {match: {port: lan, destination_port: 5002}, service: csa, per: flow}
  - {match: {port: lan, destination_port: 5003}, service: cop, per: rule}
  - {match: {port: lan, destination_port: 5004-5006}, service: gold, per: flow, contracts: 4}  # two by each interface
  - {match: {port: lan, destination_port: 5020}, service: two, per: rule}
)";

struct ExplanationTest : testing::Test {
  explicit ExplanationTest(const std::string& more = "") : d(kYaml + more) {
    d.route("10.2.0.0/16", {ready(1)});
  }
  Json ask(const std::string& more, const std::string& place = "lan") {
    Traces t;
    t.question = parse_question(fmt::format(
        "{} source={} destination=10.2.0.1 protocol=udp source_port={} {}", place, source, from, more));
    t.arrival = arrival_of(t.question, d.current->config, *d.current->interfaces);
    auto frame = frame_of(t.question, t.arrival);
    trace(*d.ingress, frame, t.arrival.port, d.now, t.ingress);
    t.route = parse_prefix("10.2.0.0/16");
    if (comes_to_queue(t.ingress))
      for (const Precedence p : {Precedence::in, Precedence::out})
        trace(*d.egresses[t.ingress.hop.port], *d.current, t.ingress.hop.port, t.ingress.hop.interface,
              mark_of(t.ingress, *d.current, p), d.now, t.queues[index(p)]);
    return explanation(t, *d.current);
  }
  std::string sentence(const std::string& more, const std::string& place = "lan") {
    return ask(more, place).at("sentence");
  }
  void send(std::uint16_t to) { d.receive({udp_frame({.to = to})}); }

  std::string source = "10.1.0.1";
  std::uint16_t from = 1000;
  DataPlane d;
};

struct OfASubscriber : ExplanationTest {
  OfASubscriber()
      : ExplanationTest(
            "plans: {p: {service: gold}}\nsubscribers: {bob: {plan: p, port: lan, prefixes: 10.1.0.1}}\n") {}
};

TEST_F(OfASubscriber, NamesContractAndCustomerAsShowDoes) {
  const Json j = ask("destination_port=80", "bob");
  EXPECT_EQ(j["contract"]["contract"], "bob");
  EXPECT_EQ(j["contract"]["customer"], "bob");
  EXPECT_FALSE(j["rule"].contains("number")) << "it is not in `classify`";
  EXPECT_EQ(ask("destination_port=5003")["contract"]["contract"], "rule 3");
}

TEST_F(ExplanationTest, SaysEachStageOfAContract) {
  const Json j = ask("destination_port=5001");
  EXPECT_EQ(j["rule"]["number"], 1);
  EXPECT_EQ(j["rule"]["line"], 28);
  EXPECT_EQ(j["rule"]["per"], "source");
  EXPECT_EQ(j["service"]["name"], "gold");
  EXPECT_EQ(j["service"]["committed_bytes_per_second"], 1e6);
  EXPECT_EQ(j["contract"]["contract"], "10.1.0.1");
  EXPECT_EQ(j["contract"]["customer"], "lan");
  EXPECT_EQ(j["contract"]["known"], false);
  EXPECT_EQ(j["contract"]["in_bucket"]["tokens_bytes"], 300.0);
  EXPECT_EQ(j["route"]["prefix"], "10.2.0.0/16");
  EXPECT_EQ(j["route"]["mac"], to_string(neighbor_mac(1)));
  EXPECT_EQ(j["queue_in"]["name"], "assured");
  EXPECT_EQ(j["queue_in"]["dscp"], "AF11");
  EXPECT_EQ(j["queue_out"]["dscp"], "AF13");
  EXPECT_EQ(j["queue_out"]["out"]["max_packets"], 6.0);
  EXPECT_EQ(j["queue_out"]["aggregate"], "some");
  EXPECT_EQ(j["verdict"], "leaves");
  EXPECT_FALSE(j.contains("flow"));
  EXPECT_EQ(j["sentence"],
            "service gold, marked IN up to 8 Mbit/s, IN now, leaves by wan in queue assured, drop "
            "probability 0 % IN, 0 % OUT");
  EXPECT_THAT(render_explanation(j), HasSubstr("1 (line 28): service gold per source"));
}

TEST_F(ExplanationTest, BucketsAreThoseThatThePacketFinds) {
  send(5001);
  send(5001);
  Json j = ask("destination_port=5001");
  EXPECT_EQ(j["contract"]["known"], true);
  EXPECT_EQ(j["contract"]["in_bucket"]["tokens_bytes"], 100.0);
  EXPECT_EQ(j["counted"]["in_bytes"], 200);
  EXPECT_THAT(std::string(j["sentence"]), HasSubstr("IN now"));
  send(5001);
  j = ask("destination_port=5001");
  EXPECT_EQ(j["contract"]["in_bucket"]["tokens_bytes"], 0.0);
  EXPECT_THAT(std::string(j["sentence"]), HasSubstr("OUT now"));
  d.transmit(1);
  send(5001);
  EXPECT_EQ(dscp_of(d.transmit(1).at(0)), kAf13);
}

TEST_F(ExplanationTest, BeyondWhatItsRuleSellsItIsTheExcessContract) {
  const auto contract = [&](const char* more) { return ask(more)["contract"]; };
  EXPECT_EQ(contract("destination_port=5004")["contract"], "this flow");
  send(5004);
  EXPECT_EQ(contract("destination_port=5004")["contract"], "this flow") << "the first of two";
  EXPECT_EQ(contract("destination_port=5005")["contract"], "(excess)") << "the second one is shared";
  EXPECT_EQ(contract("destination_port=5005")["known"], false);
  send(5005);
  EXPECT_EQ(contract("destination_port=5005")["contract"], "(excess)") << "as its record says";
  const Json another = contract("destination_port=5006");
  EXPECT_EQ(another["contract"], "(excess)");
  EXPECT_EQ(another["known"], true);
  EXPECT_EQ(another["in_bucket"]["tokens_bytes"], 200.0);
}

TEST_F(ExplanationTest, OfCsaItSaysAlphaAndWhoWaits) {
  Json j = ask("destination_port=5002");
  EXPECT_EQ(j["contract"]["domain"], "wan/assured");
  EXPECT_GT(j["contract"]["alpha_ratio"], 0.0);
  EXPECT_EQ(j["verdict"], "leaves");
  for (int i = 0; i < 4; ++i) send(5002);
  j = ask("destination_port=5002");
  EXPECT_EQ(j["contract"]["out_bucket"]["tokens_bytes"], 0.0);
  EXPECT_EQ(j["verdict"], "waits");
  send(5002);
  j = ask("destination_port=5002");
  EXPECT_EQ(j["contract"]["buffer"]["held_packets"], 1);
  EXPECT_EQ(j["reason"], "buffer");
  EXPECT_EQ(d.fate(udp_frame({.to = 5002})), "drop buffer");
}

// A flow table and a pool of held packets that are soon used up: for each packet the explanation gives the
// same result as the packet itself, which follows.
struct CrowdedExplanationTest : ExplanationTest {
  explicit CrowdedExplanationTest(int held = 6)
      : ExplanationTest(
            fmt::format("flow_table: {{capacity: 64, creation_rate: 5, held: {} packets}}\n", held)) {}

  std::string explained(std::uint16_t to) {
    const Json j = ask(fmt::format("destination_port={}", to));
    const std::string verdict = j["verdict"];
    if (verdict != "leaves") return verdict == "waits" ? "held" : "drop " + j["reason"].get<std::string>();
    return j.contains("degraded") ? j["degraded"]["reason"] : Json("leaves");
  }
  std::map<std::string, int> results;  // of compare()
  // Sends some thousand packets; `few`: customers of the phases with few.
  void compare(std::uint32_t few);
  std::string sent(std::uint16_t to) {
    const auto before = d.ports[0].degraded;
    const std::uint32_t address = parse_address(source).value().v4_host_order();
    const std::string fate = d.fate(udp_frame({.source = address, .from = from, .to = to}));
    for (std::size_t r = 0; r < kDegradeReasons; ++r)
      if (d.ports[0].degraded[r] > before[r]) return std::string(kDegradeReasonInfo[r].name);
    d.transmit(1);
    return fate == "to 1" ? "leaves" : fate;
  }
};

// Each phase has many or few flows, of many or few customers, with or without time between packets.
void CrowdedExplanationTest::compare(std::uint32_t few) {
  Rng rng(7);
  for (unsigned phase = 0; phase < 32; ++phase) {
    if (phase % 8 == 0) d.turn(d.now + (phase % 16 == 0 ? 40s : 3s));
    const std::uint32_t ports = (phase & 1) == 0 ? 16 : 80, customers = (phase & 2) != 0 ? 60 : few;
    for (int i = 0; i < 150; ++i) {
      if ((phase & 4) != 0 && rng.next() % 32 == 0) d.turn(d.now + Duration(rng.next() % 4'000'000));
      source = fmt::format("10.1.{}.1", rng.next() % customers);
      from = static_cast<std::uint16_t>(rng.next() % ports);
      const auto to = static_cast<std::uint16_t>(rng.next() % 2 != 0 ? 5002 : 5001 + rng.next() % 5);
      const std::string expected = explained(to);
      ASSERT_EQ(sent(to), expected) << "phase " << phase << ", packet " << i;
      ++results[expected];
    }
  }
}

TEST_F(CrowdedExplanationTest, ItIsDecidedAsThePacketsAre) {
  compare(2);
  for (const char* const result : {"leaves", "held", "drop buffer", "drop buffer_total", "drop police",
                                   "flow_share_full", "creation_limited"})
    EXPECT_GE(results[result], 5) << result;
}

struct ExplanationOfAShareTest : CrowdedExplanationTest {
  ExplanationOfAShareTest() : CrowdedExplanationTest(12) {}
};

TEST_F(ExplanationOfAShareTest, ItIsDecidedAsThePacketsAre) {
  compare(1);
  EXPECT_GE(results["drop buffer_share"], 5);
}

TEST_F(CrowdedExplanationTest, APacketWithoutARecordIsBestEffort) {
  for (from = 0; from < 64; ++from) sent(5002);
  const Json j = ask("destination_port=5002");
  EXPECT_EQ(j["service"]["name"], "unclassified");
  EXPECT_EQ(j["degraded"]["reason"], "flow_share_full");
  EXPECT_FALSE(j.contains("contract"));
  EXPECT_EQ(j["queue_in"]["name"], "best");
  EXPECT_THAT(std::string(j["sentence"]), HasSubstr("service unclassified (flow_share_full), leaves by wan"));
  EXPECT_THAT(render_explanation(j), HasSubstr("its customer has used up its part of the flow table"));
}

// The flow that has moved its contract is another one than the one asked for.
TEST_F(ExplanationTest, AContractThatAReloadHasMovedHasItsNewService) {
  const auto receive = [&](std::uint16_t from_port) {
    d.receive({udp_frame({.from = from_port, .to = 5001})});
    d.turn(d.now + 2ms);
  };
  receive(1000);
  receive(1001);
  std::string text = kYaml;
  const std::string rule = "destination_port: 5001}, service: ";
  d.reload(text.replace(text.find(rule), rule.size() + 4, rule + "csa"));
  while (d.ingress->adopting()) d.turn(d.now + 1ms);
  for (int i = 0; i < 3; ++i) receive(1001);
  const Json j = ask("destination_port=5001");
  EXPECT_TRUE(j.contains("flow"));
  EXPECT_EQ(j["service"]["name"], "csa");
  EXPECT_EQ(j["contract"]["in_bucket"]["depth_bytes"], 200.0);
}

TEST_F(ExplanationTest, WhatIsPolicedIsDropped) {
  EXPECT_EQ(ask("destination_port=5003")["verdict"], "leaves");
  send(5003);
  const Json j = ask("destination_port=5003");
  EXPECT_EQ(j["verdict"], "dropped");
  EXPECT_EQ(j["reason"], "police");
  EXPECT_EQ(d.fate(udp_frame({.to = 5003})), "drop police");
}

TEST_F(ExplanationTest, TheProbabilityIsThatOfTheNextArrival) {
  for (int i = 0; i < 8; ++i)
    d.receive({udp_frame({.to = 5001})});  // 3 IN, 5 OUT; a weight of 1: the queue itself
  const auto depth = d.egresses[1]->depth();
  const Json j = ask("destination_port=5001");
  EXPECT_EQ(j["queue_in"]["packets"], depth);
  EXPECT_EQ(j["queue_in"]["counted_packets"], d.egresses[1]->scheduler()->queue(1).level());
  EXPECT_EQ(j["queue_in"]["limit_packets"], 50);
  EXPECT_EQ(j["queue_out"]["limit_packets"], 50);
  EXPECT_EQ(j["queue_in"]["drop_probability"], 0.0);
  const auto& q = d.egresses[1]->scheduler()->queue(1);
  EXPECT_EQ(j["queue_out"]["drop_probability"], q.refusal(Precedence::out, d.now));
  EXPECT_GT(j["queue_out"]["drop_probability"], 0.0);
}

TEST_F(ExplanationTest, OfAQueueByBytesItSaysHowItCountsAndWhatOutPacketsFind) {
  for (int i = 0; i < 3; ++i) send(5020);
  const Json j = ask("destination_port=5020");
  EXPECT_EQ(j["queue_in"]["packets"], 3);
  EXPECT_DOUBLE_EQ(j["queue_in"]["counted_packets"].get<double>(), 0.2) << "100 bytes each";
  EXPECT_EQ(j["queue_in"]["limit_packets"], 40);
  EXPECT_EQ(j["queue_out"]["limit_packets"], 20);
  EXPECT_THAT(render_explanation(j), HasSubstr("3 packets (0.2 of 1500 bytes), limit 20 for OUT"));
}

TEST_F(ExplanationTest, AFullQueueDropsForCertain) {
  for (int i = 0; i < 6; ++i) send(7);
  const Json j = ask("destination_port=7");
  EXPECT_EQ(j["queue_in"]["name"], "best");
  EXPECT_EQ(j["queue_in"]["packets"], 5);
  EXPECT_EQ(j["queue_in"]["drop_probability"], 1.0);
  EXPECT_FALSE(j.contains("rule"));
  EXPECT_FALSE(j.contains("contract"));
  EXPECT_EQ(j["sentence"],
            "service unclassified, not conditioned, leaves by wan in queue best, drop probability 100 %");
}

TEST_F(ExplanationTest, AFlowThatIsThereIsKnown) {
  send(5001);
  EXPECT_TRUE(ask("destination_port=5001").contains("flow"));
  EXPECT_FALSE(ask("destination_port=5001", "acme").contains("flow"));
  EXPECT_TRUE(ask("destination_port=5001", "acme")["contract"]["known"]);  // of the same source
}

TEST_F(ExplanationTest, SaysWhoRefusesIt) {
  d.route("10.1.0.0/16", {ready_by(0, *d.snapshot.interfaces, d.snapshot.interfaces->of_definition(0))});
  EXPECT_THAT(sentence("destination_port=9", "acme"), HasSubstr("dropped (filtered)"));
  EXPECT_EQ(ask("destination_port=9", "acme")["filter_in"]["entry"], "nine");
  EXPECT_EQ(ask("destination_port=8", "acme")["filter_in"]["entry"], "2");
  EXPECT_EQ(ask("destination_port=8", "acme")["interface"]["customer"], "acme-inc");
  EXPECT_THAT(sentence("destination_port=8 vlan=108"), HasSubstr("dropped (vlan_unknown)"));
  EXPECT_THAT(sentence("destination_port=8 length=1501"), HasSubstr("kernel (mtu)"));
}

TEST_F(ExplanationTest, AStrangersSourceIsRefused) {
  d.route("10.1.0.0/16", {ready(1)});
  const Json j = ask("destination_port=8", "acme");
  EXPECT_EQ(j["source_check"]["accepted"], false);
  EXPECT_EQ(j["reason"], "source_check");
}

TEST_F(ExplanationTest, SaysThatThereIsNoWayOut) {
  d.route("10.2.0.1/32", {not_ready(State::no_route)});
  EXPECT_THAT(sentence("destination_port=8"), HasSubstr("dropped (no_route)"));
  d.route("10.2.0.1/32", {not_ready(State::unresolved, 1)});
  const Json j = ask("destination_port=8");
  EXPECT_EQ(j["reason"], "neighbor_unresolved");
  EXPECT_THAT(render_explanation(j), HasSubstr("is not resolved"));
  d.route("10.2.0.1/32", {not_ready(State::local)});
  EXPECT_THAT(sentence("destination_port=8"), HasSubstr("given to the kernel (local)"));
}

TEST_F(ExplanationTest, AMartianIsAMartian) {
  Traces t;
  t.question = parse_question("lan source=127.0.0.1 destination=10.2.0.1 protocol=icmp");
  auto frame = frame_of(t.question, t.arrival);
  trace(*d.ingress, frame, 0, d.now, t.ingress);
  EXPECT_EQ(explanation(t, *d.current)["reason"], "ipv4_martian_source");
}

TEST_F(ExplanationTest, AskingChangesNothing) {
  send(5001);
  const auto before = d.ports;
  for (int i = 0; i < 3; ++i) {
    ask("destination_port=5001");
    ask("destination_port=5002");
  }
  EXPECT_EQ(d.ingress->flows().size(), 2u);  // the flow and its contract
  EXPECT_EQ(d.ports[0].rx_packets, before[0].rx_packets);
  EXPECT_EQ(ask("destination_port=5001")["contract"]["in_bucket"]["tokens_bytes"], 200.0);
}

}  // namespace
}  // namespace surety
