// SPDX-License-Identifier: BSD-3-Clause
// What congested queues of internal routers ask for.
#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The congested queue of an internal router: from the 4th packet on, a signal at each 8th.
class SignallingPort : public CsaPort {
 public:
  SignallingPort() { d.egresses[1]->enable_signals(true); }
  std::vector<CongestionSignal> taken(std::size_t room = 100) {
    std::vector<CongestionSignal> all(room);
    all.resize(d.egresses[1]->take_signals(all));
    return all;
  }
  // Packets of flows that can be told apart by their source.
  void send_from(std::uint32_t first, std::size_t n, std::uint8_t dscp = kBe) {
    std::vector<Octets> burst;
    for (std::uint32_t i = 0; i < n; ++i)
      burst.push_back(udp_frame({.source = first + i, .tos = static_cast<std::uint8_t>(dscp << 2)}));
    d.receive(burst);
  }
};

TEST(Egress, SignalsAreOffUnlessAskedFor) {
  CsaPort p;
  p.send(kBe, 64);
  CongestionSignal s;
  EXPECT_EQ(p.d.egresses[1]->take_signals({&s, 1}), 0u);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 0u);
  p.d.egresses[1]->enable_signals(true);
  p.send(kBe, 8);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 1u);
  p.d.egresses[1]->enable_signals(false);
  p.send(kBe, 8);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 1u);
}

TEST(Egress, EachEighthOutArrivalAsksForASignalTowardsItsSource) {
  SignallingPort p;
  p.send_from(0x0a010001, 3 + 7);
  EXPECT_TRUE(p.taken().empty()) << "not at the onset";
  p.d.turn(kStart + 5ms);
  p.send_from(0x0a010011, 1 + 8 + 7);
  // As they came but for the TTL.
  const auto about = [](std::uint32_t source) {
    const Octets frame = udp_frame({.source = source, .tos = kBe << 2, .ttl = 63});
    CongestionSignal s = signal_about(std::span(frame).subspan(14));
    s.port = 1;
    s.class_index = 1;
    s.time = kStart + 5ms;
    return s;
  };
  const CongestionSignal first = about(0x0a010011), second = about(0x0a010019);
  EXPECT_EQ(to_string(first.source), "10.1.0.17");
  EXPECT_EQ(to_string(first.destination), "10.2.0.1");
  EXPECT_THAT(p.taken(), ElementsAre(first, second));
  EXPECT_TRUE(p.taken().empty());
}

TEST(Egress, InArrivalsDoNotCountForSignals) {
  SignallingPort p;
  p.send(kBe, 10);
  p.send(kAf11, 20);
  EXPECT_TRUE(p.taken().empty());
  p.send(kBe, 1);
  EXPECT_EQ(p.taken().size(), 1u);
}

TEST(Egress, EachClassSignalsForItself) {
  SignallingPort p;
  p.send(kBe, 10);
  p.send(20, 10);  // AF22
  p.send(20, 1);
  p.send(kBe, 1);
  const auto all = p.taken();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].class_index, 0);
  EXPECT_EQ(all[1].class_index, 1);
}

TEST(Egress, SignalsOfIpv6Packets) {
  using namespace frames;
  SignallingPort p;
  p.d.receive(copies(11, ethernet(kIpv6) + ip6(17, udp(1, 2, 3))));
  const auto all = p.taken();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(to_string(all[0].source), "2001:db8:1::1");
  EXPECT_EQ(to_string(all[0].destination), "2001:db8:2::2");
}

// A refused packet is an arrival like any other (forced drops above 90 packets);
// and nobody takes the signals.
TEST(Egress, SignalsThatNobodyTakesAreBounded) {
  SignallingPort p;
  for (std::uint32_t i = 0; i < 10; ++i) p.send_from(0x0a010001 + 64 * i, 64);
  EXPECT_GT(p.d.drops(1, DropReason::forced), 500u);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 64u);
  EXPECT_EQ(p.d.egresses[1]->signals().overflowed(), (640u - 3) / 8 - 64);
  EXPECT_EQ(p.taken(10).size(), 10u);
  EXPECT_EQ(p.taken().size(), 54u);
}

// The queue is congested from the 4th packet on; nobody takes any out.
TEST(Egress, WhoHasSentOutPacketsIsRemindedWhileTheQueueIsCongested) {
  SignallingPort p;
  const auto sources = [&] {
    std::vector<std::string> all;
    for (const CongestionSignal& s : p.taken()) {
      EXPECT_EQ(s.kind, SignalKind::reminder);
      EXPECT_EQ(s.port, 1);
      EXPECT_EQ(s.class_index, 1);
      EXPECT_EQ(s.dscp, kBe);
      all.push_back(to_string(s.source));
    }
    return all;
  };
  EXPECT_EQ(p.d.egresses[1]->next_timer(), kStart + 90ms) << "T2";
  p.send_from(0x0a010001, 4);
  EXPECT_EQ(p.d.egresses[1]->next_timer(), kStart + 32ms);
  p.send_from(0x0a010005, 2);
  p.send_from(0x0a010009, 2, kAf11);
  p.d.turn(kStart + 32ms);
  EXPECT_THAT(sources(), IsEmpty()) << "without an eighth arrival it must have been congested for a while";
  p.d.turn(kStart + 64ms);
  EXPECT_THAT(sources(), UnorderedElementsAre("10.1.0.5", "10.1.0.6"));
  p.d.turn(kStart + 96ms - 1ns);
  EXPECT_THAT(sources(), IsEmpty());
  p.d.turn(kStart + 96ms);
  EXPECT_THAT(sources(), UnorderedElementsAre("10.1.0.5", "10.1.0.6"));
  while (!p.d.transmit(1).empty()) {
  }
  p.d.turn(kStart + 2s);
  EXPECT_THAT(sources(), IsEmpty());
  p.d.turn(kStart + 10s);
  p.d.turn(kStart + 11s);
  EXPECT_GT(p.d.egresses[1]->next_timer(), kStart + 11s + 32ms) << "the watch is over";
}

// A router without CSA services signals all the same: its flows are conditioned elsewhere.
TEST(Egress, SignalsNeedNoServices) {
  Port p(", queues: uplink", kRio);
  p.d.egresses[1]->enable_signals(true);
  p.send(kAf12, 5 + 8);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 1u);
}

// `report: events`: the events of the queue, to sources of IN packets, whoever sent the 8th OUT arrival.
TEST(Egress, EventsGoToSourcesOfInPackets) {
  Port p(", queues: uplink", std::string(kCsa) + "signalling: {report: events}\n");
  p.d.egresses[1]->enable_signals(true);
  const auto event = [](SignalKind kind) { return std::pair(std::string("10.1.0.1"), kind); };
  const auto taken = [&] {
    std::vector<std::pair<std::string, SignalKind>> all;
    std::array<CongestionSignal, 64> out;
    for (std::size_t i = 0, n = p.d.egresses[1]->take_signals(out); i < n; ++i) {
      EXPECT_EQ(out[i].port, 1);
      EXPECT_EQ(out[i].class_index, 1);
      EXPECT_EQ(out[i].dscp, kBe);
      all.emplace_back(to_string(out[i].source), out[i].kind);
    }
    return all;
  };
  const auto send_from = [&](std::uint32_t source, std::size_t n, std::uint8_t dscp) {
    p.d.receive(
        std::vector<Octets>(n, udp_frame({.source = source, .tos = static_cast<std::uint8_t>(dscp << 2)})));
  };
  send_from(0x0a010001, 1, kAf11);
  send_from(0x0a010002, 2, kBe);
  EXPECT_THAT(taken(), IsEmpty());
  send_from(0x0a010002, 1, kBe);
  EXPECT_THAT(taken(), ElementsAre(event(SignalKind::onset)));
  send_from(0x0a010002, 6, kBe);
  EXPECT_THAT(taken(), IsEmpty());
  send_from(0x0a010002, 1, kBe);
  EXPECT_THAT(taken(), ElementsAre(event(SignalKind::eighth)));
  EXPECT_EQ(p.d.egresses[1]->next_timer(), kStart + 1ms);
  p.d.turn(kStart + 1ms);
  EXPECT_THAT(taken(), IsEmpty());
  while (!p.d.transmit(1).empty()) {
  }
  p.d.turn(kStart + 2ms);
  EXPECT_THAT(taken(), ElementsAre(event(SignalKind::clear)));
  EXPECT_EQ(p.d.egresses[1]->next_timer(), kStart + 90ms) << "T2 of the port's own domains";
  p.d.turn(kStart + 11s);
  EXPECT_THAT(taken(), IsEmpty()) << "there are no reminders";
}

// An ARP frame has no source that could be told, whether the port has a tree of queues or not.
TEST(Egress, EventsGoToNoSourceOfTheRoutersOwnFrames) {
  using namespace frames;
  const std::string vlan =
      "interfaces: {v: {port: out0, vlan: 7, addresses: [10.3.0.1/24], shape: 1 Mbit/s}}\n";
  for (const std::string& interfaces : {std::string(), vlan}) {
    Port p(", queues: uplink",
           std::string(kCsa) + "router: {dscp: AF11}\nsignalling: {report: events}\n" + interfaces);
    p.d.egresses[1]->enable_signals(true);
    EXPECT_EQ(p.d.egresses[1]->tree() != nullptr, !interfaces.empty());
    rte_mbuf* m = to_mbuf(ethernet(kArp) + Octets(28, 7));
    ++p.d.ports[1].originated;
    p.d.egresses[1]->enqueue_own({&m, 1}, p.d.now);
    p.send(kBe, 20);
    std::array<CongestionSignal, 64> out;
    EXPECT_EQ(p.d.egresses[1]->take_signals(out), 0u);
    p.send(kAf11);
    p.send(kBe, 20);
    EXPECT_GT(p.d.egresses[1]->take_signals(out), 0u) << "it is congested";
  }
}

}  // namespace
}  // namespace surety
