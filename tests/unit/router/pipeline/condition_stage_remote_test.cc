// SPDX-License-Identifier: BSD-3-Clause
// The condition stage under signals from routers along the way (alpha_clocks.h has the clocks by themselves).
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "router/pipeline/condition_stage.h"
#include "tests/unit/router/pipeline/condition_stage_bed.h"

namespace surety {
namespace {

using frames::Octets;
using testing::ElementsAre;
using namespace literals;
using namespace test;

// Routers along the way signal congestion for 10.2.0.0/24: flows to there are held back, and no others.
class RemoteAlphaTest : public AlphaTest {
 protected:
  RemoteAlphaTest() {
    d.route("10.1.0.0/16", {ready(0)});
    d.route("10.2.1.0/24", {ready(1, 2)});
  }
  SignalResult signal(const std::string& destination = "10.2.0.1") {
    CongestionSignal s;
    s.source = parse_address("10.1.0.1").value();
    s.destination = parse_address(destination).value();
    s.kind = SignalKind::reminder;
    return d.ingress->on_signal(s, d.now);
  }
  // "path/length/port/alpha" of those that are held back.
  std::vector<std::string> remotes() {
    std::vector<std::string> all;
    for (const auto& r : d.ingress->remote_alphas()) {
      const CsaDomain& domain = d.snapshot.domains[r.domain];
      all.push_back(to_string(r.path) + "/" + std::to_string(domain.port) + "/" +
                    std::to_string(r.alpha.millionths() / 10'000) + "%");
    }
    return all;
  }
  static std::string path(const std::string& to, int alpha, int port = 1) {
    return to + "/" + std::to_string(port) + "/" + std::to_string(alpha) + "%";
  }

  static constexpr const char* kTo = "10.2.0.0/24";
  static constexpr Udp kElsewhere{.destination = 0x0a020101};
};

TEST_F(RemoteAlphaTest, SignalsStepAlphaOfThePathDownAndSilenceUp) {
  EXPECT_EQ(signal(), SignalResult::applied);
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 30)));
  EXPECT_EQ(d.ingress->next_event(), kStart + 90ms);
  d.turn(kStart + 30ms - 1ns);
  signal();
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 30)));
  d.turn(kStart + 30ms);
  signal();
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 20)));
  d.turn(kStart + 60ms);
  signal();
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 20))) << "the minimum";
  EXPECT_EQ(d.ingress->next_event(), kStart + 150ms);
  d.turn(kStart + 150ms - 1ns);
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 20)));
  d.turn(kStart + 150ms);
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 30)));
  EXPECT_EQ(d.ingress->next_event(), kStart + 240ms);
  d.turn(kStart + 240ms);
  EXPECT_THAT(remotes(), ElementsAre());
  EXPECT_EQ(d.ingress->next_event(), kNever);
  EXPECT_EQ(alpha(), Ratio::of(0.4)) << "of the port's own queue, all the time";
}

TEST_F(RemoteAlphaTest, IsTheRateOfTheOutBucketsOnThatPathOnly) {
  send(kSilver, 1);
  signal();
  d.turn(kStart + 30ms);
  signal();
  d.turn(kStart + 50ms);
  EXPECT_EQ(out_packets_in_10_ms(), 2u);
  signal();
  EXPECT_EQ(out_packets_in_10_ms(kElsewhere), 4u);
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 20)));
  departures(kStart + 2s);
  EXPECT_EQ(out_packets_in_10_ms(), 4u);
}

// Two destinations behind one neighbour, by one route: what is congested on the way to one of them is no
// business of the other's flows.
TEST_F(RemoteAlphaTest, AnotherDestinationOfTheSameNextHopIsLeftAlone) {
  d.route("10.4.0.0/15", {ready(1, 7)});
  constexpr Udp kNear{.destination = 0x0a040001}, kFar{.destination = 0x0a050001};
  send(kSilver, 1, kNear);
  send(kSilver, 1, kFar);
  signal("10.5.0.1");
  d.turn(kStart + 30ms);
  signal("10.5.0.1");
  EXPECT_THAT(remotes(), ElementsAre(path("10.5.0.0/24", 20)));
  d.turn(kStart + 50ms);
  EXPECT_EQ(out_packets_in_10_ms(kFar), 2u);
  signal("10.5.0.1");
  EXPECT_EQ(out_packets_in_10_ms(kNear), 4u);
}

// 8 Mbit/s of OUT packets a second at 0.2 are 1.6 a millisecond: 24 in less than T2.
TEST_F(RemoteAlphaTest, OutPacketsWithoutASampleAreAnAnswer) {
  CongestionSignal s;
  s.source = parse_address("10.1.0.1").value();
  s.destination = parse_address("10.2.0.1").value();
  d.ingress->on_signal(s, d.now);
  ASSERT_THAT(remotes(), ElementsAre(path(kTo, 30)));
  for (int ms = 1; ms <= 90; ++ms) {
    d.turn(kStart + ms * 1ms);
    if (ms <= 75) send(kSilver, 3);  // of which one or two go OUT, held ones too
    drain();
    if (ms < 90) {
      EXPECT_THAT(remotes(), ElementsAre(path(kTo, 30))) << ms;
    }
  }
  ASSERT_GE(d.service("silver").packets[index(Precedence::out)], RemoteAlpha::kEnough);
  EXPECT_THAT(remotes(), ElementsAre());
}

TEST_F(RemoteAlphaTest, SilenceWithoutOutPacketsIsNone) {
  CongestionSignal s;
  s.source = parse_address("10.1.0.1").value();
  s.destination = parse_address("10.2.0.1").value();
  d.ingress->on_signal(s, d.now);
  for (int ms = 1; ms <= 500; ++ms) {
    d.turn(kStart + ms * 1ms);
    send(kSilver, 1, kElsewhere);
    drain();
  }
  EXPECT_THAT(remotes(), ElementsAre(path(kTo, 30)));
}

TEST_F(RemoteAlphaTest, AlphaIsTheMinimumOfTheQueuesAndThePaths) {
  arrivals(kStart, 20);
  arrivals(kStart + 30ms, 8);
  ASSERT_EQ(alpha(), Ratio::of(0.3));
  signal();
  arrivals(kStart + 60ms, 8);
  ASSERT_EQ(alpha(), Ratio::of(0.2));
  ASSERT_THAT(remotes(), ElementsAre(path(kTo, 30)));
  drain();
  EXPECT_EQ(out_packets_in_10_ms(), 2u) << "the queue's";
  departures(kStart + 2s);
  signal();
  d.turn(kStart + 2s + 30ms);
  signal();
  ASSERT_EQ(alpha(), Ratio::of(0.4));
  EXPECT_EQ(out_packets_in_10_ms(), 2u) << "the path's";
}

// 0.3 of the 3 ms until T2 gives the step back, then 0.4 of a quarter of a millisecond: a packet.
TEST_F(RemoteAlphaTest, AFlowThatReturnsKeepsWhatItHasGained) {
  signal();
  d.turn(kStart + 87ms);
  send(kSilver, 4);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kBe, kBe));
  d.turn(kStart + 90ms);
  ASSERT_THAT(remotes(), ElementsAre());
  d.turn(kStart + 90ms + 250us);
  send(kSilver, 3);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kBe));
}

TEST_F(RemoteAlphaTest, AFlowThatReturnsHasGainedNoMore) {
  signal();
  d.turn(kStart + 87ms);
  send(kSilver, 4);
  drain();
  d.turn(kStart + 90ms);
  d.turn(kStart + 90ms + 250us - 4ns);
  send(kSilver, 3);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11));
  EXPECT_EQ(d.ports[0].held, 1u);
}

// Without new arrivals a flow moves when its head is looked at: here at the end of the slot
// of the first millisecond, when its out-bucket has gained 0.4 of it. From then on it is 0.3:
// the other 593.677 us take 1978.923 us.
TEST_F(RemoteAlphaTest, AFlowThatWaitsIsHeldBackToo) {
  send(kSilver, 9);
  drain();
  signal();
  const auto at = [](Duration t) { return slot_end(kStart + t); };
  ASSERT_EQ(at(1ms), kStart + 1'015'808ns);
  EXPECT_THAT(departures(kStart + 10ms),
              ElementsAre(Departure{5, kAf11, at(1ms)}, Departure{6, kAf11, at(2ms)},
                          Departure{7, kBe, at(1'015'808ns + 1'978'923ns)}, Departure{8, kAf11, at(3ms)},
                          Departure{9, kAf11, at(4ms)}));
}

// The flow's head waits when T2 gives its path back.
TEST_F(RemoteAlphaTest, AFlowThatWaitsReturnsToo) {
  send(kSilver, 1);
  signal();
  d.turn(kStart + 85ms);
  send(kSilver, 20);
  drain();
  departures(kStart + 90ms);  // IN at 86 .. 89 ms, OUT at 88.3 ms; the out-bucket has half a packet
  ASSERT_THAT(remotes(), ElementsAre());
  EXPECT_EQ(d.ports[0].held, 20u - 4 - 4 - 1);
  const auto all = departures(kStart + 95ms);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Departure& x) { return x.dscp == kBe; }), 2);
  const auto first = std::find_if(all.begin(), all.end(), [](const Departure& x) { return x.dscp == kBe; });
  EXPECT_EQ(first->time, slot_end(kStart + 91250us)) << "half a packet at alpha 0.4";
}

TEST_F(RemoteAlphaTest, EqualCostRoutesAreHeldBackOnAllTheirPorts) {
  const std::string to = "10.2.2.0/24";
  d.route(to, {ready(1, 3), ready(2, 3), ready(1, 4)});
  EXPECT_EQ(signal("10.2.2.7"), SignalResult::applied);
  EXPECT_THAT(remotes(), ElementsAre(path(to, 30, 1), path(to, 30, 2)));
  d.turn(kStart + 30ms);
  signal("10.2.2.9");
  EXPECT_THAT(remotes(), ElementsAre(path(to, 20, 1), path(to, 20, 2)));
  std::set<PortIndex> used;
  for (std::uint16_t from = 1; from <= 8; ++from) {
    const Udp u{.destination = 0x0a020201, .from = from};
    d.turn(kStart + 50ms + from * 1us);
    send(kSilver, 5, u);
    for (const PortIndex port : {PortIndex{1}, PortIndex{2}})
      if (!d.transmit(port).empty()) used.insert(port);
  }
  ASSERT_EQ(used.size(), 2u) << "the hash has spread them";
  const auto before = d.service("silver").packets[index(Precedence::out)];
  for (std::uint16_t from = 1; from <= 8; ++from)
    send(kSilver, 12, {.destination = 0x0a020201, .from = from});
  d.run_until(kStart + 60ms + 30us);
  EXPECT_EQ(d.service("silver").packets[index(Precedence::out)] - before, 8 * 2u);
}

TEST_F(RemoteAlphaTest, Ipv6PathsAreHeldBackToo) {
  using namespace frames;
  d.route("2001:db8:1::/48", {ready(0)});
  d.route("2001:db8:2::/48", {ready(1, 6)});
  CongestionSignal s;
  s.source = parse_address("2001:db8:1::1").value();
  s.destination = parse_address("2001:db8:2::2").value();
  EXPECT_EQ(d.ingress->on_signal(s, d.now), SignalResult::applied);
  EXPECT_THAT(remotes(), ElementsAre(path("2001:db8:2::/48", 30)));
  const Octets frame = ethernet(kIpv6, test::port_mac(0)) + ip6(17, udp(1, kSilver, 952));
  d.receive(copies(9, frame));
  drain();
  EXPECT_EQ(d.ports[0].held, 5u);
  d.run_until(kStart + 3400us);  // IN at 1, 2 and 3 ms, OUT at 3.33
  EXPECT_EQ(d.ports[0].held, 1u);
}

TEST_F(RemoteAlphaTest, ASignalBetweenTurnsEndsTheTimeBefore) {
  send(kSilver, 4);
  drain();
  d.now = kStart + 2500us;  // the clocks stand at kStart still
  signal();
  d.turn(kStart + 2500us);
  send(kSilver, 3);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kBe)) << "a millisecond at alpha 0.4";
}

}  // namespace
}  // namespace surety
