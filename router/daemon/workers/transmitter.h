// SPDX-License-Identifier: BSD-3-Clause
// The ports that a worker owns: their Egress, the rings by which other threads hand packets over, and the
// device.
//
// Packets leave in the Egress's order: packets that the device does not accept are offered again before any
// others. All packets for such a port, from any thread, pass its Egress.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "router/daemon/workers/worker_context.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/egress_tags.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class Transmitter {
 public:
  // `signals`: congested queues of these ports send signals. `seed`: the worker's.
  Transmitter(const WorkerContext& context, const Snapshot& snapshot, bool signals, std::uint64_t seed,
              Time now);

  // The egress of each port; nullptr: another worker owns it.
  std::span<const std::unique_ptr<Egress>> egresses() const { return egresses_; }

  // These three are called once per turn, in this order: they run timers of the egresses, enqueue packets
  // handed over by others, and send due packets to the devices. The latter two return the number of packets.
  void advance(Time now);
  std::size_t take_over(Time now);
  std::size_t transmit(Time now);

  // The time when packets or timers need a turn. Ports whose device accepts no packets are left out.
  Time next_event(Time now) const;
  // True if packets wait for a device, perhaps for as long as its link is down.
  bool blocked() const;
  // True if packets are in the rings.
  bool handed_waits() const;
  // True if no packets are queued at these ports, or on their way to them from other workers.
  bool sent() const;

  // Changes to another snapshot, and optionally another plan: prepare() on any thread, adopt() between two
  // turns. Packets queued for a removed port are dropped. Its Egress stays until another port gets its place,
  // since others may read its alpha; packets that they hand over meanwhile are dropped, until the next
  // update.
  struct Update;
  Update prepare(const Snapshot& snapshot, const WorkPlan& plan, Time now) const;
  void adopt(Update& update, const Snapshot& snapshot, Time now);

  // Fills the rows of these ports and their queues, without the ports' counters; allocates nothing.
  void fill(Reading& r, const Snapshot& snapshot) const;
  // Frees all packets; for the end of the process.
  void discard(Time now);

 private:
  struct Port {
    PortIndex index;
    Egress* egress;
    DpdkPort* device;                       // nullptr: not open
    std::vector<EgressHandover*> handed;    // indexed by each other worker
    Handover* injected;                     // from the control thread; nullptr: none
    std::array<rte_mbuf*, kBurst> mbufs{};  // taken from the egress, not accepted by the device:
    std::size_t begin = 0, end = 0;         // range in mbufs
    bool interfaces = false;                // the port has had interfaces

    bool blocked() const { return begin != end; }
  };
  Port port_of(PortIndex index, Egress& egress, const WorkPlan& plan) const;
  std::size_t take_over(const Port& port, Time now);
  void drop_taken(Port& port);
  [[gnu::noinline, gnu::cold]] std::size_t drop_due(Port& port, Time now);
  [[gnu::noinline, gnu::cold]] std::uint64_t drop_oversized(Port& port);
  std::size_t transmit(Port& port, Time now);
  void use(const Snapshot& snapshot);
  void tag(Port& port);
  [[gnu::noinline, gnu::cold]] void show(const Port& port) const;  // to the capture
  static bool handed_empty(const Port& port);

  const WorkerContext context_;
  bool signals_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Egress>> egresses_;
  std::vector<Port> ports_;
  Priorities priorities_{};
  std::uint8_t own_dscp_ = 0;  // DSCP of the router's own packets
};

struct Transmitter::Update {
  std::vector<std::unique_ptr<EgressUpdate>>
      egresses;                                // indexed by port, of changed and removed ports; nullptr: none
  std::vector<std::unique_ptr<Egress>> fresh;  // egresses of new ports; then the previous ones
  std::vector<Port> ports;                     // new list for ports_
  std::vector<DpdkPort*> devices;              // indexed by port
};

}  // namespace surety
