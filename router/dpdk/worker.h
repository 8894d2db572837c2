// One core that polls: the loop around Ingress and Egress, and the only reader of the clock for them.
//
// Single writer of everything it counts (DESIGN.md rule 9). read() hands out a consistent reading: the loop
// fills it between two turns, where the law of counters.h holds.
#pragma once

#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "router/dpdk/clock.h"
#include "router/dpdk/port.h"
#include "router/egress.h"
#include "router/ingress.h"
#include "router/reading.h"

namespace surety {

struct WorkerOptions {
  unsigned core = 0;
  std::uint64_t seed = 1;
  Duration idle_sleep{0};  // sleep this long at most when there has been nothing to do for a while; 0: never
  bool measure_stages = true;
  std::optional<Time> start = {};  // of a caller who gives turn() the time; none: its own clock
};

class Worker {
 public:
  Worker(const Snapshot& snapshot, std::span<const std::unique_ptr<DpdkPort>> ports, const Fib& fib,
         const NextHopTable& next_hops, rte_ring* punts, const WorkerOptions& options);
  ~Worker();  // frees what is still held or queued

  // Before run(): where to report that no reference to a FIB entry is held (once per turn).
  void report_to(rte_rcu_qsbr* rcu);
  // Polls until stop(), then lets go what is queued and held for at most `drain`. Runs on the worker's core.
  void run(Duration drain);
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  // One turn: timers, receive, condition, transmit. Returns how many packets were transmitted.
  std::size_t turn();
  // The same at a time of the caller's, from WorkerOptions::start on.
  std::size_t turn(Time now) { return turn(now, rte_rdtsc()); }
  // When timers, held or queued packets ask for a turn.
  Time next_event(Time now) const;

  // The numbers of `ports`, `queues`, `services`, `domains`, `aggregates`, `workers` and `stages`, at one
  // moment between two turns. From any thread. Empty when the worker does not answer within a second.
  std::optional<Reading> read();

  // For the thread that runs the turns.
  const StageCounters& stages() const { return meter_.counters(); }
  std::uint64_t drops(DropReason reason) const;  // all ports

  // For the control thread, which reads them relaxed (top flows).
  const Ingress& ingress() const { return *ingress_; }
  Time now() const { return clock_.now(); }

 private:
  struct Transmit {  // packets taken from the egress that the device has not accepted yet
    std::array<rte_mbuf*, kVector> mbufs;
    std::size_t begin = 0, end = 0;
  };
  std::size_t turn(Time now, std::uint64_t tsc);
  std::size_t receive(Time now);
  std::size_t transmit(Time now);
  std::size_t transmit(std::size_t port, Time now);
  void answer();
  void fill(Reading& r);
  void rest(Time now);
  bool empty() const;

  const Snapshot& snapshot_;
  std::span<const std::unique_ptr<DpdkPort>> ports_;
  WorkerOptions options_;
  TscClock clock_;
  rte_rcu_qsbr* rcu_ = nullptr;
  std::vector<PortCounters> port_counters_;
  std::vector<ServiceCounters> service_counters_;
  std::vector<RewriteStage::Mac> macs_;
  StageMeter meter_;
  Exits exits_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::unique_ptr<Ingress> ingress_;
  std::vector<Transmit> transmit_;
  WorkerCounters counters_;
  std::uint64_t last_tsc_ = 0;
  std::uint32_t idle_turns_ = 0;
  bool receiving_ = true;

  std::atomic<bool> stop_{false}, running_{false};
  std::mutex reading_mutex_;  // of those who ask
  std::atomic<std::uint64_t> asked_{0}, answered_{0};
  Reading reading_;
};

}  // namespace surety
