// SPDX-License-Identifier: BSD-3-Clause
// A router does the same with every packet, whether packets of one moment come in one by one
// or in a burst of up to 32.
//
// Random traffic through every kind of conditioner, both markers of aggregates, RIO with and without ECN,
// strict, capped and weighted classes, shapers. What a packet's verdict is: when it leaves, by which port, in
// which order and with which bytes; and all counters after each burst, so that the reasons of those that do
// not leave are the same as well.
#include <gtest/gtest.h>

#include <map>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace literals;
using frames::Octets;
using test::DataPlane;
using test::kStart;

// What a test says about alpha goes in at the two places marked @.
constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  lan1: {addresses: [10.4.0.254/16], trust: core}
  wan0: {addresses: [10.2.0.254/16], trust: core, shape: 20 Mbit/s, queues: uplink}
  wan1: {addresses: [10.3.0.254/16], trust: core, shape: 12 Mbit/s, overhead: ethernet, queues: uplink}
  wan2: {addresses: [10.5.0.254/16], trust: core, shape: 6 Mbit/s}
queues:
  uplink:
    - {name: control, dscp: [CS6], priority: strict}
    - {name: voice, dscp: [EF], priority: strict, rate: 2 Mbit/s, limit: 30 packets}
    - name: assured
      weight: 3
      dscp: {in: [AF11], out: [AF12, AF13]}
      limit: 100 packets
      count: packets
      rio: {average: 0.02, in: {min: 40, max: 70, pmax: 0.02}, out: {min: 5, max: 30, pmax: 0.2}}
    - name: gold
      weight: 2
      dscp: {in: [AF21], out: [AF22]}
      limit: 20 packets
      count: packets
      rio: {average: 0.05, in: {min: 15, max: 60, pmax: 0.1}, out: {min: 4, max: 15, pmax: 0.5}, ecn: on}
    - {name: rest, weight: 1, dscp: [BE], limit: 40 packets}
services:
  marked: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 8 kB, mark: {in: AF11, out: AF12}}
  capped: {conditioner: police, rate: 2 Mbit/s, bucket: 4 kB, mark: {in: EF}}
  one-rate: {conditioner: srtcm, rate: 1 Mbit/s, committed_burst: 4 kB, excess_burst: 6 kB,
             mark: {in: AF21, out: AF22, red: BE}}
  two-rates: {conditioner: trtcm, rate: 1 Mbit/s, peak: 2 Mbit/s, committed_burst: 4 kB, peak_burst: 6 kB,
              mark: {in: AF11, out: AF13, red: drop}}
  gold: {conditioner: csa, rate: 500 kbit/s, in_bucket: 6 kB, out_bucket: 2 kB, buffer: 8 packets,
         alpha: @, mark: {in: AF21, out: AF22}}
  silver: {conditioner: csa, rate: 700 kbit/s, in_bucket: 8 kB, out_bucket: 3 kB, buffer: 15 packets,
           alpha: @, mark: {in: AF11, out: AF13}}
  best-effort: {conditioner: none, mark: {in: BE}}
flow_table: {capacity: 1024, held: 29 packets}
aggregates:
  ard: {port: wan0, queue: assured, marker: ard, rate: 6 Mbit/s, bucket: 20 kB, threshold: 8 kB, interval: 300 ms}
  arm: {port: wan1, queue: gold, marker: arm, rate: 3 Mbit/s, bucket: 10 kB, threshold: 5 kB, interval: 300 ms}
  one: {port: wan1, queue: assured, rate: 2 Mbit/s, bucket: 10 kB, threshold: 5 kB, interval: 300 ms,
        match: {source: [10.1.0.1, 10.4.0.1]}}
  others: {port: wan1, queue: assured, rate: 2 Mbit/s, bucket: 10 kB, threshold: 5 kB, interval: 300 ms}
classify:
  - {match: {port: lan0, destination_port: 1}, service: marked, per: flow}
  - {match: {port: lan0, destination_port: 2}, service: capped, per: rule}
  - {match: {port: lan0, destination_port: 3}, service: one-rate, per: source}
  - {match: {port: lan0, destination_port: 4}, service: two-rates, per: flow}
  - {match: {port: lan0, destination_port: 5}, service: gold, per: flow}
  - {match: {port: lan0, destination_port: 6}, service: silver, per: flow}
  - {match: {port: lan0, destination_port: 7}, service: silver, per: source}
  - {match: {port: lan0}, service: best-effort}
)";
constexpr const char* kMoving = "{min: 0.04, max: 0.6, step: 0.05, t1: 30 ms, t2: 90 ms}";
constexpr const char* kFixed = "{fixed: 0.3}";
std::string router(const std::string& alpha) {
  std::string yaml = kRouter;
  for (auto at = yaml.find('@'); at != yaml.npos; at = yaml.find('@')) yaml.replace(at, 1, alpha);
  return yaml;
}
constexpr PortIndex kFirstWan = 2, kPorts = 5;

// Packets of one moment that came in by one port.
struct Batch {
  Time at;
  PortIndex port;
  std::vector<Octets> frames;
};

// The packet's number stands in its last four bytes.
void number(Octets& frame, std::uint32_t n) {
  for (std::size_t i = 0; i < 4; ++i)
    frame[frame.size() - 4 + i] = static_cast<std::uint8_t>(n >> (24 - 8 * i));
}
std::uint32_t number(const Octets& frame) {
  std::uint32_t n = 0;
  for (std::size_t i = frame.size() - 4; i < frame.size(); ++i) n = n << 8 | frame[i];
  return n;
}

Octets random_frame(Rng& rng, PortIndex port) {
  constexpr std::array<std::uint8_t, 8> kTrusted{48, 46, 10, 12, 14, 18, 20, 0};  // CS6, EF, AF11-AF22, BE
  test::Udp u;
  u.port = port;
  u.source = (port == 0 ? 0x0a010001u : 0x0a040001u) + rng.next() % 3;
  u.destination = std::array{0x0a020001u, 0x0a030001u, 0x0a050001u}[std::min(rng.next() % 6, 4u) / 2];
  u.from = static_cast<std::uint16_t>(1000 + rng.next() % 2);
  u.to = static_cast<std::uint16_t>(1 + rng.next() % 8);
  const std::uint32_t dscp = port == 0 ? 0u : kTrusted[rng.next() % 8];
  u.tos = static_cast<std::uint8_t>(dscp << 2 | rng.next() % 3);
  return test::udp_frame(u, std::array{64u, 576u, 1000u, 1500u}[rng.next() % 4]);
}

// Two seconds of about 60 Mbit/s, idle times included.
std::vector<Batch> random_traffic(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Batch> batches;
  std::uint32_t packets = 0;
  for (Time at = kStart; at < kStart + 2s;) {
    Batch& b = batches.emplace_back(Batch{at, static_cast<PortIndex>(rng.next() % 4 == 0), {}});
    for (std::uint32_t n = 1 + rng.next() % (rng.next() % 4 == 0 ? 32 : 4); n > 0; --n)
      number(b.frames.emplace_back(random_frame(rng, b.port)), packets++);
    at += Duration(rng.next() % 200 == 0 ? 100'000'000 : rng.next() % 1'200'000);
  }
  return batches;
}

struct Departure {
  Time at;
  PortIndex port;
  Octets frame;
  bool operator==(const Departure&) const = default;
};
using Counts = std::vector<std::uint64_t>;
struct Record {
  std::vector<Departure> departures;
  std::vector<std::pair<Time, Counts>> counts;  // after each moment
  std::map<std::string, std::uint64_t> drops;   // at the end, by reason
  std::uint64_t marked_ce = 0, remarked = 0;
};

Counts counts_of(const DataPlane& d) {
  Counts all;
  for (const auto& p : d.ports) {
    all.insert(all.end(), {p.rx_packets, p.forwarded, p.enqueued, p.tx_packets, p.held});
    all.insert(all.end(), p.drops.begin(), p.drops.end());
  }
  for (const auto& s : d.services) all.insert(all.end(), {s.packets[0], s.packets[1], s.held, s.dropped});
  for (PortIndex p = kFirstWan; p < kPorts; ++p) {
    for (const auto& a : d.egresses[p]->aggregates())
      all.insert(all.end(), {a.counters.passed_in, a.counters.passed_out, a.counters.remarked,
                             a.counters.dropped, a.marker.tpr().bits_per_second()});
    const auto add = [&](const QueueCounters& q) {
      all.insert(all.end(),
                 {q.arrivals, q.departures, q.early_drops, q.forced_drops, q.overflow_drops, q.ecn_marks});
    };
    if (const PlainQueue* const plain = d.egresses[p]->plain()) add(plain->counters());
    const ClassScheduler* const scheduler = d.egresses[p]->scheduler();
    for (std::size_t c = 0; scheduler != nullptr && c < scheduler->classes(); ++c)
      for (const Precedence precedence : {Precedence::in, Precedence::out})
        add(scheduler->queue(c).counters(precedence));
  }
  for (std::size_t i = 0; i < d.snapshot.domains.size(); ++i)
    all.push_back(d.egresses[d.snapshot.domains[i].port]->alpha(static_cast<std::uint16_t>(i)).millionths());
  return all;
}

enum class Feed { burst, one_by_one, a_turn_each };

class Router {
 public:
  Router(Feed feed, const char* alpha, std::uint64_t seed) : feed_(feed), d_(router(alpha), {}, seed) {
    d_.route("10.2.0.0/16", {test::ready(2)});
    d_.route("10.3.0.0/16", {test::ready(3)});
    d_.route("10.5.0.0/16", {test::ready(4)});
  }
  Record run(const std::vector<Batch>& batches) {
    for (const Batch& b : batches) {
      idle_until(b.at);
      receive(b);
      transmit();
    }
    idle_until(d_.now + 2s);
    d_.expect_law();
    return finish();
  }

 private:
  // A turn whenever a timer or a shaper asks for one.
  void idle_until(Time end) {
    for (Time t = next_event(); t < end; t = next_event()) {
      d_.turn(std::max(t, d_.now));
      transmit();
    }
    d_.turn(end);
  }
  Time next_event() const {
    Time t = d_.ingress->next_event();
    for (const auto& e : d_.egresses) t = std::min(t, e->next_event(d_.now));
    return t;
  }
  void receive(const Batch& b) {
    if (feed_ == Feed::burst) return d_.receive(b.frames, b.port);
    for (const Octets& frame : b.frames) {
      if (feed_ == Feed::a_turn_each) d_.turn(d_.now);
      d_.receive({frame}, b.port);
    }
  }
  void transmit() {
    for (PortIndex p = kFirstWan; p < kPorts; ++p)
      for (std::size_t n = 64; n == 64;) {
        auto frames = d_.transmit(p);
        n = frames.size();
        for (auto& f : frames) record_.departures.push_back({d_.now, p, std::move(f)});
      }
    record_.counts.emplace_back(d_.now, counts_of(d_));
  }
  Record finish() {
    for (const auto& p : d_.ports)
      for (std::size_t r = 0; r < kDropReasons; ++r)
        if (p.drops[r] > 0) record_.drops[std::string(kDropReasonInfo[r].name)] += p.drops[r];
    for (PortIndex p = kFirstWan; p < kPorts; ++p)
      for (const auto& a : d_.egresses[p]->aggregates()) record_.remarked += a.counters.remarked;
    for (const auto& departure : record_.departures)
      record_.marked_ce += (test::traffic_class_of(departure.frame) & 3) == 3;
    return std::move(record_);
  }

  Feed feed_;
  DataPlane d_;
  Record record_;
};

void expect_same_departures(const Record& a, const Record& b) {
  ASSERT_EQ(a.departures.size(), b.departures.size());
  for (std::size_t i = 0; i < a.departures.size(); ++i)
    ASSERT_TRUE(a.departures[i] == b.departures[i])
        << "departure " << i << ": packet " << number(a.departures[i].frame) << " or "
        << number(b.departures[i].frame) << " at " << (a.departures[i].at - kStart).count() << " ns";
}

class Equivalence : public testing::TestWithParam<std::uint64_t> {
 protected:
  Record run(Feed feed, const char* alpha) const {
    return Router(feed, alpha, GetParam()).run(random_traffic(GetParam()));
  }
};

TEST_P(Equivalence, OneByOneIsAsABurst) {
  const Record a = run(Feed::burst, kMoving), b = run(Feed::one_by_one, kMoving);
  expect_same_departures(a, b);
  ASSERT_EQ(a.counts.size(), b.counts.size()) << "timers asked for other moments";
  for (std::size_t i = 0; i < a.counts.size(); ++i) ASSERT_TRUE(a.counts[i] == b.counts[i]) << "moment " << i;
}

// The timers of a moment that come round again find nothing left to do. Alpha holds still here: it is read
// once per turn, so that a packet held after the one that moved it would be looked at at another time.
TEST_P(Equivalence, ATurnForEachPacketIsAsABurst) {
  const Record a = run(Feed::burst, kFixed), b = run(Feed::a_turn_each, kFixed);
  expect_same_departures(a, b);
  EXPECT_EQ(a.counts.back(), b.counts.back());
}

// Or there would be nothing to compare.
TEST_P(Equivalence, TheTrafficMeetsEveryVerdict) {
  const Record r = run(Feed::burst, kMoving);
  for (const char* reason : {"police", "buffer", "buffer_share", "ard", "early", "forced", "overflow"})
    EXPECT_GT(r.drops.count(reason), 0u) << reason;
  EXPECT_GT(r.marked_ce, 0u);
  EXPECT_GT(r.remarked, 0u);
  EXPECT_GT(r.departures.size(), 3000u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Equivalence, testing::Values(1, 3, 14, 17));

}  // namespace
}  // namespace surety
