// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_limits.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Plan plan_of(const ScenarioText& text) {
  auto result = result_of(text);
  for (const auto& d : result.diagnostics)
    EXPECT_NE(d.severity, config::Diagnostic::Severity::error) << d.format();
  return Plan(std::move(*result.scenario));
}
double packets(const ScenarioText& text) {
  return live_packets_per_second(plan_of(text));
}
std::vector<std::string> refusals(const ScenarioText& text) {
  return live_refusals(plan_of(text));
}

ScenarioText udp(const std::string& more = "") {
  return {.senders = "senders: [{name: f, host: h, to: s, protocol: udp, rate: 8 Mbit/s, packet: 1000 B" +
                     more + "}]"};
}

TEST(LabLiveLimits, APacketCountsOnEachLinkOfItsWay) {
  EXPECT_DOUBLE_EQ(packets(udp()), 2 * 1000);
}

TEST(LabLiveLimits, ABottleneckLimitsASenderOnItsWholeWay) {
  ScenarioText text = udp();
  text.links = "links: [{between: [h, r.a], rate: 100 Mbit/s}, {between: [r.b, s], rate: 4 Mbit/s}]";
  EXPECT_DOUBLE_EQ(packets(text), 2 * 500);
  text.links = "links: [{between: [h, r.a]}, {between: [r.b, s]}]";
  text.routers = "routers: {r: {ports: {a: {}, b: {shape: 2 Mbit/s}}}}";
  EXPECT_DOUBLE_EQ(packets(text), 2 * 250);
}

TEST(LabLiveLimits, SendersShareABottleneck) {
  ScenarioText text;
  text.hosts = "hosts: [h, i, s]";
  text.links = "links: [{between: [h, r.a]}, {between: [i, r.a]}, {between: [r.b, s], rate: 8 Mbit/s}]";
  text.senders =
      "senders: [{name: f, host: h, to: s, protocol: udp, rate: 8 Mbit/s, packet: 1000 B}, "
      "{name: g, host: i, to: s, protocol: udp, rate: 8 Mbit/s, packet: 1000 B}]";
  EXPECT_DOUBLE_EQ(packets(text), 1000 + 1000 + 1000);
}

TEST(LabLiveLimits, TcpIsAcknowledgedAsItsReceiverDoes) {
  ScenarioText text;
  text.links = "links: [{between: [h, r.a]}, {between: [r.b, s], rate: 12 Mbit/s}]";
  text.senders = "senders: [{name: f, host: h, to: s, protocol: newreno, packet: 1500 B}]";
  EXPECT_DOUBLE_EQ(packets(text), 2 * (1000 + 1000));
  text.senders = "senders: [{name: f, host: h, to: s, protocol: newreno, packet: 1500 B, ack: delayed}]";
  EXPECT_DOUBLE_EQ(packets(text), 2 * (1000 + 500));
  text.senders = "senders: [{name: f, host: h, to: s, protocol: gtfrc, target: 1 Mbit/s, packet: 1500 B}]";
  EXPECT_DOUBLE_EQ(packets(text), 2 * 1000);
  text.senders = "senders: [{name: f, host: h, to: s, protocol: tfrc, rate: 3 Mbit/s, packet: 1500 B}]";
  EXPECT_DOUBLE_EQ(packets(text), 2 * 250);
}

TEST(LabLiveLimits, WithoutAnyRateThereIsNoLimit) {
  EXPECT_TRUE(std::isinf(packets({})));
  EXPECT_THAT(refusals({}),
              ElementsAre("nothing limits the rate of a sender: give a link on its way a `rate`"));
}

TEST(LabLiveLimits, AScenarioOfThePapersCanRun) {
  ScenarioText text = udp();
  text.routers =
      "routers: {r: {ports: {a: {}, b: {shape: 10 Mbit/s, queues: q}}, queues: {q: [{name: be, dscp: {in: "
      "[AF11], out: [BE]}, "
      "count: packets, rio: {in: {min: 20, max: 40, pmax: 0.02}, out: {min: 10, max: 20, pmax: 0.1}}}]}, "
      "services: {c: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 10 packets, "
      "out_bucket: 10 packets, "
      "buffer: 10 packets}}, classify: "
      "[{match: {port: a}, service: c}]}}";
  EXPECT_THAT(refusals(text), IsEmpty());
}

TEST(LabLiveLimits, TooManyPacketsAreRefused) {
  ScenarioText text = udp();
  text.senders = "senders: [{name: f, host: h, to: s, protocol: udp, rate: 8 Mbit/s, packet: 64 B}]";
  EXPECT_THAT(refusals(text),
              ElementsAre("up to 31250 packets a second over all links, ACKs too: live at most 30000"));
}

TEST(LabLiveLimits, TooManyNodesAreRefused) {
  ScenarioText text = udp();
  text.hosts = "hosts: [{name: h, times: 16}, s]";
  text.senders = "senders: [{name: f, host: h, to: s, protocol: udp, rate: 1 kbit/s, packet: 1000 B}]";
  EXPECT_THAT(refusals(text), ElementsAre("17 hosts: at most 16 run live"));
  text = udp();
  text.routers =
      "routers: {r: {ports: {a: {}, b: {}}}, x: {ports: {a: {}}}, y: {ports: {a: {}}}, z: {ports: {a: {}}}}";
  EXPECT_THAT(refusals(text), ElementsAre("4 routers: at most 3 run live side by side"));
}

TEST(LabLiveLimits, AddressesThatAreNotThereForThisAreRefused) {
  ScenarioText text = udp();
  text.hosts = "hosts: [{name: h, address: 100.64.3.1}, {name: s, address: 100.128.0.1}]";
  EXPECT_THAT(refusals(text),
              ElementsAre("host h: addresses of 100.64.0.0/10 are those of live links; give it another"));
  text.hosts = "hosts: [{name: h, address: \"2001:db8::1\"}, {name: s, address: \"2001:db8::2\"}]";
  EXPECT_THAT(refusals(text), ElementsAre("host h: live hosts have IPv4 addresses",
                                          "host s: live hosts have IPv4 addresses"));
}

TEST(LabLiveLimits, NothingToCompareIsRefused) {
  ScenarioText text;
  text.senders = "senders: []";
  EXPECT_THAT(refusals(text), ElementsAre("no senders: there is nothing to compare"));
}

TEST(LabLiveLimits, DccpInUdpIsRefused) {
  ScenarioText text = udp();
  text.senders = "senders: [{name: f, host: h, to: s, protocol: tfrc, rate: 1 Mbit/s, encapsulation: udp}]";
  EXPECT_THAT(refusals(text),
              ElementsAre("sender f: live runs send DCCP directly in IP; leave `encapsulation: udp` out"));
}

TEST(LabLiveLimits, BordersByAddressAreRefused) {
  ScenarioText text = udp();
  const auto router = [](const std::string& mode) {
    return "routers: {r: {router: {role: core}, signalling: {" + mode +
           "borders: [{source: 10.0.0.0/8, border: 198.18.0.1}]}, ports: {a: {}, b: {}}}}";
  };
  text.routers = router("");
  EXPECT_THAT(refusals(text),
              ElementsAre("router r: live routers have other addresses; leave `borders` out"));
  text.routers = router("mode: off, ");
  EXPECT_THAT(refusals(text), IsEmpty()) << "nobody reads them";
}

TEST(LabLiveLimits, HostsBehindTagsAreOfTheLabOnly) {
  ScenarioText text = udp();
  text.routers = "routers: {r: {ports: {a: {}, b: {}}, interfaces: {acme: {port: a, vlan: 107}}}}";
  text.links = "links: [{between: [h, r.acme], rate: 10 Mbit/s}, {between: [r.b, s]}]";
  EXPECT_THAT(refusals(text),
              ElementsAre("link h r.acme: live hosts send frames without tags; link it to the "
                          "port itself"));
}

}  // namespace
}  // namespace surety::lab
