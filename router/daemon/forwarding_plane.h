// SPDX-License-Identifier: BSD-3-Clause
// The data plane of a whole router: ports, buffers, tables and workers, and the snapshot of the configuration
// that they run on.
//
// Another configuration is prepared first, with all steps that can fail and change nothing; then the workers
// adopt it between two turns; then the control thread follows, and the old state is freed. Functions are for
// the control thread, if they do not say otherwise.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/port_set.h"
#include "router/daemon/ports/clock.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/work_plan.h"
#include "router/daemon/worker_set.h"
#include "router/daemon/workers/shared.h"
#include "router/pipeline/signals/signal_keys.h"
#include "router/pipeline/signals/unix_time.h"

namespace surety {

class EventLog;
struct EalPlan;
struct RouterFacts;

class ForwardingPlane {
 public:
  // `placed`: `config` with its ports at their places. `old_process`: continues its clock and its spread of
  // flows; nullptr: there is none. The EAL must have been started. Throws std::runtime_error.
  ForwardingPlane(const config::Config& config, config::Config placed, const EalPlan& plan,
                  const RouterFacts* old_process);
  ~ForwardingPlane();
  ForwardingPlane(const ForwardingPlane&) = delete;
  ForwardingPlane& operator=(const ForwardingPlane&) = delete;

  // Opens the devices that exist, and reports the others. The workers come next.
  void open_ports(EventLog& events);
  void make_workers();

  // With its ports at their places.
  const config::Config& config() const;
  const Snapshot& snapshot() const { return *snapshot_; }
  const WorkPlan& work() const { return work_; }
  PortSet& ports() { return ports_; }
  const Pools& pools() const { return pools_; }
  Forwarding& forwarding() { return forwarding_; }
  rte_ring* punts() const { return punts_.get(); }
  WorkerSet& workers() { return *workers_; }
  const WorkerSet& workers() const { return *workers_; }
  bool hugepages() const { return hugepages_; }
  std::uint64_t dispatch_seed() const { return dispatch_seed_; }
  // Thread-safe, as now() and unix_time().
  const TscClock& clock() const { return clock_; }
  Time now() const { return clock_.now(); }
  UnixTime unix_time(Time now) const { return wall_clock_.at(now); }
  void set_unix_time(UnixTime now) { wall_clock_.set(now, clock_.now()); }
  // ID of the key that signs signals; empty: none.
  std::string signing_key() const;
  // Sends a frame of the control thread by a port. False: no room.
  bool inject(PortIndex port, rte_mbuf* m) { return workers_->inject(port, work_.ports[port].owner, m); }

  // The places of ports whose missing devices have appeared.
  std::vector<std::size_t> appeared() const;

  // A configuration that has been prepared. Unless it is published, its devices are closed again.
  struct Next {
    explicit Next(PortSet& ports);
    ~Next();
    Next(Next&& other) noexcept;

    PortOpening opening;
    bool waits = false;  // devices of new ports are in use by removed ones
    WorkPlan plan;
    std::unique_ptr<Snapshot> snapshot;
    WorkerSet::Updates updates;
  };
  // Finds buffers for a configuration. Throws std::runtime_error.
  void find_buffers(const config::Config& config);
  // Logs if workers hold fewer packets than the configuration permits.
  void tell_held() const;
  // Opens new devices; `missing_too`: and those that were missing. Throws std::runtime_error, or PortError
  // where a device is the reason.
  Next prepare(config::Config config, bool missing_too = true);
  // True if the device of a missing port is opened when it appears.
  bool may_appear(const config::Port& port) const;
  // The workers sign with the last key loaded. `shown`: called before any other thread reads the workers
  // again.
  void publish(Next next, const std::function<void()>& shown);
  // True once the workers have adopted the last snapshot, and the old state can be freed.
  bool may_free_old() const { return before_ != nullptr && workers_->updated(); }
  // Closes removed ports and devices that are gone, and frees the old snapshot: the control thread has no
  // reference to it.
  void free_old();

 private:
  struct FreeRing {
    void operator()(rte_ring* r) const { rte_ring_free(r); }
  };
  void load_keys(const config::Config& config);
  const SignalKeys* keys() const { return signal_keys_.empty() ? nullptr : &signal_keys_.back(); }
  WorkPlan next_plan(const config::Config& next) const;
  void open_or_miss(std::size_t place, EventLog& events);

  const std::vector<unsigned> cores_;
  const bool hugepages_, new_ports_;
  const std::uint32_t held_packets_;             // the configuration's at the start
  std::unique_ptr<Snapshot> before_, snapshot_;  // before_: until free_old()
  Pools pools_;
  PortSet ports_;
  Forwarding forwarding_;
  std::unique_ptr<rte_ring, FreeRing> punts_;
  std::deque<SignalKeys> signal_keys_;  // the last entry is in use; workers may still read earlier ones
  const TscClock clock_;
  const std::uint64_t dispatch_seed_;
  WallClock wall_clock_;
  WorkPlan work_;
  std::unique_ptr<WorkerSet> workers_;
};

}  // namespace surety
