// SPDX-License-Identifier: BSD-3-Clause
// The worker's data for the observing thread once a second: a reading of every flow.
//
// One buffer that belongs to one side at a time: the worker fills it a few flows per turn, so that pacing
// does not notice, and gives it away; the observer gives it back. Neither waits for the other.
#pragma once

#include <atomic>
#include <vector>

#include "endpoints/dpdk/endpoint_reading.h"
#include "endpoints/engine/engine.h"
#include "endpoints/host/host.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

struct FlowSample {
  std::size_t port = 0;
  Transport transport = Transport::tcp;
  Tuple tuple;
  FlowState state = FlowState::idle;
  Failure failure = Failure::none;
  Time at{};            // time of the reading
  Time ended = kNever;  // first time that a sender's flow was seen closing or closed
  FlowReading reading;
};

struct PortSample {
  std::array<std::uint64_t, kRefusals> refusals{};
  std::array<std::uint64_t, kDropReasons> drops{};
  std::uint64_t rx_packets = 0, tx_packets = 0;
};

struct Snapshot {
  Time zero{}, at{};   // time 0 of the schedules; when the sweep began; of the last: the end of the run
  bool final = false;  // nothing changes any more
  std::vector<FlowSample> senders;   // in the order of Traffic::flows()
  std::vector<FlowSample> accepted;  // flows of the sinks that are there now
  std::vector<PortSample> ports;
};

class SnapshotExchange {
 public:
  // For the worker: the buffer, while it is the worker's; else null.
  Snapshot* to_fill() { return full_.load(std::memory_order_acquire) ? nullptr : &snapshot_; }
  void publish() { full_.store(true, std::memory_order_release); }
  // For the observer: the buffer, while it is full; else null.
  const Snapshot* to_read() const { return full_.load(std::memory_order_acquire) ? &snapshot_ : nullptr; }
  void give_back() { full_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> full_{false};
  Snapshot snapshot_;
};

}  // namespace surety::endpoints
