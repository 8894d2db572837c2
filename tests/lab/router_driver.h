// A router of a run: the product's Ingress and Egress objects, driven by events.
//
// As the DPDK worker's turn (router/dpdk/worker.cc): timers, then what has come in, then what may leave; but
// exactly when something is due. A port holds its packets back while the line behind it is busy, as a
// driver's full ring does.
#pragma once

#include <memory>
#include <vector>

#include "router/congestion_signal.h"
#include "router/egress.h"
#include "router/ingress.h"
#include "tests/lab/plan.h"

namespace surety::lab {

// Where packets go that leave a router.
struct RouterLines {
  virtual ~RouterLines() = default;
  // `line` of the port, which has only one; its transmitter is idle when this is called, or it has a queue of
  // its own.
  virtual void send(LineNumber line, rte_mbuf* m, Time now) = 0;
  virtual Time free_at(LineNumber line) const = 0;
  virtual bool holds_back(LineNumber line) const = 0;
  // Of several lines behind one port (an access switch): the one to the frame's destination; kNoLine: nobody
  // has it.
  virtual LineNumber line_to(const rte_mbuf* m) const = 0;
};

class RouterDriver {
 public:
  // `signals`: its congested queues ask for signals.
  RouterDriver(const PlannedRouter& plan, const Fib& fib, std::uint64_t seed, bool signals, RouterLines& wire,
               Time now);
  ~RouterDriver();

  void receive(rte_mbuf* m, PortIndex port, Time now);
  void turn(Time now);  // timers and transmission, when next_event() has come
  Time next_event() const { return next_; }
  // Signals that its queues ask for, now the caller's to send; 0: no more.
  std::size_t take_signals(std::span<CongestionSignal> out);
  void on_signal(const CongestionSignal& signal, Time now);

  const Snapshot& snapshot() const { return snapshot_; }
  const Ingress& ingress() const { return *ingress_; }
  Ingress& ingress() { return *ingress_; }
  const Egress& egress(std::size_t port) const { return *egresses_[port]; }
  Egress& egress(std::size_t port) { return *egresses_[port]; }
  std::size_t ports() const { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const { return ports_[port]; }
  // Packets refused for want of room in an input buffer, at this port.
  std::uint64_t buffer_drops(PortIndex port) const {
    return ports_[port].drops[static_cast<std::size_t>(DropReason::buffer)];
  }
  std::uint64_t transmitted() const { return transmitted_; }
  std::uint64_t seed() const { return seed_; }  // what a worker that does the same must be given

 private:
  struct Port {
    LineNumber line = kNoLine;  // the only one; none: there are several, or there is none
    bool held_back = false;     // by that line
    bool timed = false;         // its egress has timers: it always has, or never
  };
  void timers(Time now);
  void serve(Time now);
  void transmit(std::size_t port, Time now);
  Time next_departure(std::size_t port, Time now) const;

  const Snapshot& snapshot_;
  std::uint64_t seed_;
  RouterLines& wire_;
  std::vector<PortCounters> ports_;
  std::vector<ServiceCounters> services_;
  NextHopTable next_hops_;
  Exits exits_;
  StageMeter meter_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::unique_ptr<Ingress> ingress_;
  std::vector<Port> out_;
  bool signals_;
  Time next_{}, first_timer_{};
  std::uint64_t transmitted_ = 0;
};

}  // namespace surety::lab
