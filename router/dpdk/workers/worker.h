// SPDX-License-Identifier: BSD-3-Clause
// One core that polls: the loop around Ingress and Egress, and the only reader of the clock for them.
//
// It receives from the queues that the plan gives it, and what other workers dispatch to it; conditions and
// routes that; hands it over to the workers that own the ports, and queues and transmits what leaves by its
// own. Single writer of everything it counts (CONTRIBUTING.md rule 9). read() hands out a consistent reading:
// the loop fills it between two turns, where the law of counters.h holds.
#pragma once

#include <rte_mempool.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "router/dpdk/ports/clock.h"
#include "router/dpdk/ports/port.h"
#include "router/dpdk/ports/work_plan.h"
#include "router/dpdk/workers/fabric.h"
#include "router/dpdk/workers/idle_policy.h"
#include "router/dpdk/workers/signalling_copy.h"
#include "router/dpdk/workers/sleeper.h"
#include "router/dpdk/workers/worker_update.h"
#include "router/egress.h"
#include "router/ingress.h"
#include "router/observe/reading.h"
#include "router/signals/signal_sender.h"

namespace surety {

struct WorkerOptions {
  unsigned core = 0;
  std::uint64_t seed = 1;
  std::uint64_t dispatch_seed = 1;  // the same for all workers of a router, and nobody else's to know
  bool sleep = false;  // when there has been nothing to do for a while (idle_policy.h); else poll without end
  bool measure_stages = true;
  TscClock clock = {};             // one for all workers of a router
  std::optional<Time> start = {};  // of a caller who gives turn() the time; none: its own clock
};

// What all workers of a router work with; all of it must outlive them.
struct WorkerEnvironment {
  const Snapshot& snapshot;  // at the start
  std::span<const std::unique_ptr<DpdkPort>> ports;
  const Fib& fib;
  const NextHopTable& next_hops;
  rte_ring* punts = nullptr;                // to the control thread; null: nobody takes exceptions over
  rte_mempool* pool = nullptr;              // for packets of our own; null: no signals are sent
  const SignalKeys* signal_keys = nullptr;  // null: signalling is off
  const WallClock* wall_clock = nullptr;    // the same
};

class Worker {
 public:
  // The only one: it receives from all queues and owns all ports.
  Worker(const WorkerEnvironment& environment, const WorkerOptions& options);
  // One of several, the plan's number `index`. connect() comes before its first turn.
  Worker(const WorkerEnvironment& environment, const WorkPlan& plan, std::size_t index, const Fabric* fabric,
         const WorkerOptions& options);
  ~Worker();  // frees what is still held or queued

  // All workers of the plan, by index, this one among them.
  void connect(std::span<const std::unique_ptr<Worker>> all);
  // Before run(): where to report, as thread `index`, that no reference to a FIB entry is held (once per
  // turn).
  void report_to(rte_rcu_qsbr* rcu);
  // Polls until stop(), then lets go what is queued and held for at most `drain`. Runs on the worker's core.
  void run(Duration drain);
  void stop();
  // One turn: timers, receive, condition, transmit. Returns how many packets were transmitted.
  std::size_t turn();
  // The same at a time of the caller's, from WorkerOptions::start on.
  std::size_t turn(Time now) { return turn(now, rte_rdtsc()); }
  // What run() does when it is told to stop: no more packets from devices ...
  void stop_receiving() { receiving_ = false; }
  // ... and turns until nothing is left here and other workers, which stop too, can give it nothing more.
  bool drained();
  // When timers, held or queued packets ask for a turn.
  Time next_event(Time now) const;
  // For who has put something into a ring that this worker reads: it may be asleep.
  void wake() { sleeper_.wake(); }

  // The numbers of what this worker does, at one moment between two turns; those of its congestion
  // signalling, within some turns (signalling_copy.h). From any thread, unless somebody turns it by hand.
  // Empty when it does not answer within a second.
  std::optional<Reading> read();

  // From its next turn on, signals are signed and checked with these, which must outlive the worker. From any
  // thread. Only where it has had keys from the start.
  void use_keys(const SignalKeys& keys) { keys_.store(&keys, std::memory_order_release); }

  // Everything that this worker needs to go on by another snapshot with the same ports, which must outlive it
  // or the next one. Any thread.
  std::unique_ptr<WorkerUpdate> prepare(const Snapshot& snapshot) const;
  // From its next turn on it goes by that one. `update` stays until updated(), and nobody read()s until then.
  // From any thread.
  void update(WorkerUpdate& update);
  bool updated() const { return update_.load(std::memory_order_acquire) == nullptr; }

  // For the thread that runs the turns.
  const Reading& read_here();  // the same, without asking
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
  struct Source {  // where packets come from
    PortIndex port = 0;
    std::uint16_t queue = 0;
    bool dispatch = false;           // to all workers, by flow
    Handover* dispatched = nullptr;  // not a queue: what the port's reader has dispatched to this worker
  };
  // How far one that stops has come; others read it to know what may still come from there.
  enum class Drain : std::uint8_t { receives, dispatches_no_more, hands_over_no_more };
  struct Peer {
    Worker* worker = nullptr;
    SignalRing *to = nullptr, *from = nullptr;
    bool has_work = false;  // was given something in this turn
  };
  void find_sources();
  void make_egresses(Time now);
  std::vector<SignallingNumbers::Queue> signalling_queues() const;
  std::size_t turn(Time now, std::uint64_t tsc);
  std::size_t receive(Time now);
  std::size_t receive(const Source& source, std::span<rte_mbuf*> room) const;
  std::size_t dispatch(std::span<rte_mbuf*> burst, PortIndex port);
  std::size_t take_over(Time now);
  void wake_peers();
  void take_keys(const SignalKeys& keys);
  void adopt(Time now);
  void exchange_signals(Time now);
  void send_signals(Egress& egress, Time now);
  void send_signal(const CongestionSignal& signal, Time now);
  std::size_t transmit(Time now);
  std::size_t transmit(std::size_t port, Time now);
  void answer();
  void fill(Reading& r);
  const Reading& named();
  void watch_sources();
  void rest(Time now);
  void arm(bool on);
  bool work_waits() const;
  bool all_have(Drain stage) const;
  bool sent() const;
  void advance_drain();

  WorkerEnvironment environment_;
  const Snapshot* snapshot_;  // by which it goes now
  WorkPlan plan_;
  std::size_t index_;
  const Fabric* fabric_;  // null: the only worker
  WorkerOptions options_;
  TscClock clock_;
  rte_rcu_qsbr* rcu_ = nullptr;
  std::vector<PortCounters> port_counters_;
  std::vector<ServiceCounters> service_counters_;
  std::vector<RewriteStage::Mac> macs_;
  StageMeter meter_;
  Exits exits_;
  std::vector<Source> sources_;
  std::vector<Dispatch> dispatch_;                 // by port
  std::vector<std::unique_ptr<Egress>> egresses_;  // by port; null: another worker owns it
  std::vector<PortIndex> owned_;
  std::vector<Outlet> outlets_;  // by port
  std::vector<Peer> peers_;
  std::unique_ptr<Ingress> ingress_;
  std::optional<SignalSender> signal_sender_;
  std::vector<Transmit> transmit_;
  WorkerCounters counters_;
  Sleeper sleeper_;
  IdlePolicy idle_;
  std::uint64_t last_tsc_ = 0;
  bool worked_ = false;  // in the last turn
  bool receiving_ = true;

  std::atomic<bool> stop_{false}, running_{false};
  std::atomic<const SignalKeys*> keys_{nullptr};  // not taken yet
  std::atomic<WorkerUpdate*> update_{nullptr};    // the same
  std::atomic<Drain> drain_{Drain::receives};
  std::mutex reading_mutex_;  // of those who ask
  std::atomic<std::uint64_t> asked_{0}, answered_{0};
  std::uint64_t copying_for_ = 0;             // the question that it copies for
  std::optional<SignallingCopy> signalling_;  // names are given by those who ask
  Reading reading_;
};

}  // namespace surety
