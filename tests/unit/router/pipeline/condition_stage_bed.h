// SPDX-License-Identifier: BSD-3-Clause
// A border router with every conditioner, its packets numbered, for the tests of the condition stage.
#pragma once

#include <ostream>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::test {

// Packets of 1000 bytes at 8 Mbit/s: one per millisecond. The destination port says which service.
inline constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core, queues: uplink}
  wan1: {addresses: [10.3.0.254/16], trust: core, queues: uplink}
queues:
  uplink:
    - {name: voice, dscp: [EF]}
    - name: assured
      dscp: {in: [AF11], out: [AF12, AF13, BE]}
      count: packets
      rio: {average: 1, in: {min: 800, max: 900, pmax: 0.01}, out: {min: 5, max: 900, pmax: 0.000001}}
services:
  marked: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 2 kB, mark: {in: AF11, out: AF12}}
  capped: {conditioner: police, rate: 8 Mbit/s, bucket: 2 kB, mark: {in: EF}}
  one-rate: {conditioner: srtcm, rate: 8 Mbit/s, committed_burst: 2 kB, excess_burst: 2 kB,
             mark: {in: AF11, out: AF12, red: AF13}}
  two-rates: {conditioner: trtcm, rate: 8 Mbit/s, peak: 16 Mbit/s, committed_burst: 2 kB, peak_burst: 3 kB,
              mark: {in: AF11, out: AF12, red: drop}}
  silver: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, buffer: 40 packets,
           alpha: {min: 0.2, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms, control: periodic}, mark: {in: AF11, out: BE}}
  best-effort: {conditioner: none, mark: {in: BE}}
  aware: {conditioner: srtcm, color_aware: on, rate: 8 Mbit/s, committed_burst: 2 kB, excess_burst: 2 kB,
          mark: {in: AF11, out: AF12, red: AF13}}
flow_table: {capacity: 1024, held: 135 packets}
classify:
  - {match: {port: lan0, destination_port: 1}, service: marked, per: flow}
  - {match: {port: lan0, destination_port: 2}, service: capped, per: flow}
  - {match: {port: lan0, destination_port: 3}, service: one-rate, per: flow}
  - {match: {port: lan0, destination_port: 4}, service: two-rates, per: flow}
  - {match: {port: lan0, destination_port: 5}, service: silver, per: flow}
  - {match: {port: lan0, destination_port: 6}, service: silver, per: source}
  - {match: {port: lan0, destination_port: 7}, service: marked, per: source}
  - {match: {port: lan0, destination_port: 9}, service: aware, per: flow}
  - {match: {port: lan0}, service: best-effort}
)";
inline constexpr std::uint16_t kMarked = 1, kCapped = 2, kOneRate = 3, kTwoRates = 4, kSilver = 5,
                               kSilverOfSource = 6, kMarkedOfSource = 7, kBestEffort = 8, kAware = 9;

class ConditionStageTest : public testing::Test {
 protected:
  ConditionStageTest() {
    hop = d.route("10.2.0.0/24", {ready(1)});
    d.route("10.3.0.0/24", {ready(2)});
  }
  ~ConditionStageTest() override { d.expect_law(); }

  // `n` packets with increasing numbers in their last byte.
  void send(std::uint16_t service, std::size_t n, Udp u = {}, std::size_t length = 1000) {
    u.to = service;
    std::vector<Octets> burst;
    for (std::size_t i = 0; i < n; ++i) {
      burst.push_back(udp_frame(u, length));
      burst.back().back() = number++;
    }
    d.receive(burst);
  }
  // The DSCPs of what leaves by port 1 at once.
  std::vector<int> marks() {
    std::vector<int> all;
    for (const auto& f : d.transmit(1)) all.push_back(dscp_of(f));
    return all;
  }
  struct Departure {
    int number, dscp;
    Time time;
    friend bool operator==(const Departure&, const Departure&) = default;
    friend void PrintTo(const Departure& x, std::ostream* os) {
      *os << x.number << " dscp " << x.dscp << " +" << (x.time - kStart).count() << " ns";
    }
  };
  // What leaves by `port` until `end`.
  std::vector<Departure> departures(Time end, PortIndex port = 1) {
    std::vector<Departure> all;
    const auto collect = [&] {
      for (const auto& f : d.transmit(port)) all.push_back({f.back(), dscp_of(f), d.now});
    };
    for (collect(); d.ingress->next_event() <= end; collect()) d.turn(d.ingress->next_event());
    d.turn(end);
    return all;
  }

  DataPlane d{kRouter};
  std::uint32_t hop = 0;
  std::uint8_t number = 1;
};

// The whole chain: OUT arrivals at a congested queue -> alpha of its domain -> the rate of
// the out-buckets behind it.
class AlphaTest : public ConditionStageTest {
 protected:
  // `n` OUT packets arrive at port 1's queue.
  void arrivals(Time t, std::size_t n) {
    d.turn(t);
    send(kBestEffort, n);
  }
  Ratio alpha(PortIndex port = 1) { return d.egresses[port]->alpha(d.snapshot.domain(port, 4)); }
  void drain() {
    while (!d.transmit(1).empty()) {
    }
  }
  // A flow whose buckets are empty sends 40 packets: how many of them leave OUT within 10 ms. Returns when
  // `then` has passed since.
  std::uint64_t out_packets_in_10_ms(const Udp& u = {}, Duration then = std::chrono::milliseconds(60)) {
    const Time begin = d.now;
    send(kSilver, 44, u);
    drain();
    const auto before = d.service("silver").packets;
    d.run_until(begin + std::chrono::microseconds(10'020));
    const auto& after = d.service("silver").packets;
    EXPECT_EQ(after[index(Precedence::in)] - before[index(Precedence::in)], 10u);
    const auto out = after[index(Precedence::out)] - before[index(Precedence::out)];
    departures(begin + then);
    return out;
  }
};

}  // namespace surety::test
