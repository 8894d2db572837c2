// SPDX-License-Identifier: BSD-3-Clause
// The ports that a worker owns: the Egress of each, the rings by which other threads hand packets
// over to it, and the device.
//
// Packets leave in the order that the Egress decides: what the device does not accept yet is offered again
// before anything that follows. Whatever any thread wants to leave by such a port goes through its Egress.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "router/dpdk/workers/worker_context.h"
#include "router/egress.h"
#include "router/egress_tags.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

class Transmitter {
 public:
  // `signals`: their congested queues ask for signals. `seed`: of the worker.
  Transmitter(const WorkerContext& context, const Snapshot& snapshot, bool signals, std::uint64_t seed,
              Time now);

  // The egress of each port; null: another worker owns it.
  std::span<const std::unique_ptr<Egress>> egresses() const { return egresses_; }

  // Once per turn each, in this order: timers of the egresses; what others have handed over goes into their
  // queues; what may leave goes to the devices. Of packets, how many.
  void advance(Time now);
  std::size_t take_over(Time now);
  std::size_t transmit(Time now);

  // When packets or timers ask for a turn. Ports whose device takes no packets do not count:
  // their events mean nothing meanwhile.
  Time next_event(Time now) const;
  // Packets wait for a device: for as long as its link is down, perhaps.
  bool blocked() const;
  // Something is in the rings.
  bool handed_waits() const;
  // Nothing is queued at these ports, or on its way to them from other workers.
  bool sent() const;

  // Another snapshot, and perhaps another plan: prepare() on any thread, adopt() between two turns. What is
  // queued for a port that goes is dropped. Its Egress stays until another port has its place, for others may
  // ask it of alpha; what they hand over to it meanwhile is taken, and dropped, until the next update.
  struct Update;
  Update prepare(const Snapshot& snapshot, const WorkPlan& plan, Time now) const;
  void adopt(Update& update, const Snapshot& snapshot, Time now);

  // The rows of these ports and their queues, but for their counters; allocates nothing.
  void fill(Reading& r, const Snapshot& snapshot) const;
  // Frees all packets; for the end.
  void discard(Time now);

 private:
  struct Port {
    PortIndex index;
    Egress* egress;
    DpdkPort* device;                        // null: not open yet, or no more
    std::vector<EgressHandover*> handed;     // by each other worker
    Handover* injected;                      // by the control thread; null: there is none
    std::array<rte_mbuf*, kVector> mbufs{};  // taken from the egress, and not accepted by the device yet:
    std::size_t begin = 0, end = 0;          // these of them
    bool interfaces = false;                 // there have been some on it

    bool blocked() const { return begin != end; }
  };
  Port port_of(PortIndex index, Egress& egress, const WorkPlan& plan) const;
  std::size_t take_over(const Port& port, Time now);
  void drop_taken(Port& port);
  std::size_t transmit(Port& port, Time now);
  void use(const Snapshot& snapshot);
  void tag(Port& port);
  [[gnu::noinline, gnu::cold]] void show(const Port& port) const;  // to who looks on
  static bool handed_empty(const Port& port);

  const WorkerContext context_;
  bool signals_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::vector<Port> ports_;
  Priorities priorities_{};
};

struct Transmitter::Update {
  std::vector<std::unique_ptr<EgressUpdate>> egresses;  // by port, of those that go on or go; null: none
  std::vector<std::unique_ptr<Egress>> fresh;           // the same, of those that come; then those before
  std::vector<Port> ports;                              // of these
  std::vector<DpdkPort*> devices;                       // by port
};

}  // namespace surety
