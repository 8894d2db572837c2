// SPDX-License-Identifier: BSD-3-Clause
// One core that polls: the loop around Ingress and Egress, and the only reader of the clock for them.
//
// It receives from the queues that the plan gives it, and what other workers dispatch to it (receiver.h);
// conditions and routes that (Ingress); hands it over to the workers that own the ports, and queues and
// transmits what leaves by its own (transmitter.h). Single writer of everything it counts
// (CONTRIBUTING.md rule 9).
#pragma once

#include <rte_rcu_qsbr.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "router/dpdk/ports/clock.h"
#include "router/dpdk/workers/drain.h"
#include "router/dpdk/workers/errands.h"
#include "router/dpdk/workers/idle_policy.h"
#include "router/dpdk/workers/reading_server.h"
#include "router/dpdk/workers/receiver.h"
#include "router/dpdk/workers/signal_exchange.h"
#include "router/dpdk/workers/sleeper.h"
#include "router/dpdk/workers/transmitter.h"
#include "router/dpdk/workers/worker_context.h"
#include "router/dpdk/workers/worker_update.h"
#include "router/ingress.h"

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
  rte_ring* punts = nullptr;    // to the control thread; null: nobody takes exceptions over
  rte_mempool* pool = nullptr;  // for packets of our own; null: no signals are sent, nothing is fragmented
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
  // Before run(): where to report, as thread `index`, that no reference to a FIB
  // entry is held (once per turn).
  void report_to(rte_rcu_qsbr* rcu);
  // Polls until stop(), then lets go what is queued and held for at most `drain`. Runs on the worker's core.
  void run(Duration drain);
  // Lets go for at most `most` of what run() would.
  void stop(Duration most = Duration::max());
  // One turn: timers, receive, condition, transmit. Returns how many packets were transmitted.
  std::size_t turn();
  // One turn at a time that the caller gives, WorkerOptions::start or later.
  std::size_t turn(Time now) { return turn(now, rte_rdtsc()); }
  // What run() does when it is told to stop: no more packets from devices ...
  void stop_receiving() {
    receiver_.stop();
    ingress_->stop_waiting();
  }
  // ... and turns until nothing is left here and other workers, which stop too, can give it nothing more.
  bool drained();
  // When timers, held or queued packets ask for a turn.
  Time next_event(Time now) const;
  // For who has put something into a ring that this worker reads: it may be asleep.
  void wake() { sleeper_.wake(); }

  // The numbers of what this worker does (reading_server.h). From any thread, unless somebody turns it by
  // hand. Empty when it does not answer within a second.
  std::optional<Reading> read() { return readings_.read(sleeper_, options_.clock); }

  // Does `what` between two of its turns, on its thread: some microseconds of it, and nothing that allocates.
  // From any thread. false: not within a second.
  bool between_turns(const Errands::What& what) {
    return errands_.run(what, [this] { sleeper_.wake(); });
  }

  // From its next turn on, signals are signed and checked with these, which must outlive the worker. From any
  // thread. Only where it has had keys from the start.
  void use_keys(const SignalKeys& keys) { signals_.use_keys(keys); }

  // Everything that this worker needs to go on by another snapshot, which must outlive it or the next one,
  // and by another plan, where ports come or go; null: by the same. A port that comes has its rings in the
  // fabric already, and stands where there was none in the last two snapshots; so does a port whose device
  // has been opened since. Any thread, while it is updated().
  std::unique_ptr<WorkerUpdate> prepare(const Snapshot& snapshot, const WorkPlan* plan = nullptr) const;
  // Where ports come, once all workers (by index) have prepared theirs.
  void connect(WorkerUpdate& update, std::span<const std::unique_ptr<WorkerUpdate>> all) const;
  // From its next turn on it goes by that one. `update` stays until updated(), and nobody read()s until then.
  // From any thread.
  void update(WorkerUpdate& update);
  bool updated() const { return update_.load(std::memory_order_acquire) == nullptr; }

  // For the thread that runs the turns.
  const Reading& read_here() { return readings_.read_here(options_.clock.now()); }
  const StageCounters& stages() const { return meter_.counters(); }
  std::uint64_t drops(DropReason reason) const;  // all ports

  // Before run(): contracts that have been another process's.
  void restore(std::span<const ContractState> states) { ingress_->restore(states, options_.clock.now()); }
  // For the control thread, which reads them relaxed (top flows).
  const Ingress& ingress() const { return *ingress_; }
  const Losses& losses() const { return disposal_.losses(); }
  // Who looks on from now on (router/capture/capture_tap.h); null: nobody. From any thread. false: not within
  // a second.
  bool set_tap(CaptureTap* tap) {
    return between_turns([this, tap] { disposal_.set_tap(tap); });
  }

  // Of a port that it owns; null: another one does. Between two of its turns.
  const Egress* egress(PortIndex port) const { return transmitter_.egresses()[port].get(); }
  // For the control thread: it may forget() there.
  InterfaceCounters& interfaces() { return interface_counters_; }
  const InterfaceCounters& interfaces() const { return interface_counters_; }
  Time now() const { return options_.clock.now(); }
  // Another number in each turn, of which there is one every IdleParams::longest at least. From any thread.
  std::uint64_t last_turn() const { return last_tsc_.load(std::memory_order_relaxed); }
  // That it runs on; 0: on none.
  pid_t thread_id() const { return thread_id_.load(std::memory_order_relaxed); }

 private:
  std::size_t turn(Time now, std::uint64_t tsc);
  void poll();
  void exchange_signals(Time now);
  void wake_others(bool all);
  void count(std::uint64_t tsc, bool worked);
  void rest(Time now);
  bool work_waits() const;
  unsigned thread() const { return static_cast<unsigned>(context_.index); }
  void adopt(Time now);
  void adopt_ports(WorkerUpdate& update);
  void fill(Reading& r, const Snapshot& snapshot) const;
  std::vector<SignallingNumbers::Queue> signal_queues(const Snapshot& snapshot, const WorkPlan& plan) const;
  SignallingCopy signalling_copy(const Snapshot& snapshot) const;

  WorkPlan plan_;
  const WorkerOptions options_;
  std::vector<PortCounters> port_counters_;
  PortCounters gone_;  // of ports whose places others have now
  std::vector<ServiceCounters> service_counters_;
  InterfaceCounters interface_counters_;
  WorkerCounters counters_;
  StageMeter meter_;
  PacketDisposal disposal_;
  const WorkerContext context_;
  std::vector<MacAddress> macs_;  // by port
  std::vector<Outlet> outlets_;   // the same
  std::vector<Worker*> others_;   // by worker; null: this one
  Receiver receiver_;
  SignalExchange signals_;
  Transmitter transmitter_;
  const std::unique_ptr<Ingress> ingress_;
  ReadingServer readings_;
  Errands errands_;
  rte_rcu_qsbr* rcu_ = nullptr;
  Drain drain_;
  Sleeper sleeper_;
  IdlePolicy idle_;
  std::atomic<pid_t> thread_id_{0};
  std::atomic<std::uint64_t> last_tsc_;  // when the last turn began, and ...
  bool worked_ = false;                  // ... whether it moved packets
  std::atomic<Duration> most_drain_{Duration::max()};
  std::atomic<bool> stop_{false};
  std::atomic<WorkerUpdate*> update_{nullptr};  // not adopted yet
};

}  // namespace surety
