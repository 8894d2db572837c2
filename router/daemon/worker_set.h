// SPDX-License-Identifier: BSD-3-Clause
// All workers of a router: their rings and threads, and what the control thread reads of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "conditioners/units.h"
#include "router/daemon/watchdog.h"
#include "router/pipeline/burst.h"

struct rte_mbuf;
struct rte_rcu_qsbr;

namespace surety {

class ContractWatch;
class Fabric;
class InterfaceCounters;
class TopFlows;
class Worker;
struct ContractState;
struct FlowReading;
struct Reading;
struct SignalKeys;
struct Snapshot;
struct WorkPlan;
struct WorkerEnvironment;
struct WorkerOptions;
struct WorkerUpdate;

class WorkerSet {
 public:
  using Updates = std::vector<std::unique_ptr<WorkerUpdate>>;  // indexed by worker
  // During the final drain no packets are received: waiting longer for queued ones loses more than it saves.
  static constexpr Duration kDrain = std::chrono::milliseconds(200);

  // Makes the workers of the plan, each with `options`, its own core and its own seed; launch() comes next.
  // `rcu`: the workers report to it. Throws std::runtime_error without memory.
  WorkerSet(const WorkPlan& plan, const WorkerEnvironment& environment, WorkerOptions options,
            rte_rcu_qsbr* rcu);
  ~WorkerSet();
  WorkerSet(const WorkerSet&) = delete;
  WorkerSet& operator=(const WorkerSet&) = delete;

  std::span<const std::unique_ptr<Worker>> all() const { return workers_; }
  std::size_t size() const { return workers_.size(); }
  const std::vector<unsigned>& cores() const { return cores_; }

  // Starts a thread for each worker, on its core. Throws std::runtime_error.
  void launch();
  // Ends the threads; each worker drains for at most `drain`.
  void stop(Duration drain);
  std::vector<Watchdog::Watched> watched() const;

  // A lock without which another thread than the control thread neither reads the workers nor runs functions
  // on them.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  // True if each worker has adopted its last update.
  bool updated() const;
  // Reads the workers one after the other: packets handed over meanwhile appear as `handover`. nullopt: one
  // of them does not answer, or has not adopted its update. Thread-safe.
  std::optional<Reading> read();

  // Makes the rings of the ports that `next` adds to `now`.
  void open_rings(const WorkPlan& now, const WorkPlan& next);
  Updates prepare(const Snapshot& next, const WorkPlan& plan) const;
  // Has all workers adopt their updates, and waits for them, one second at most. `keys`: of signals, nullptr:
  // there are none. The caller holds the lock.
  void adopt(const Snapshot& before, const Snapshot& next, const SignalKeys* keys, Updates updates);
  // Logs how long the workers needed for the adoption, or that one of them does not answer.
  void tell_adopted() const;
  // Frees the updates, once updated().
  void forget_updates();

  // A frame of this machine's kernel, or of the responder, on its way out of a port. False: no room.
  bool inject(PortIndex port, std::size_t owner, rte_mbuf* m);
  // The number of injected frames that the owner of a port has not taken yet.
  std::size_t injected(PortIndex port) const;

  // State of the contracts' conditioners, indexed by worker; restore() before launch(), save() after stop().
  std::vector<std::vector<ContractState>> save() const;
  void restore(std::span<const std::vector<ContractState>> contracts);

  // The functions below are for the control thread.
  ContractWatch& contracts() { return *contracts_; }
  // Scans the next part of the flow tables.
  void scan_flows(Time now);
  // The `count` flows with most bytes, the largest first.
  std::vector<FlowReading> top_flows(std::size_t count) const;
  std::vector<const InterfaceCounters*> interface_counters() const;

 private:
  const std::vector<unsigned> cores_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Updates updates_;                           // the last reload's
  std::vector<TopFlows> top_;                 // indexed by worker
  std::unique_ptr<ContractWatch> contracts_;  // over all workers
  std::mutex mutex_;                          // held to read or update workers
};

}  // namespace surety
