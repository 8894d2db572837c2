// SPDX-License-Identifier: BSD-3-Clause
// Reactions to congestion of a port's queues: the alphas of its CSA domains, and signals towards the sources
// of OUT packets.
//
// A domain (snapshot.h) is the set of flows that share an alpha because they leave by one queue of this port.
// Its controller follows that queue; the workers that condition the flows read alpha(). Signals are for flows
// that another router conditions: samples, and reminders (router/pipeline/signals/contributors.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conditioners/csa_controller.h"
#include "router/pipeline/class_split.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/contributors.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct EgressQueues;

class CongestionDomains {
 public:
  struct Controller {
    std::uint16_t domain;  // index into Snapshot::domains
    std::size_t class_index;
    CsaController csa;
  };
  // The initial controllers of a port's domains, in the order of the domains. Retired domains have
  // controllers too: flows may still use them.
  static std::vector<Controller> configured(const Snapshot& snapshot, PortIndex port, Time now);

  // `capacity`: the most domains there may ever be, over all ports.
  CongestionDomains(std::vector<Controller> controllers, std::size_t capacity, PortIndex port);
  // Replaces the controllers; a domain that is kept keeps its timers and its alpha, limited by the new
  // maximum. Does not allocate: `fresh` takes the memory to be freed.
  void adopt(std::vector<Controller>& fresh);
  // Moves the watches along with the classes. `fresh`: contributors for all current classes.
  void move(const ClassMoves& moves, std::vector<Contributors>& fresh);

  // An OUT packet `p` has arrived at the queue of its class, as an onset of congestion or an eighth.
  void arrival(std::size_t class_index, CongestionEvent event, const Packet& p, Time now);
  // True if arrivals of a class must be noted: for its reminders while its queue is congested, and for a
  // while afterwards; for events always.
  bool watches(std::size_t class_index) const { return (watched_ >> class_index & 1) != 0; }
  bool watches_any() const { return watched_ != 0; }
  void note(const ClassRun& run, Time now);
  void note(std::size_t class_index, const Packet& packet, Time now);
  // Runs T2 of each controller as often as it has expired, and sends reminders; once per turn. `queues`: the
  // port's.
  void advance(EgressQueues& queues, Time now);
  Time next_event() const;  // due time of advance()

  // 1 for a domain that this port does not have. From any thread, at all times.
  Ratio alpha(std::uint16_t domain) const { return alphas_[domain].load(std::memory_order_relaxed); }

  // Enables or disables signals of congested queues, at most `limit` per second and queue in the long run.
  // Initially off. The first call with `on` allocates, and decides about `report`.
  void enable_signals(bool on, std::size_t classes, std::uint32_t limit,
                      config::Signalling::Report report = config::Signalling::Report::samples);
  bool signals_on() const { return signals_on_; }
  void signal(const CongestionSignal& s) { signals_.push(s); }
  std::size_t take_signals(std::span<CongestionSignal> out) { return signals_.take(out); }
  const SignalOutbox& signals() const { return signals_; }

 private:
  void publish(const Controller& c) { alphas_[c.domain].store(c.csa.alpha(), std::memory_order_relaxed); }
  void sample(std::size_t class_index, const Packet& p, Time now);
  void remind(std::size_t class_index, bool congested, Time now);
  void report(std::size_t class_index, CongestionEvent event, const Packet& p, Time now);
  void send(std::size_t class_index, std::size_t n);
  // One bit for each class that has contributors.
  std::uint64_t all_classes() const {
    return contributors_.empty() ? 0 : ~std::uint64_t{0} >> (64 - contributors_.size());
  }

  std::vector<Controller> controllers_;           // indexed by domain
  std::unique_ptr<std::atomic<Ratio>[]> alphas_;  // alphas of controllers_, indexed by domain
  PortIndex port_;
  bool signals_on_ = false, events_ = false;
  std::vector<Contributors> contributors_;  // indexed by class; empty until signals are first enabled
  std::vector<CongestionSignal> batch_;     // reminders or events: 9 kB are too much to clear each time
  std::uint64_t watched_ = 0;               // classes, one bit each
  SignalOutbox signals_;
};

}  // namespace surety
