// SPDX-License-Identifier: BSD-3-Clause
// One core that polls: the loop around all ports, the only reader of the clock, and the life of a run:
// resolve the gateways, send, close.
//
// Single writer of everything it counts (CONTRIBUTING.md rule 9); the observer learns of it by snapshots.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "endpoints/dpdk/port_loop.h"
#include "endpoints/dpdk/sampler.h"
#include "endpoints/dpdk/traffic.h"

namespace surety::endpoints {

struct WorkerOptions {
  std::optional<Duration> duration;              // from time 0; none: until all senders are done, or stop()
  bool until_senders_end = true;                 // a run with a duration ends early when all senders are done
  bool gentle = false;                           // leave the core to others while nothing is due
  Duration patience = std::chrono::seconds(10);  // for gateways to answer
  Duration farewell = std::chrono::seconds(2);   // for flows to close
};

class Worker {
 public:
  enum class Outcome : std::uint8_t { running, unresolved, finished };

  // `ports` and `macs` as in the configuration; `pool`: buffers for what is sent.
  Worker(Traffic& traffic, const TscClock& clock, std::span<const std::unique_ptr<FramePort>> ports,
         rte_mempool* pool, SnapshotExchange& exchange, const WorkerOptions& options);

  // The whole run, on the worker's core. The last snapshot is published when it returns `finished`.
  void run();
  // From any thread: close the flows and end.
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  Outcome outcome() const { return outcome_.load(std::memory_order_acquire); }

  // One turn: what came in, what is due. Returns how many frames that were.
  std::size_t turn();

 private:
  bool resolve();
  void send();
  void close();
  bool over(Time now) const;
  void rest(std::size_t frames);
  Time next_wakeup() const;

  Traffic& traffic_;
  const TscClock& clock_;
  SnapshotExchange& exchange_;
  WorkerOptions options_;
  std::vector<PortSample> counters_;
  std::vector<std::unique_ptr<PortLoop>> loops_;
  EndWatch ends_;
  Sampler sampler_;
  Time zero_{};
  std::atomic<bool> stop_{false};
  std::atomic<Outcome> outcome_{Outcome::running};
};

}  // namespace surety::endpoints
