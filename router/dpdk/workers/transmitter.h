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

  // A snapshot with the same ports: prepare() on any thread, adopt() between two turns.
  std::vector<std::unique_ptr<EgressUpdate>> prepare(const Snapshot& snapshot, Time now) const;
  void adopt(std::span<const std::unique_ptr<EgressUpdate>> updates, const Snapshot& snapshot, Time now);

  // The rows of these ports but for their counters; allocates nothing.
  void fill(Reading& r, const Snapshot& snapshot) const;
  // Frees all packets; for the end.
  void discard(Time now);

 private:
  struct Port {
    PortIndex index;
    Egress* egress;
    std::vector<EgressHandover*> handed;     // by each other worker
    Handover* injected;                      // by the control thread; null: there is none
    std::array<rte_mbuf*, kVector> mbufs{};  // taken from the egress, and not accepted by the device yet:
    std::size_t begin = 0, end = 0;          // these of them
    bool interfaces = false;                 // there have been some on it

    bool blocked() const { return begin != end; }
  };
  std::size_t transmit(Port& port, Time now);
  void use(const Snapshot& snapshot);
  void tag(Port& port);
  static bool handed_empty(const Port& port);

  const WorkerContext context_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::vector<Port> ports_;
  Priorities priorities_{};
};

}  // namespace surety
