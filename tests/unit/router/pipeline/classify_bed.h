// SPDX-License-Identifier: BSD-3-Clause
// The classify stage by itself, for its tests.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "router/pipeline/classify_stage.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::test {

// A stage of its own on a configuration with these rules, and 64 flows of 10 s.
class Stage {
 public:
  explicit Stage(const std::string& rules)
      : plane(
            "version: 1\n"
            "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
            "services:\n"
            "  metered: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
            "AF12}}\n"
            "  capped: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: EF}}\n"
            "  plain: {conditioner: none, mark: {in: BE}}\n"
            "flow_table: {capacity: 64, idle_timeout: 10 s}\n"
            "classify:\n" +
            rules) {
    limit({});
  }
  // With this creation_rate.
  void limit(std::optional<std::uint32_t> rate) {
    plane.snapshot.config.flow_table.creation_rate = rate;
    stage.emplace(plane.snapshot, plane.ports, plane.services, sources, filters, plane.disposal, 1, now);
  }

  struct Answer {
    FlowId flow = kNoFlow;
    std::string service;
  };
  // One answer per packet.
  std::vector<Answer> classify(const std::vector<Udp>& packets, PortIndex port = 0) {
    std::vector<Octets> frames;
    for (Udp u : packets) {
      u.port = port;
      frames.push_back(udp_frame(u));
    }
    Burst v = plane.parsed(frames, port);
    stage->run(v, port, now);
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < v.size; ++i)
      answers.push_back({v.flow[i], plane.snapshot.services[v.service[i]].name});
    DataPlane::free(v);
    return answers;
  }
  FlowId flow(const Udp& u, PortIndex port = 0) { return classify({u}, port).at(0).flow; }
  // After two packets: a flow of one only is forgotten soon.
  FlowId settled(const Udp& u) {
    flow(u);
    return flow(u);
  }
  std::uint64_t degraded(DegradeReason r) const {
    return plane.ports[0].degraded[static_cast<std::size_t>(r)];
  }
  // The record that has the conditioner's state for a packet.
  FlowId contract(const Udp& u, PortIndex port = 0) {
    const FlowRecord& r = stage->flows()[flow(u, port)];
    return (r.flags & FlowRecord::redirect) != 0 ? r.state.shared : flow(u, port);
  }
  // Time passes; the table is swept as often as it should be.
  void sleep(Duration d) {
    for (const Time end = now + d; now < end;) {
      now = std::min(end, now + Duration(1s));
      stage->age(now);
    }
  }
  std::string counts(const char* service) const {
    const ServiceCounters& c = plane.service(service);
    return std::to_string(c.flows) + " flows, " + std::to_string(c.contracts) + " contracts";
  }

  DataPlane plane;
  SourceCheck sources{plane.snapshot, plane.fib, plane.next_hops};
  FilterStage filters{plane.snapshot, plane.next_hops, plane.disposal};
  Time now = kStart;
  std::optional<ClassifyStage> stage;
};

inline const std::string kMetered = "  - {match: {port: lan0}, service: metered, per: ";

}  // namespace surety::test
