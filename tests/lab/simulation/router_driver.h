// SPDX-License-Identifier: BSD-3-Clause
// A router of a run: the product's Ingress and Egress objects, driven by events.
//
// As the DPDK worker's turn (router/daemon/workers/worker.cc): timers, then what has come in, then what may
// leave; but exactly when something is due. A port holds its packets back while the line behind it is busy,
// as a driver's full ring does.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "router/pipeline/egress.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_sender.h"
#include "tests/lab/simulation/plan.h"

namespace surety::lab {

// Where packets go that leave a router.
struct RouterLines {
  virtual ~RouterLines() = default;
  // `line` of the port, which has only one; its transmitter is idle when this is called,
  // or it has a queue of its own.
  virtual void send(LineNumber line, rte_mbuf* m, Time now) = 0;
  virtual Time free_at(LineNumber line) const = 0;
  virtual bool holds_back(LineNumber line) const = 0;
  // Of several lines behind one port (an access switch): the one to the frame's
  // destination; kNoLine: nobody has it.
  virtual LineNumber line_to(const rte_mbuf* m) const = 0;
  // An empty buffer for a congestion signal.
  virtual rte_mbuf* signal_buffer() = 0;
};

// What all routers of a run sign and judge congestion signals with.
struct SignalTrust {
  SignalKeys keys;
  WallClock clock;
};

class RouterDriver {
 public:
  // `trust` must outlive it. Congested queues signal as the router's configuration says.
  RouterDriver(const PlannedRouter& plan, const Fib& fib, std::uint64_t seed, const SignalTrust& trust,
               RouterLines& wire, Time now);
  ~RouterDriver();

  void receive(rte_mbuf* m, PortIndex port, Time now);
  void turn(Time now);  // timers and transmission, when next_event() has come
  Time next_event() const { return next_; }
  // What is for the address with this id leaves as `entry` says from now on.
  void set_next_hop(std::uint32_t id, const NextHopEntry& entry) { next_hops_.set(id, entry); }

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
  bool has_buffers() const { return has_buffers_; }  // there may be such
  const Losses& losses() const { return disposal_.losses(); }
  bool sells_rates() const { return sells_rates_; }  // a service has a committed rate
  std::uint64_t transmitted() const { return transmitted_; }
  // What signals its congested queues; null: they do not signal.
  const SignalSender* signal_sender() const { return sender_ ? &*sender_ : nullptr; }
  std::uint64_t unrouted_signals() const { return unrouted_; }  // made, and freed for want of a way out
  std::uint64_t seed() const { return seed_; }  // what a worker that does the same must be given

 private:
  struct Port {
    Egress* egress = nullptr;
    PortCounters* counters = nullptr;
    LineNumber line = kNoLine;  // the only one; none: there are several, or there is none
    bool held_back = false;     // by that line
    bool timed = false;         // its egress has timers: it always has, or never
  };
  void timers(Time now);
  bool asks_for_signals() const;
  // Not inlined: rare, and what they need would be made room for in every call of serve().
  [[gnu::noinline]] void send_signals(Time now);
  [[gnu::noinline]] void take_notes(Time now);
  void send(const CongestionSignal& signal, Time now);
  void serve(Time now);
  // Not inlined either: most ports of a router have nothing to send when it is served.
  [[gnu::noinline]] Time transmit(const Port& port, Time now);
  [[gnu::noinline]] void tag(rte_mbuf* m);

  const Snapshot& snapshot_;
  std::uint64_t seed_;
  const WallClock& clock_;
  RouterLines& wire_;
  std::vector<PortCounters> ports_;
  std::vector<ServiceCounters> services_;
  NextHopTable next_hops_;
  PacketDisposal disposal_;
  StageMeter meter_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::vector<PortEgress> port_egresses_;
  std::unique_ptr<Ingress> ingress_;
  std::vector<Port> out_;
  std::array<rte_mbuf*, kBurst> burst_;  // of transmit()
  bool takes_notes_ = false;             // a port has queues below it
  std::optional<SignalSender> sender_;
  std::array<CongestionSignal, SignalOutbox::kCapacity> signals_;  // 9 kB: too much to clear with each packet
  bool has_buffers_, sells_rates_;
  Time next_{}, first_timer_{};
  std::uint64_t transmitted_ = 0, unrouted_ = 0;
};

}  // namespace surety::lab
