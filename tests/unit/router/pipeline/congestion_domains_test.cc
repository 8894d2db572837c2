// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/congestion_domains.h"

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

constexpr std::size_t kGold = 0, kSilver = 1;  // classes and services of kCsa

// Of port 1 with kCsa: gold's alpha is 0.1 to 0.9, silver's 0.1 to 0.4; T1 is 30 ms, T2 90 ms.
class CongestionDomainsTest : public testing::Test {
 protected:
  static constexpr auto kOnset = CongestionEvent::onset, kEighth = CongestionEvent::eighth;
  static Snapshot other(const Snapshot& before, std::string yaml, const std::string& from,
                        const std::string& to) {
    yaml.replace(yaml.find(from), from.size(), to);
    return {configured(Port::yaml(", queues: uplink", yaml)), before};
  }
  ~CongestionDomainsTest() override { rte_pktmbuf_free(static_cast<rte_mbuf*>(packet.handle)); }
  Ratio gold() const { return domains.alpha(snapshot.domain(1, kGold)); }
  Ratio silver() const { return domains.alpha(snapshot.domain(1, kSilver)); }
  void arrival(std::size_t cls, CongestionEvent event, Time now) { domains.arrival(cls, event, packet, now); }
  // The domains look at a queue and no further: its packets are nothing.
  void fill(std::size_t cls, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) queues.enqueue(cls, {nullptr, kNoFlow, 100}, false, kStart);
  }
  void empty() {
    for (Packet p; queues.dequeue(kStart, p);) {
    }
  }

  Snapshot snapshot{configured(Port::yaml(", queues: uplink", kCsa))};
  CongestionDomains domains{CongestionDomains::configured(snapshot, 1, kStart), snapshot.domain_capacity, 1};
  EgressQueues of_port{ClassScheduler{class_params(snapshot.queues[1]), {}, kStart, 1}};
  ClassScheduler& queues = std::get<ClassScheduler>(of_port);
  Packet packet{to_mbuf(udp_frame({.tos = kAf12 << 2})), kNoFlow, 100};
};

TEST_F(CongestionDomainsTest, AlphaBeginsAtItsMaximumAndIsOneForDomainsOfOthers) {
  EXPECT_EQ(gold(), Ratio::of(0.9));
  EXPECT_EQ(silver(), Ratio::of(0.4));
  EXPECT_EQ(domains.alpha(snapshot.domain(0, kGold)), Ratio::of(1)) << "another port's";
  EXPECT_EQ(snapshot.domain_capacity, 4 + kSpareDomains);
  for (std::uint16_t d = 4; d < snapshot.domain_capacity; ++d)
    EXPECT_EQ(domains.alpha(d), Ratio::of(1)) << "may come: " << d;
}

TEST_F(CongestionDomainsTest, AnEighthArrivalAfterT1TakesTheAlphaOfItsClassDown) {
  arrival(kSilver, kOnset, kStart + 5ms);
  EXPECT_EQ(silver(), Ratio::of(0.4)) << "an onset only starts the timers";
  arrival(kSilver, kEighth, kStart + 35ms - 1ns);
  EXPECT_EQ(silver(), Ratio::of(0.4)) << "T1 runs";
  arrival(kSilver, kEighth, kStart + 35ms);
  EXPECT_EQ(silver(), Ratio::of(0.3));
  EXPECT_EQ(gold(), Ratio::of(0.9));
  arrival(kGold, kEighth, kStart + 35ms);
  EXPECT_EQ(gold(), Ratio::of(0.8));
  EXPECT_EQ(silver(), Ratio::of(0.3));
}

TEST_F(CongestionDomainsTest, AlphaOfAnIdleQueueRecovers) {
  fill(kSilver, 4);
  ASSERT_TRUE(queues.queue(kSilver).congested());
  arrival(kSilver, kOnset, kStart);
  arrival(kSilver, kEighth, kStart + 30ms);
  EXPECT_EQ(domains.next_event(), kStart + 90ms) << "gold's";
  domains.advance(of_port, kStart + 90ms);
  EXPECT_EQ(domains.next_event(), kStart + 120ms);
  domains.advance(of_port, kStart + 120ms);
  EXPECT_EQ(silver(), Ratio::of(0.3)) << "congested, though nothing arrives";
  empty();
  domains.advance(of_port, kStart + 210ms - 1ns);
  EXPECT_EQ(silver(), Ratio::of(0.3));
  domains.advance(of_port, kStart + 210ms);
  EXPECT_EQ(silver(), Ratio::of(0.4));
}

// A driver that acts on packets before timers must not lose a T2 that expires at the same moment.
TEST_F(CongestionDomainsTest, AT2ThatExpiresNowComesBeforeTheArrivalsOfNow) {
  arrival(kSilver, kEighth, kStart);
  arrival(kSilver, kEighth, kStart + 30ms);
  ASSERT_EQ(silver(), Ratio::of(0.2));
  arrival(kSilver, kOnset, kStart + 120ms);
  EXPECT_EQ(silver(), Ratio::of(0.3)) << "until an onset the queue was not congested";
  arrival(kSilver, kEighth, kStart + 210ms);
  EXPECT_EQ(silver(), Ratio::of(0.2)) << "until an eighth arrival it was: only that one counts";
}

TEST_F(CongestionDomainsTest, APortWithoutDomainsHasNothingToDo) {
  const Snapshot plain{configured(Port::yaml("", ""))};
  CongestionDomains none{CongestionDomains::configured(plain, 1, kStart), plain.domain_capacity, 1};
  EXPECT_EQ(none.next_event(), kNever);
  none.arrival(0, kEighth, packet, kStart);
  none.advance(of_port, kStart + 1s);
}

TEST_F(CongestionDomainsTest, ADomainThatIsKeptKeepsItsAlphaAndItsTimers) {
  arrival(kSilver, kEighth, kStart);
  ASSERT_EQ(silver(), Ratio::of(0.3));
  auto fresh = CongestionDomains::configured(snapshot, 1, kStart + 60ms);
  domains.adopt(fresh);
  EXPECT_EQ(silver(), Ratio::of(0.3));
  EXPECT_EQ(gold(), Ratio::of(0.9));
  EXPECT_EQ(domains.next_event(), kStart + 90ms);
  domains.advance(of_port, kStart + 90ms);
  EXPECT_EQ(silver(), Ratio::of(0.4));
}

TEST_F(CongestionDomainsTest, ADomainThatIsKeptFollowsItsMaximum) {
  Snapshot next(configured(Port::yaml(", queues: uplink", kCsa)), snapshot);
  next.domains[next.domain(1, kSilver)].params.max = Ratio::of(0.2);
  auto fresh = CongestionDomains::configured(next, 1, kStart + 60ms);
  domains.adopt(fresh);
  EXPECT_EQ(silver(), Ratio::of(0.2));
  EXPECT_EQ(gold(), Ratio::of(0.9));
  domains.advance(of_port, kStart + 90ms);
  EXPECT_EQ(silver(), Ratio::of(0.2)) << "and stays below";
}

// Another alpha of gold is another domain: that of the flows that come, beside the one of those there are.
TEST_F(CongestionDomainsTest, ADomainBeginsBesideTheOneThatIsRetired) {
  arrival(kGold, kEighth, kStart);
  arrival(kSilver, kEighth, kStart);
  const Snapshot next = other(snapshot, kCsa, "max: 0.9", "max: 0.6");
  const std::uint16_t begun = next.domain(1, kGold);
  EXPECT_EQ(domains.alpha(begun), Ratio::of(1)) << "not adopted yet";
  auto fresh = CongestionDomains::configured(next, 1, kStart + 1ms);
  ASSERT_EQ(fresh.size(), 3u);
  domains.adopt(fresh);
  EXPECT_EQ(domains.alpha(begun), Ratio::of(0.6));
  EXPECT_EQ(gold(), Ratio::of(0.8));
  EXPECT_EQ(silver(), Ratio::of(0.3));
  arrival(kGold, kEighth, kStart + 40ms);
  EXPECT_EQ(domains.alpha(begun), Ratio::of(0.5));
  EXPECT_EQ(gold(), Ratio::of(0.7)) << "flows may still live by it";
}

TEST_F(CongestionDomainsTest, SignalsAreAskedForAtEachEighthArrivalWhileTheyAreOn) {
  std::array<CongestionSignal, 4> taken;
  arrival(kSilver, kEighth, kStart);
  EXPECT_TRUE(domains.signals().empty()) << "off at the start";
  domains.enable_signals(true, 2, 1000);
  arrival(kSilver, kOnset, kStart + 1ms);
  EXPECT_TRUE(domains.signals().empty());
  arrival(kSilver, kEighth, kStart + 2ms);
  arrival(kGold, kEighth, kStart + 3ms);
  EXPECT_EQ(domains.signals().noted(), 2u);
  domains.enable_signals(false, 2, 1000);
  arrival(kGold, kEighth, kStart + 4ms);
  ASSERT_EQ(domains.take_signals(taken), 2u);
  const Octets frame = udp_frame({.tos = kAf12 << 2});
  CongestionSignal about = signal_about(std::span(frame).subspan(14));
  EXPECT_EQ(about.dscp, kAf12);
  about.port = 1;
  about.class_index = kSilver;
  about.time = kStart + 2ms;
  EXPECT_EQ(taken[0], about);
  about.class_index = kGold;
  about.time = kStart + 3ms;
  EXPECT_EQ(taken[1], about);
  EXPECT_TRUE(domains.signals().empty());
}

}  // namespace
}  // namespace surety
