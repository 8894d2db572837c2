#include "router/egress.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/unit/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::checksum_right;
using test::copies;
using test::DataPlane;
using test::dscp_of;
using test::kStart;
using test::ready;
using test::udp_frame;
using testing::ElementsAre;
using namespace literals;

constexpr std::uint8_t kBe = 0, kAf11 = 10, kAf12 = 12, kAf21 = 18, kEf = 46, kCs6 = 48;

// A trusted port 0, and port 1 that is what a test makes of it.
class Port {
 public:
  explicit Port(const std::string& settings, const std::string& rest = "", std::uint64_t seed = 1)
      : d("version: 1\nports:\n  in0: {addresses: [10.1.0.254/16], trust: core}\n"
          "  out0: {addresses: [10.2.0.254/16], trust: core" +
              settings + "}\n" + rest,
          {}, seed) {
    d.route("10.2.0.0/16", {ready(1)});
    d.route("2001:db8:2::/48", {ready(1)});
  }
  ~Port() { d.expect_law(); }

  void send(std::uint8_t dscp, std::size_t n = 1, std::size_t length = 1000, std::uint8_t ecn = 0) {
    d.receive(copies(n, udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | ecn)}, length)));
  }
  std::vector<int> dscps(std::size_t room = 64) {
    std::vector<int> all;
    for (const auto& f : d.transmit(1, room)) all.push_back(dscp_of(f));
    return all;
  }
  const QueueCounters& queue(std::size_t cls, Precedence p) const {
    return d.egresses[1]->scheduler().queue(cls).counters(p);
  }
  Time next_event() const { return d.egresses[1]->next_event(d.now); }
  // Time from now until something leaves, and that nothing leaves a nanosecond before.
  Duration wait() {
    const Time t = next_event();
    if (t > d.now) {
      d.turn(t - 1ns);
      EXPECT_TRUE(d.transmit(1).empty());
    }
    const Duration waited = t - kStart;
    d.turn(t);
    return waited;
  }

  DataPlane d;
};

constexpr const char* kQueues = R"(
queues:
  uplink:
    - {name: control, dscp: [CS6, CS7], priority: strict}
    - {name: voice, dscp: [EF], priority: strict, rate: 8 Mbit/s}
    - {name: one, dscp: {in: [AF11], out: [AF12]}, weight: 3, limit: 400 packets}
    - {name: two, dscp: {in: [AF21], out: [AF22, BE]}, weight: 1, limit: 400 packets}
)";

std::size_t class_of(std::uint8_t dscp) {  // of kQueues
  return dscp == kCs6 ? 0 : dscp == kEf ? 1 : dscp == kAf11 || dscp == kAf12 ? 2 : 3;
}

TEST(Egress, APortWithoutQueuesIsOneFifo) {
  Port p("");
  p.send(kBe);
  p.send(kCs6);
  p.send(kAf12);
  EXPECT_EQ(p.next_event(), p.d.now);
  EXPECT_THAT(p.dscps(), ElementsAre(kBe, kCs6, kAf12));
  EXPECT_EQ(p.next_event(), kNever);
  EXPECT_EQ(p.d.ports[1].tx_bytes, 3 * 1014u);
}

TEST(Egress, APortWithoutQueuesDropsAtItsLimit) {
  Port p("");
  p.send(kBe, 960);
  p.send(kBe, 64);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 24u);
  EXPECT_EQ(p.d.egresses[1]->depth(), 1000u);
  EXPECT_EQ(p.d.ports[1].enqueued, 1024u);
  p.dscps();
  p.send(kBe, 65);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 25u);
}

TEST(Egress, TheDscpDecidesClassAndPrecedence) {
  Port p(", queues: uplink", kQueues);
  const struct {
    std::uint8_t dscp;
    std::size_t cls;
    Precedence precedence;
  } cases[] = {{kCs6, 0, Precedence::in},   {56, 0, Precedence::in},
               {kEf, 1, Precedence::in},    {kAf11, 2, Precedence::in},
               {kAf12, 2, Precedence::out}, {kAf21, 3, Precedence::in},
               {20, 3, Precedence::out},    {kBe, 3, Precedence::out},
               {63, 3, Precedence::out}};  // named by nobody: where BE goes
  for (const auto& c : cases) {
    const auto before = p.queue(c.cls, c.precedence).arrivals;
    p.send(c.dscp);
    EXPECT_EQ(p.queue(c.cls, c.precedence).arrivals, before + 1) << int{c.dscp};
  }
}

TEST(Egress, Ipv6TrafficClassDecidesToo) {
  using namespace frames;
  Port p(", queues: uplink", kQueues);
  p.d.receive({ethernet(kIpv6) + ip6(17, udp(1, 2, 3), {.traffic_class = 0xb8}),
               ethernet(kIpv6) + ip6(17, udp(1, 2, 3), {.traffic_class = kAf12 << 2})});
  EXPECT_EQ(p.queue(1, Precedence::in).arrivals, 1u);
  EXPECT_EQ(p.queue(2, Precedence::out).arrivals, 1u);
}

// Packets are told apart by their lengths.
TEST(Egress, AMixtureOfClassesKeepsTheOrderOfEach) {
  Port p(", queues: uplink", kQueues);
  constexpr std::array kDscps{kBe, kAf11, kAf12, kAf21, kEf, kCs6};
  Rng rng(5);
  std::vector<Octets> burst;
  std::map<std::size_t, std::vector<std::size_t>> sent, left;  // by class
  for (std::size_t length = 100; length < 164; ++length) {
    const std::uint8_t dscp = kDscps[rng.next() % kDscps.size()];
    burst.push_back(udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2)}, length));
    sent[class_of(dscp)].push_back(burst.back().size());
  }
  p.d.receive(burst);
  for (const auto& f : p.d.transmit(1, 64))
    left[class_of(static_cast<std::uint8_t>(dscp_of(f)))].push_back(f.size());
  EXPECT_EQ(sent.size(), 4u);
  EXPECT_EQ(left, sent);
}

TEST(Egress, StrictClassesGoFirstWeightedOnesShareTheRest) {
  Port p(", queues: uplink", kQueues);
  p.send(kAf11, 40);
  p.send(kAf21, 40);
  p.send(kEf, 1);
  p.send(kCs6, 2);
  EXPECT_THAT(p.dscps(3), ElementsAre(kCs6, kCs6, kEf));
  std::map<int, int> shares;
  for (const int dscp : p.dscps(24)) ++shares[dscp];
  EXPECT_EQ(shares[kAf11], 18);
  EXPECT_EQ(shares[kAf21], 6);
}

// 1000 bytes at 8 Mbit/s take 1 ms; the burst is 3000 bytes, and the packet that empties it may overdraw it.
TEST(Egress, TheShaperLetsGoAtItsRate) {
  Port p(", shape: 8 Mbit/s");
  p.send(kBe, 10);
  EXPECT_EQ(p.d.transmit(1).size(), 3u);
  EXPECT_EQ(p.wait(), 1ns) << "one credit is enough to leave on";
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 1ms + 1ns);
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 2ms + 1ns);
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  p.d.turn(kStart + 100ms);
  EXPECT_EQ(p.d.transmit(1).size(), 3u) << "the burst, however long the pause";
}

TEST(Egress, TheShaperCountsWhatTheWireAdds) {
  Port p(", shape: 8 Mbit/s, overhead: ethernet");
  p.send(kBe, 10, 962);
  EXPECT_EQ(p.d.transmit(1).size(), 3u);
  p.wait();
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 1ms + 1ns);
}

TEST(Egress, ACappedClassWaitsWithoutHoldingUpOthers) {
  Port p(", queues: uplink", kQueues);
  p.send(kEf, 6);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf, kEf, kEf));
  EXPECT_EQ(p.wait(), 1ns);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf));
  p.send(kAf11);
  EXPECT_EQ(p.next_event(), p.d.now);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11));
  EXPECT_EQ(p.wait(), 1ms + 1ns);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf));
}

TEST(Egress, NextEventIsTheLaterOfCapAndShaper) {
  Port p(", queues: uplink, shape: 4 Mbit/s", kQueues);
  p.send(kEf, 9);
  EXPECT_EQ(p.dscps().size(), 3u);
  p.wait();
  EXPECT_EQ(p.dscps().size(), 1u);
  EXPECT_EQ(p.wait(), 2ms + 1ns) << "the shaper's";
  EXPECT_EQ(p.dscps().size(), 1u);
}

TEST(Egress, RoomIsRespected) {
  Port p("");
  p.send(kBe, 10);
  EXPECT_EQ(p.d.transmit(1, 0).size(), 0u);
  EXPECT_EQ(p.d.transmit(1, 3).size(), 3u);
  EXPECT_EQ(p.d.transmit(1, 64).size(), 7u);
}

// RIO over the queue length itself (average: 1), so that verdicts are known: early never (1e-6), forced above
// `max`.
constexpr const char* kRio = R"(
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [AF12, BE]}
      limit: 40 packets
      rio: {average: 1, in: {min: 50, max: 50, pmax: 0.000001}, out: {min: 4, max: 20, pmax: 0.000001}}
)";

TEST(Egress, QueueDropsHaveTheirReasons) {
  Port p(", queues: uplink", kRio);
  p.send(kAf12, 30);
  EXPECT_EQ(p.d.drops(1, DropReason::forced), 9u) << "21 are in when the average is above 20";
  p.send(kAf11, 30);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 11u);
  EXPECT_EQ(p.queue(0, Precedence::out).forced_drops, 9u);
  EXPECT_EQ(p.queue(0, Precedence::in).overflow_drops, 11u);
  EXPECT_EQ(p.d.in_use(), 40u);
}

// With ECN a sure early drop (pmax 1 at max) becomes a mark: on ECN-capable packets, with the checksum right.
TEST(Egress, CongestionExperiencedInsteadOfEarlyDrops) {
  using namespace frames;
  Port p(", queues: uplink", R"(
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [BE]}
      rio: {average: 1, in: {min: 50, max: 50, pmax: 1}, out: {min: 3.999, max: 4, pmax: 1}, ecn: on}
)");
  p.send(kAf11, 4);
  const Octets v4 = udp_frame({.tos = 0x02});
  const Octets v6 = ethernet(kIpv6) + ip6(17, udp(1, 2, 3), {.traffic_class = 0x01});
  EXPECT_EQ(p.d.fate(udp_frame()), "to 1, drop early") << "4 packets: p_b is 1";
  EXPECT_EQ(p.d.fate(v4), "to 1");
  EXPECT_EQ(p.d.transmit(1, 1).size(), 1u);
  EXPECT_EQ(p.d.fate(v6), "to 1");
  EXPECT_EQ(p.queue(0, Precedence::out).ecn_marks, 2u);
  const auto out = p.d.transmit(1);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(test::traffic_class_of(out[2]), kAf11 << 2) << "what is not marked stays as it was";
  EXPECT_EQ(test::traffic_class_of(out[3]), 0x03);
  EXPECT_TRUE(checksum_right(out[3]));
  EXPECT_EQ(test::traffic_class_of(out[4]), 0x03);
}

std::string aggregate(const std::string& settings) {
  return std::string(kQueues) + "aggregates:\n  uplink: {port: out0, queue: one, rate: 8 Mbit/s, " +
         settings + "}\n";
}

// Without tokens everything is remarked; the bucket has 5 packets and nothing comes in no time.
TEST(Egress, ArmRemarksWhatHasNoTokens) {
  Port p(", queues: uplink", aggregate("marker: arm, bucket: 5000 B, threshold: 1 B, interval: 100 s"));
  p.send(kAf11, 8, 1000, 1);
  const auto& a = p.d.egresses[1]->aggregates()[0];
  EXPECT_EQ(a.counters.passed_in, 5u);
  EXPECT_EQ(a.counters.remarked, 3u);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 5u);
  EXPECT_EQ(p.queue(2, Precedence::out).arrivals, 3u) << "they are OUT for the queue as well";
  p.send(kAf12, 2);
  EXPECT_EQ(a.counters.passed_out, 2u);
  p.send(kAf21, 2);
  EXPECT_EQ(a.counters.passed_in, 5u) << "other classes have nothing to do with it";
  std::map<int, int> marks;
  for (const auto& f : p.d.transmit(1)) {
    ++marks[test::traffic_class_of(f)];
    EXPECT_TRUE(checksum_right(f));
  }
  EXPECT_EQ(marks,
            (std::map<int, int>{{kAf11 << 2 | 1, 5}, {kAf12 << 2 | 1, 3}, {kAf12 << 2, 2}, {kAf21 << 2, 2}}));
  EXPECT_EQ(p.d.drops(1, DropReason::ard), 0u);
}

TEST(Egress, RemarkedPacketsGetTheDscpThatIsSaidIPv6Too) {
  using namespace frames;
  Port p(", queues: uplink",
         aggregate("marker: arm, bucket: 100 B, threshold: 1 B, interval: 100 s, mark: {out: BE}"));
  const Octets frame = ethernet(kIpv6) + ip6(17, udp(1, 2, 40), {.traffic_class = kAf11 << 2 | 2});
  p.d.receive(copies(3, frame));
  std::vector<int> marks;
  for (const auto& f : p.d.transmit(1)) marks.push_back(test::traffic_class_of(f));
  EXPECT_THAT(marks, ElementsAre(kAf11 << 2 | 2, 2, 2)) << "88 bytes each";
  EXPECT_EQ(p.queue(2, Precedence::out).arrivals, 2u)
      << "the class stays, whatever the new DSCP would lead to";
}

TEST(Egress, ArdDropsAreNamedAndCounted) {
  Port p(", queues: uplink", aggregate("bucket: 5000 B, threshold: 1 B, drop: 1, interval: 100 s"));
  p.send(kAf11, 8);
  EXPECT_EQ(p.d.egresses[1]->aggregates()[0].counters.dropped, 3u);
  EXPECT_EQ(p.d.drops(1, DropReason::ard), 3u);
  EXPECT_EQ(p.d.drops(0, DropReason::ard), 0u);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 5u) << "RIO never sees them";
  EXPECT_EQ(p.d.in_use(), 5u);
}

TEST(Egress, TheIntervalOfAnAggregateEndsWithoutTraffic) {
  Port p(", queues: uplink", aggregate("interval: 1 s"));
  p.send(kAf11, 3);
  p.send(kAf12, 1);
  p.dscps();
  const ArdMarker& marker = p.d.egresses[1]->aggregates()[0].marker;
  EXPECT_EQ(p.next_event(), kStart + 1s);
  p.d.turn(kStart + 1s - 1ns);
  EXPECT_EQ(marker.tpr(), 8_Mbps);
  p.d.turn(kStart + 1s);
  EXPECT_EQ(marker.tpr(), 6_Mbps) << "three quarters of what came were IN";
  EXPECT_EQ(p.next_event(), kStart + 2s);
}

// Two ports with CSA domains: an index into Snapshot::domains finds the controller of its own port and class.
constexpr const char* kCsa = R"(
queues:
  uplink:
    - name: gold
      dscp: {in: [AF21], out: [AF22]}
      rio: {average: 1, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 0.000001}}
    - name: assured
      dscp: {in: [AF11], out: [AF12, BE]}
      rio: {average: 1, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 0.000001}}
services:
  gold: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB,
         alpha: {min: 0.1, max: 0.9, step: 0.1, t1: 30 ms, t2: 90 ms, control: paper}, mark: {in: AF21, out: AF22}}
  silver: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms, control: paper}, mark: {in: AF11, out: BE}}
)";

class CsaPort : public Port {
 public:
  CsaPort() : Port(", queues: uplink", kCsa) {}
  Ratio gold(PortIndex port = 1) { return d.egresses[port]->alpha(d.snapshot.domain(port, 0)); }
  Ratio silver(PortIndex port = 1) { return d.egresses[port]->alpha(d.snapshot.domain(port, 1)); }
};

TEST(Egress, AlphaIsOfItsDomain) {
  CsaPort p;
  EXPECT_EQ(p.gold(0), Ratio::of(0.9));
  EXPECT_EQ(p.silver(0), Ratio::of(0.4));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  EXPECT_EQ(p.silver(), Ratio::of(0.4));
  p.send(kBe, 4);
  p.d.turn(kStart + 30ms);
  p.send(kBe, 7);  // the onset and seven: T1 ran from the onset
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  EXPECT_EQ(p.silver(0), Ratio::of(0.4));
}

TEST(Egress, AlphaOfAnIdlePortRecovers) {
  CsaPort p;
  p.send(kBe, 4);
  p.d.turn(kStart + 30ms);
  p.send(kBe, 7);
  ASSERT_EQ(p.silver(), Ratio::of(0.3));
  p.dscps();
  p.d.turn(kStart + 120ms - 1ns);
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
  p.d.turn(kStart + 120ms);
  EXPECT_EQ(p.silver(), Ratio::of(0.4));
}

// A driver that acts on packets before timers must not lose a T2 that expires at the same moment.
TEST(Egress, AT2ThatExpiresNowComesBeforeTheArrivalsOfNow) {
  CsaPort p;
  p.send(kBe, 4);
  p.d.turn(kStart + 30ms);
  p.send(kBe, 7);
  p.d.turn(kStart + 60ms);
  p.send(kBe, 8);
  ASSERT_EQ(p.silver(), Ratio::of(0.2));
  p.dscps();
  p.d.turn(kStart + 61ms);
  p.send(kBe, 1);  // finds an idle queue: not congested any more
  p.dscps();
  p.d.now = kStart + 150ms;
  p.send(kBe, 4);  // the last is the onset of a new period, which restarts both timers
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
}

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
  EXPECT_EQ(config::to_string(first.source), "10.1.0.17");
  EXPECT_EQ(config::to_string(first.destination), "10.2.0.1");
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
  EXPECT_EQ(config::to_string(all[0].source), "2001:db8:1::1");
  EXPECT_EQ(config::to_string(all[0].destination), "2001:db8:2::2");
}

// A refused packet is an arrival like any other (forced drops above 90 packets); and nobody takes the
// signals.
TEST(Egress, SignalsThatNobodyTakesAreBounded) {
  SignallingPort p;
  for (int i = 0; i < 10; ++i) p.send(kBe, 64);
  EXPECT_GT(p.d.drops(1, DropReason::forced), 500u);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 64u);
  EXPECT_EQ(p.d.egresses[1]->signals().overflowed(), (640u - 3) / 8 - 64);
  EXPECT_EQ(p.taken(10).size(), 10u);
  EXPECT_EQ(p.taken().size(), 54u);
}

// A router without CSA services signals all the same: its flows are conditioned elsewhere.
TEST(Egress, SignalsNeedNoServices) {
  Port p(", queues: uplink", kRio);
  p.d.egresses[1]->enable_signals(true);
  p.send(kAf12, 5 + 8);
  EXPECT_EQ(p.d.egresses[1]->signals().noted(), 1u);
}

TEST(Egress, DiscardFreesWhatIsQueued) {
  Port p(", queues: uplink", kQueues);
  p.send(kEf, 5);
  p.send(kBe, 5);
  EXPECT_EQ(p.d.in_use(), 10u);
  p.dscps();
  p.send(kAf12, 5);
  DataPlane other("version: 1\nports: {a: {addresses: [10.9.0.1/24], trust: core}}\n");
  other.route("10.9.0.0/24", {ready(0)});
  other.receive(copies(3, udp_frame({.destination = 0x0a090002})));
  other.egresses[0]->discard(other.now);
  EXPECT_EQ(other.in_use(), 0u);
}

// What a worker that does not own the port hands over, against the owner's own enqueue().
void send_handed(Port& p, std::uint8_t dscp, std::size_t n, std::uint8_t ecn = 0) {
  Egress& egress = *p.d.egresses[1];
  const auto frame = udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | ecn)}, 1000);
  std::vector<HandedPacket> burst;
  for (std::size_t i = 0; i < n; ++i) {
    rte_mbuf* m = test::to_mbuf(frame);
    burst.push_back(egress.describe(m, static_cast<std::uint16_t>(m->pkt_len - 14)));
  }
  egress.enqueue_handed(burst, p.d.now);
  p.d.ports[1].taken += n;
}

TEST(Egress, WhatIsHandedOverIsQueuedAsWhatIsNot) {
  Port own(", queues: uplink", kQueues), handed(", queues: uplink", kQueues);
  for (const std::uint8_t dscp : {kCs6, kAf11, kAf12, kAf21, kBe})
    for (const std::uint8_t ecn : {std::uint8_t{0}, std::uint8_t{2}}) {
      own.send(dscp, 3, 1000, ecn);
      send_handed(handed, dscp, 3, ecn);
    }
  for (std::size_t cls = 0; cls < 4; ++cls)
    for (const Precedence precedence : {Precedence::in, Precedence::out}) {
      EXPECT_EQ(handed.queue(cls, precedence).arrivals, own.queue(cls, precedence).arrivals) << cls;
      EXPECT_EQ(handed.queue(cls, precedence).departures, own.queue(cls, precedence).departures) << cls;
    }
  EXPECT_EQ(handed.d.ports[1].enqueued, 30u);
  EXPECT_EQ(handed.dscps(), own.dscps());
}

TEST(Egress, AnAggregateMarksWhatIsHandedOver) {
  Port p(", queues: uplink", aggregate("marker: arm, bucket: 5000 B, threshold: 1 B, interval: 100 s"));
  send_handed(p, kAf11, 8);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11, kAf11, kAf11, kAf11, kAf11, kAf12, kAf12, kAf12));
}

TEST(Egress, APortWithoutQueuesTakesOverInOrder) {
  Port p("");
  send_handed(p, kBe, 1);
  send_handed(p, kCs6, 1);
  EXPECT_EQ(p.d.ports[1].enqueued, 2u);
  EXPECT_THAT(p.dscps(), ElementsAre(kBe, kCs6));
}

}  // namespace
}  // namespace surety
