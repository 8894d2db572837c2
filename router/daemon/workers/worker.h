// SPDX-License-Identifier: BSD-3-Clause
// A polling core: the loop around Ingress and Egress, which reads the clock for them.
//
// A worker receives from the queues that the plan assigns to it, and packets that other workers dispatch
// (receiver.h); conditions and routes them (Ingress); hands them over to the workers that own the egress
// ports, and queues and transmits the packets of its own ports (transmitter.h). Single writer of everything
// it counts (CONTRIBUTING.md rule 9).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "router/daemon/ports/clock.h"
#include "router/daemon/workers/idle_policy.h"
#include "router/daemon/workers/kept_counters.h"
#include "router/daemon/workers/reading_server.h"
#include "router/daemon/workers/receiver.h"
#include "router/daemon/workers/signal_exchange.h"
#include "router/daemon/workers/signalling_copy.h"
#include "router/daemon/workers/sleeper.h"
#include "router/daemon/workers/transmitter.h"
#include "router/daemon/workers/turn_meter.h"
#include "router/daemon/workers/worker_context.h"
#include "router/daemon/workers/worker_thread.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The memory that a worker needs to adopt another snapshot, allocated by the control thread.
//
// The worker adopts it between two turns and leaves its previous memory in it.
struct WorkerUpdate {
  const Snapshot& snapshot;
  std::vector<ServiceCounters> services;
  std::vector<std::uint64_t> filters;  // in the order of Snapshot::filters
  WorkPlan plan;
  Receiver::Sources sources;
  Transmitter::Update egresses;
  std::vector<PortEgress> port_egresses;         // indexed by port; set for new ports (Worker::connect())
  Reading reading;                               // blank
  std::vector<SignallingNumbers::Queue> queues;  // queues that may signal
  std::vector<KernelPeer> peers;                 // indexed by port
  const SignalKeys* keys = nullptr;              // other keys of signals; they must outlive the worker
  std::uint64_t cycles = 0;                      // TSC cycles that the worker needed for the adoption
};

// Ends a stopping worker only after it has processed all that other workers still have for it.
//
// Three stages, one after the other, each announced after the stage's last packet is in a ring: a worker that
// reads the announcement and then finds the ring empty gets nothing more from it. Signals are not drained:
// their loss is safe.
class Drain {
 public:
  // Adds another worker of the router, which must outlive the last call of done().
  void connect(const Drain& peer) { peers_.push_back(&peer); }

  // Called between two turns of a worker that receives no more; true: it may end. `nothing_in()`: it has no
  // held or dispatched packet that it may still hand over; `nothing_out()`: its ports have no packet to send.
  // Both are called after the others' announcements have been read.
  template <class NothingIn, class NothingOut>
  bool done(NothingIn&& nothing_in, NothingOut&& nothing_out) {
    if (stage() == Stage::receives) announce(Stage::dispatches_no_more);
    if (stage() == Stage::dispatches_no_more && all_have(Stage::dispatches_no_more) && nothing_in())
      announce(Stage::hands_over_no_more);
    return stage() == Stage::hands_over_no_more && all_have(Stage::hands_over_no_more) && nothing_out();
  }

 private:
  enum class Stage : std::uint8_t { receives, dispatches_no_more, hands_over_no_more };
  Stage stage() const { return stage_.load(std::memory_order_relaxed); }
  void announce(Stage stage) { stage_.store(stage, std::memory_order_release); }
  bool all_have(Stage stage) const {
    return std::all_of(peers_.begin(), peers_.end(), [stage](const Drain* peer) {
      return peer->stage_.load(std::memory_order_acquire) >= stage;
    });
  }

  std::vector<const Drain*> peers_;
  std::atomic<Stage> stage_{Stage::receives};  // read by the peers
};

struct WorkerOptions {
  unsigned core = 0;
  std::uint64_t seed = 1;
  std::uint64_t dispatch_seed = 1;  // secret, the same for all workers of a router
  bool sleep = false;  // sleep after some time without work (idle_policy.h); else poll without end
  bool measure_stages = true;
  TscClock clock = {};  // one for all workers of a router
  std::optional<Time> start =
      {};  // start time, if the caller passes the time to turn(); nullopt: the worker's own clock
};

// The environment of all workers of a router; all of it must outlive them.
struct WorkerEnvironment {
  const Snapshot& snapshot;  // at the start
  std::span<const std::unique_ptr<DpdkPort>> ports;
  const Fib& fib;
  const NextHopTable& next_hops;
  rte_ring* punts = nullptr;    // to the control thread; nullptr: exceptions are dropped
  rte_mempool* pool = nullptr;  // for the router's own packets; nullptr: no signals, no fragmentation
  const SignalKeys* signal_keys = nullptr;  // nullptr: signalling is off
  const WallClock* wall_clock = nullptr;    // nullptr: signalling is off
};

class Worker {
 public:
  // The only worker: receives from all queues and owns all ports.
  Worker(const WorkerEnvironment& environment, const WorkerOptions& options);
  // Creates one of several workers, the plan's number `index`. connect() comes before its first turn.
  Worker(const WorkerEnvironment& environment, const WorkPlan& plan, std::size_t index, const Fabric* fabric,
         const WorkerOptions& options);
  ~Worker();  // frees held and queued packets

  // Connects all workers of the plan, indexed by worker, this one included.
  void connect(std::span<const std::unique_ptr<Worker>> all);
  // Called before run(): `rcu` gets a report once per turn, as thread `index`, that no reference to a FIB
  // entry is held.
  void report_to(rte_rcu_qsbr* rcu) { thread_.report_to(rcu, static_cast<unsigned>(context_.index)); }
  // Polls until stop(), then sends queued and held packets for at most `drain`. Runs on the worker's core.
  void run(Duration drain);
  // Ends run(), which then drains for at most `most`.
  void stop(Duration most = Duration::max());
  // Runs one turn: timers, receive, condition, transmit. Returns the number of transmitted packets.
  std::size_t turn();
  // Runs one turn at `now`, WorkerOptions::start or later.
  std::size_t turn(Time now) { return turn(now, rte_rdtsc()); }
  // First step of the end of run(): no more packets from devices. Turns until drained() follow.
  void stop_receiving() {
    receiver_.stop();
    ingress_->stop_waiting();
  }
  // True when no packets are left here and the other workers, which stop too, have none for this one.
  bool drained();
  // The time when timers, held or queued packets need a turn.
  Time next_event(Time now) const;
  // Called after putting work into a ring that this worker reads: it may be asleep.
  void wake() { sleeper_.wake(); }

  // The worker's numbers (reading_server.h). Thread-safe, unless turn() is called directly. nullopt when it
  // does not answer within a second.
  std::optional<Reading> read() { return readings_.read(thread_.calls(), sleeper_, options_.clock); }

  // Runs `what` between two turns, on the worker's thread: some microseconds, without allocation.
  // Thread-safe. false: not within a second.
  bool between_turns(const RemoteCall::What& what) {
    return thread_.calls().run(what, [this] { sleeper_.wake(); });
  }

  // Prepares the adoption of another snapshot, which must outlive the worker or the next one, and of another
  // plan, if ports are added or removed; nullptr: the same plan. The rings of a new port are in the fabric
  // already, and its place was empty in the last two snapshots; the same holds for a port whose device has
  // been opened since. Any thread, while updated().
  std::unique_ptr<WorkerUpdate> prepare(const Snapshot& snapshot, const WorkPlan* plan = nullptr) const;
  // Called if ports are added, once all workers (by index) have prepared their updates.
  void connect(WorkerUpdate& update, std::span<const std::unique_ptr<WorkerUpdate>> all) const;
  // Adopts `update` at the next turn. `update` must exist, and read() must not be called, until updated().
  // Thread-safe.
  void update(WorkerUpdate& update);
  bool updated() const { return update_.load(std::memory_order_acquire) == nullptr; }

  // Called by the thread that runs the turns.
  const Reading& read_here() { return readings_.read_here(options_.clock.now()); }
  const StageCounters& stages() const { return meter_.counters(); }
  std::uint64_t drops(DropReason reason) const;  // all ports

  // Called before run(): takes over contracts of another process.
  void restore(std::span<const ContractState> states) { ingress_->restore(states, options_.clock.now()); }
  // Used by the control thread, which reads flows relaxed (top flows).
  const Ingress& ingress() const { return *ingress_; }
  const Losses& losses() const { return disposal_.losses(); }
  // Sets the capture tap (router/pipeline/capture/capture_tap.h); nullptr: none. Thread-safe. false: not
  // within a second.
  bool set_tap(CaptureTap* tap) {
    return between_turns([this, tap] { disposal_.set_tap(tap); });
  }

  // The egress of a port that it owns; nullptr: another worker does. Between two of its turns.
  const Egress* egress(PortIndex port) const { return transmitter_.egresses()[port].get(); }
  // Used by the control thread, which may call forget().
  InterfaceCounters& interfaces() { return counters_.interfaces(); }
  const InterfaceCounters& interfaces() const { return counters_.interfaces(); }
  Time now() const { return options_.clock.now(); }
  // A number that changes in each turn, at least once per IdleParams::longest. Thread-safe.
  std::uint64_t last_turn() const { return turns_.last(); }
  // The thread that runs the worker; 0: none.
  pid_t thread_id() const { return thread_.id(); }

 private:
  std::size_t turn(Time now, std::uint64_t tsc);
  void poll();
  void exchange_signals(Time now);
  void wake_others(bool all);
  void rest(Time now);
  bool work_waits() const;
  void adopt(Time now);
  void adopt_ports(WorkerUpdate& update);
  void fill(Reading& r, const Snapshot& snapshot) const;
  std::vector<SignallingNumbers::Queue> signal_queues(const Snapshot& snapshot, const WorkPlan& plan) const;
  SignallingCopy signalling_copy(const Snapshot& snapshot) const;

  WorkPlan plan_;
  const WorkerOptions options_;
  KeptCounters counters_;
  TurnMeter turns_;
  StageMeter meter_;
  PacketDisposal disposal_;
  const WorkerContext context_;
  std::vector<MacAddress> macs_;           // indexed by port
  std::vector<PortEgress> port_egresses_;  // indexed by port
  std::vector<Worker*> others_;            // indexed by worker; nullptr: this one
  Receiver receiver_;
  SignalExchange signals_;
  Transmitter transmitter_;
  const std::unique_ptr<Ingress> ingress_;
  ReadingServer readings_;
  WorkerThread thread_;
  Drain drain_;
  Sleeper sleeper_;
  IdlePolicy idle_;
  std::atomic<WorkerUpdate*> update_{nullptr};  // not adopted yet
};

}  // namespace surety
