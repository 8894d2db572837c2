// SPDX-License-Identifier: BSD-3-Clause
// A port that is what a test makes of it, behind a trusted one.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "router/pipeline/egress.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::test {

using frames::Octets;
using testing::ElementsAre;
using namespace literals;

// A trusted port 0, and port 1 that is what a test makes of it.
class Port {
 public:
  static std::string yaml(const std::string& settings, const std::string& rest) {
    return "version: 1\nports:\n  in0: {addresses: [10.1.0.254/16], trust: core}\n"
           "  out0: {addresses: [10.2.0.254/16], trust: core" +
           settings + "}\n" + rest;
  }
  explicit Port(const std::string& settings, const std::string& rest = "", std::uint64_t seed = 1)
      : d(yaml(settings, rest), {}, seed) {
    d.route("10.2.0.0/16", {ready(1)});
    d.route("2001:db8:2::/48", {ready(1)});
  }
  ~Port() { d.expect_law(); }

  void send(std::uint8_t dscp, std::size_t n = 1, std::size_t length = 1000, std::uint8_t ecn = 0) {
    d.receive(copies(n, udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2 | ecn)}, length)));
  }
  // Another configuration of the port, which its egress adopts.
  void reload(const std::string& settings, const std::string& rest = "") {
    prepare(settings, rest);
    adopt();
  }
  void prepare(const std::string& settings, const std::string& rest) {
    snapshot =
        std::make_unique<Snapshot>(configured(yaml(settings, rest)), snapshot ? *snapshot : d.snapshot);
    update = Egress::prepare(*snapshot, 1, d.now, 2);
  }
  void adopt() {
    d.egresses[1]->adopt(*update, d.now);
    update.reset();
  }
  std::vector<int> dscps(std::size_t room = 64) {
    std::vector<int> all;
    for (const auto& f : d.transmit(1, room)) all.push_back(dscp_of(f));
    return all;
  }
  const QueueCounters& queue(std::size_t cls, Precedence p) const {
    return d.egresses[1]->scheduler()->queue(cls).counters(p);
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
  std::unique_ptr<Snapshot> snapshot;  // of the last reload; those before are gone
  std::unique_ptr<EgressUpdate> update;
};

inline constexpr const char* kQueues = R"(
queues:
  uplink:
    - {name: control, dscp: [CS6, CS7], priority: strict}
    - {name: voice, dscp: [EF], priority: strict, rate: 8 Mbit/s}
    - {name: one, dscp: {in: [AF11], out: [AF12]}, aqm: tail-drop, weight: 3, limit: 400 packets}
    - {name: two, dscp: {in: [AF21], out: [AF22, BE]}, aqm: tail-drop, weight: 1, limit: 400 packets}
)";

inline constexpr const char* kRio = R"(
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [AF12, BE]}
      limit: 40 packets
      count: packets
      rio: {average: 1, in: {min: 50, max: 50, pmax: 0.000001}, out: {min: 4, max: 20, pmax: 0.000001}}
)";

inline std::string aggregate(const std::string& settings) {
  return std::string(kQueues) + "aggregates:\n  uplink: {port: out0, queue: one, rate: 8 Mbit/s, " +
         settings + "}\n";
}

// Two ports with CSA domains: an index into Snapshot::domains finds the controller of its own port and class.
inline constexpr const char* kCsa = R"(
queues:
  uplink:
    - name: gold
      dscp: {in: [AF21], out: [AF22]}
      count: packets
      rio: {average: 1, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 0.000001}}
    - name: assured
      dscp: {in: [AF11], out: [AF12, BE]}
      count: packets
      rio: {average: 1, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 0.000001}}
services:
  gold: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB,
         alpha: {min: 0.1, max: 0.9, step: 0.1, t1: 30 ms, t2: 90 ms, control: periodic}, mark: {in: AF21, out: AF22}}
  silver: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms, control: periodic}, mark: {in: AF11, out: BE}}
)";

class CsaPort : public Port {
 public:
  CsaPort() : Port(", queues: uplink", kCsa) {}
  Ratio gold(PortIndex port = 1) { return d.egresses[port]->alpha(d.snapshot.domain(port, 0)); }
  Ratio silver(PortIndex port = 1) { return d.egresses[port]->alpha(d.snapshot.domain(port, 1)); }
};

}  // namespace surety::test
