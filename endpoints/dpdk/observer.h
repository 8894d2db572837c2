// SPDX-License-Identifier: BSD-3-Clause
// The observing thread's side:
// turns snapshots into readings for the live table and the metrics, and into the report.
//
// A sender's flow is measured from its start until it begins to close; later arrivals still count. Where the
// sink runs in this process, its own counters are used.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "endpoints/dpdk/accepted_flows.h"
#include "endpoints/dpdk/endpoint_reading.h"
#include "router/process/metric_family.h"

namespace surety::endpoints {

class Observer {
 public:
  // Both outlive it.
  Observer(const config::Endpoints& config, std::span<const SenderFlow> flows);

  // One snapshot more. From one thread.
  void take(const Snapshot& snapshot);
  // Reading of the last snapshot; from any thread.
  EndpointReading reading() const;
  // From the thread of take().
  Report report(double tolerance) const;
  bool any_failed() const;

 private:
  struct Sender {
    std::optional<FlowTrack> track;  // from the flow's start on
    bool measuring = false, complete = false;
    FlowState state = FlowState::idle;
    Failure failure = Failure::none;
  };

  void follow(std::size_t flow, const FlowSample& s, Time zero, bool final);
  void add(SenderReading& line, std::size_t flow, const FlowSample& s) const;
  FlowIdentity identity(const SenderFlow& f) const;
  EndpointReading blank() const;

  const config::Endpoints& config_;
  std::span<const SenderFlow> flows_;
  std::vector<Sender> senders_;
  AcceptedFlows accepted_;
  mutable std::mutex mutex_;
  EndpointReading reading_;
};

// A reading as Prometheus metric families.
//
// Guarantees: names start with `surety_endpoint_` and end in `_total` exactly when they count; base units;
// series are labelled by {sender, protocol}, {sink, protocol} (sink: its port) or {port, reason}, never by
// flow; every reason has a series, zero or not. Unknown values (no RTT yet, no target) have no series.
metrics::Families render(const EndpointReading& reading);

}  // namespace surety::endpoints
