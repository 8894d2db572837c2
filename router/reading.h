// One consistent reading of everything the router counts: what metrics, `surety show` and tests see.
//
// A worker copies its counters between two turns of its loop, when asked; hence the law of counters.h holds
// exactly in every reading. Plain data with names resolved; rendering it is somebody else's job (metrics,
// telemetry).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aqm/active_queue.h"
#include "router/counters.h"

namespace surety {

struct PortReading {
  std::string name, device;
  bool up = true;
  PortCounters counters;
  std::uint64_t rx_missed = 0;  // lost before the router saw them (device queue full)
  std::uint64_t queued = 0;     // packets waiting now: queues of the port and its transmit buffer
  std::optional<double> shape_bytes_per_second;
};

struct QueueReading {
  std::string port, name;
  std::array<QueueCounters, kPrecedences> counters;
  std::array<std::uint32_t, kPrecedences> depth{};
  double average_in = 0, average_total = 0;  // packets; 0 without RIO
  bool has_rio = false, congested = false;
  SojournHistogram sojourn;
};

struct ServiceReading {
  std::string name, conditioner;
  ServiceCounters counters;
  double committed_bytes_per_second = 0;  // of all its contracts alive: rate x contracts
  double achieved_bytes_per_second = 0;   // IN and OUT let go, over the last seconds
  double achieved_in_bytes_per_second = 0;
  std::optional<double> respect_ratio;  // RoS: IN let go / committed, at most 1; none without a commitment
};

struct DomainReading {  // of CSA
  std::string name;  // "port/queue", or "port/queue/service" where services differ in their alpha parameters
  double alpha = 0;
};

struct AggregateReading {
  std::string name, port, queue;
  double tpr_bytes_per_second = 0, lambda_in_bytes_per_second = 0, lambda_out_bytes_per_second = 0;
  double tokens_bytes = 0;
  std::uint64_t remarked = 0, dropped = 0, passed_in = 0, passed_out = 0;
};

struct FlowReading {  // of the top flows
  std::string source, destination, protocol,
      service;  // "10.1.0.1:5001"; a contract's own record says what it covers
  std::uint16_t vlan = 0;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  std::uint32_t held = 0;
  double idle_seconds = 0;
};

struct WorkerReading {
  unsigned core = 0;
  WorkerCounters counters;
};

struct Reading {
  std::string router_name, version, config_hash;
  double uptime_seconds = 0;
  std::vector<PortReading> ports;
  std::vector<QueueReading> queues;
  std::vector<ServiceReading> services;
  std::vector<DomainReading> domains;
  std::vector<AggregateReading> aggregates;
  std::vector<FlowReading> top_flows;
  std::uint64_t flows = 0, flow_capacity = 0;
  std::vector<WorkerReading> workers;
  StageCounters stages;
  std::uint64_t routes = 0, neighbors = 0;
  std::uint64_t mempool_available = 0, mempool_size = 0;
  std::uint64_t reloads = 0;
  bool last_reload_successful = true;
  std::uint64_t signals_sent = 0;  // CSA congestion events that asked for a signal
};

}  // namespace surety
