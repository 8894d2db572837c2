// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace surety::literals;
using endpoints::AckPolicy;
using endpoints::TcpParams;
using endpoints::UdpParams;
using testing::ElementsAre;

const std::string kReplicas = "hosts: [{name: h, times: 3}, {name: s, times: 3}]";

LabSender sender(const std::string& keys) {
  const auto s = clean({.senders = "senders: [{name: f, host: h, to: s, " + keys + "}]"});
  return s.senders.empty() ? LabSender{} : s.senders[0];
}
std::vector<std::string> wrong(const std::string& keys) {
  return messages({.senders = "senders: [{" + keys + "}]"});
}
std::vector<std::string> pairs(const Scenario& s) {
  std::vector<std::string> out;
  for (const auto& f : s.senders)
    out.push_back(f.sender.name + " " + s.hosts[f.host].name + " " + s.hosts[f.to].name);
  return out;
}

TEST(LabSenders, HaveTheVocabularyOfTheEndpoints) {
  const auto f = sender(
      "protocol: reno, target: 250 kbit/s, window: 20 packets, mark: {rate: 250 kbit/s, bucket: 2 packets},"
      " start: 0 s - 1 s, stop: 5 s, packet: 576 B, flows: 2");
  EXPECT_EQ(f.sender.protocol, "reno");
  EXPECT_EQ(f.sender.target, 250_kbps);
  EXPECT_EQ(f.sender.flows, 2u);
  EXPECT_EQ(f.sender.start.to, 1s);
  EXPECT_EQ(f.sender.stop, 5s);
  EXPECT_EQ(std::get<TcpParams>(f.sender.params).window_packets, 20u);
  EXPECT_TRUE(f.sender.common().mark);
  EXPECT_EQ(std::get<UdpParams>(sender("protocol: udp, rate: 1 Mbit/s, on: 1 s, off: 2 s").sender.params).off,
            2s);
}

TEST(LabSenders, AreAcknowledgedByEachPacketUnlessTheySayDelayed) {
  EXPECT_EQ(sender("protocol: newreno").sink.ack, AckPolicy::every);
  EXPECT_EQ(sender("protocol: newreno, ack: every").sink.ack, AckPolicy::every);
  EXPECT_EQ(sender("protocol: newreno, ack: delayed").sink.ack, AckPolicy::delayed);
}

TEST(LabSenders, SayWhatCountsAsIn) {
  EXPECT_EQ(sender("protocol: newreno").sink.in_dscps, endpoints::kInByDefault);
  const auto sink = sender("protocol: newreno, in: [AF12, 63]").sink;
  EXPECT_EQ(sink.in_dscps, std::uint64_t{1} << 12 | std::uint64_t{1} << 63);
}

TEST(LabSenders, MaySayWhichPortTheirReceiverListensOn) {
  EXPECT_EQ(sender("protocol: udp, rate: 1 Mbit/s").sender.to_port, 0);
  EXPECT_EQ(sender("protocol: udp, rate: 1 Mbit/s, to_port: 5004").sender.to_port, 5004);
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: reno, to_port: 0"),
              ElementsAre("5:62 `0` is not a whole number from 1 to 9999"));
}

TEST(LabSenders, AreNotLimitedByTheirReceivers) {
  EXPECT_EQ(sender("protocol: newreno, window: 64 kB").sink.window, 4_MB);
  EXPECT_EQ(sender("protocol: newreno, window: 10 MB").sink.window, 10_MB);
  EXPECT_EQ(sender("protocol: newreno, window: 5000 packets").sink.window, Bytes(7'500'000));
}

TEST(LabSenders, KnowTheMtuOfTheReceiversLink) {
  const auto s =
      clean({.routers = "routers: {r: {ports: {a: {mtu: 9000}, b: {mtu: 1400}}}}",
             .senders = "senders: [{name: f, host: h, to: s, protocol: newreno, packet: 9000 B}]"});
  EXPECT_EQ(s.senders.at(0).sink.mtu, 1400);
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: newreno, packet: 1501 B"),
              ElementsAre("5:64 a packet of 1501 B does not fit into the MTU 1500 of host `h`"));
}

TEST(LabSenders, OfReplicasAreOneEach) {
  const auto s = clean({.hosts = "hosts: [{name: h, times: 3}, s]"});
  EXPECT_THAT(pairs(s), ElementsAre("f#1 h#1 s", "f#2 h#2 s", "f#3 h#3 s"));
}

TEST(LabSenders, OfReplicasToReplicasGoOneToOne) {
  EXPECT_THAT(pairs(clean({.hosts = kReplicas})), ElementsAre("f#1 h#1 s#1", "f#2 h#2 s#2", "f#3 h#3 s#3"));
  EXPECT_THAT(messages({.hosts = "hosts: [{name: h, times: 3}, {name: s, times: 2}]"}),
              ElementsAre("5:34 3 `h` cannot send to 2 `s` one to one"));
}

TEST(LabSenders, ToReplicasAreOneEach) {
  EXPECT_THAT(pairs(clean({.hosts = "hosts: [h, {name: s, times: 2}]"})),
              ElementsAre("f#1 h s#1", "f#2 h s#2"));
}

TEST(LabSenders, OfOneReplica) {
  const auto s = clean({.hosts = kReplicas,
                        .senders = "senders: [{name: f, host: h#2, to: s#3, protocol: newreno},"
                                   " {name: g, host: h, to: s#1, protocol: newreno}]"});
  EXPECT_THAT(pairs(s), ElementsAre("f h#2 s#3", "g#1 h#1 s#1", "g#2 h#2 s#1", "g#3 h#3 s#1"));
  EXPECT_THAT(
      messages({.hosts = kReplicas, .senders = "senders: [{name: f, host: h, to: h#2, protocol: newreno}]"}),
      ElementsAre("5:34 host `h#2` sends to itself"));
}

TEST(LabSenders, GoFromOneHostToAnotherOfItsFamily) {
  EXPECT_THAT(wrong("name: f, host: h, to: h, protocol: reno"), ElementsAre("5:34 host `h` sends to itself"));
  EXPECT_THAT(wrong("name: f, host: sh, to: r, protocol: reno"),
              ElementsAre("5:27 there is no host `sh`; there are: h, s",
                          "5:35 `r` is a router; data flows from host to host"));
  EXPECT_THAT(wrong("name: f, protocol: reno"),
              ElementsAre("5:11 a sender needs `host`", "5:11 a sender needs `to`"));
  EXPECT_THAT(messages({.hosts = "hosts: [{name: h, address: '2001:db8::1'}, s]"}),
              ElementsAre("5:34 `h` has an IPv6 address and `s` an IPv4 one"));
}

TEST(LabSenders, HaveNamesOfTheirOwnAndNoOtherKeys) {
  EXPECT_THAT(messages({.senders = "senders: [{name: f, host: h, to: s, protocol: reno}, {name: f, host: s, "
                                   "to: h, protocol: reno}]"}),
              ElementsAre("5:61 there is already a sender `f`"));
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: reno, widow: 64 kB"),
              ElementsAre("5:53 unknown key `widow` in a sender; did you mean `window`?"));
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: reno, theta: 2"),
              ElementsAre("5:53 `theta` is for gtfrc; a reno sender has no `theta`"));
}

TEST(LabSenders, StartWithinTheRun) {
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: reno, start: 10 s"),
              ElementsAre("5:60 warning: the run is over before this sender starts"));
}

TEST(LabSenders, HaveNotMoreFlowsThanCanBeToldApart) {
  EXPECT_THAT(wrong("name: f, host: h, to: s, protocol: reno, flows: 64513"),
              ElementsAre("5:60 at most 64512 flows: as many as there are source ports"));
  EXPECT_THAT(messages({.hosts = "hosts: [{name: h, times: 16}, s]",
                        .senders = "senders: [{name: f, host: h, to: s, protocol: reno, flows: 64512}]"}),
              ElementsAre("5:10 1032192 flows are too many: at most 1000000"));
}

}  // namespace
}  // namespace surety::lab
