// SPDX-License-Identifier: BSD-3-Clause
// Applies the service to a packet: marks it IN or OUT, holds it, or drops it.
//
// Owns the input buffers of all CSA flows, their timer wheel and their alpha clocks, including the clocks of
// paths that congestion signals hold back. A held packet keeps its mbuf, into which the fields for the later
// stages are written.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "conditioners/csa_controller.h"
#include "conditioners/customer_limits.h"
#include "conditioners/enhanced_token_bucket.h"
#include "conditioners/release_wheel.h"
#include "router/pipeline/alpha_clocks.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct SignalPath;

class ConditionStage {
 public:
  ConditionStage(const Snapshot& snapshot, FlowTable& flows, std::span<PortCounters> ports,
                 std::span<ServiceCounters> services, PacketDisposal& disposal, std::uint64_t seed, Time now,
                 std::size_t worker = 0);

  // Sets mark and precedence; removes held and dropped packets from `v`.
  void run(Burst& v, PortIndex port, Time now);
  // run() for packets of one service that conditions nothing and keeps no flows.
  void run_unconditioned(Burst& v, std::uint16_t service);
  // Replaces the configuration on a reload. Held packets stay, with their service's new parameters, and are
  // visited when already scheduled: at the latest in the wheel's 67 ms. Where `flow_table: {held: ...}` is
  // less than the number of held packets, all of them stay, and none is added.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now);
  // Appends the held packets of a flow or contract to `v`, all OUT; false: `v` has no room for all of them.
  bool flush(Burst& v, FlowId id, Time now);
  // Appends held packets that are due to `v` (empty when called); true: `v` is full and there may be more.
  bool release(Burst& v, Time now);
  // Advances the alpha clocks with the alpha of their domains' queues. Once per turn, before anything else.
  void advance(std::span<const PortEgress> port_egresses, Time now);
  // A signal concerns the flows that leave by this path: `applied`, or `observed`.
  SignalResult on_signal(const SignalPath& path, std::span<const PortEgress> port_egresses, Time now);

  // forecast() gives what run() would do to a packet of this service that leaves by `egress` to `target`: by
  // the same code, on a copy of its state. `buckets`: before the packet. `alpha`: that of the packet's path.
  struct Forecast {
    enum class Fate : std::uint8_t { in, out, waits, dropped };
    Fate fate = Fate::in;
    DropReason reason = DropReason::none;
    bool red = false;  // meter: beyond both buckets
    std::array<Meter::Level, 2> buckets{};
    std::uint16_t domain = kNoDomain;
    Ratio alpha;
  };
  Forecast forecast(const FlowRecord& record, std::uint16_t service, const ParsedPacket& packet,
                    PortIndex port, const RouteTarget& target, PortIndex egress, Time now) const;

  void discard();  // frees all held packets; for the end of the process
  Time next_event() const { return std::min(wheel_.next_event(), clocks_.next_event()); }
  const AlphaClocks& clocks() const { return clocks_; }
  std::uint32_t held() const { return pool_.held(); }
  std::uint32_t held(FlowId id) const;

 private:
  HoldingPool::Queue queue_of(FlowId id) const;  // 0: nothing is held
  enum class Fate : std::uint8_t { goes, held, dropped };
  std::size_t run_csa(Burst& v, std::size_t begin, std::size_t end, std::size_t kept, PortIndex port,
                      const ServiceProgram& service, Time now);
  std::size_t run_other(Burst& v, std::size_t begin, std::size_t end, std::size_t kept, PortIndex port,
                        const ServiceProgram& service, Time now);
  Fate condition(Burst& v, std::size_t i, PortIndex port, const ServiceProgram& service, Time now);
  Fate csa(Burst& v, std::size_t i, PortIndex port, FlowId id, const ServiceProgram& service, Time now);
  Fate go(Burst& v, std::size_t i, const ServiceProgram& service, FlowId id, Precedence precedence);
  Fate refuse(Burst& v, std::size_t i, PortIndex port, FlowId id, DropReason reason);
  void enter_clock(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                   AlphaClocks::Index clock) const;
  DropReason pool_refuses(const FlowKey& key, PortIndex port) const;
  Forecast forecast_csa(EnhancedTokenBucketState s, std::uint16_t service, const ParsedPacket& packet,
                        PortIndex port, const Path& path, PortIndex egress, Time now) const;
  void follow_path(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p);
  void count_out(FlowId id, const Path& path);
  void revive(Burst& v, const Packet& p, std::uint16_t service);

  const Snapshot* snapshot_;
  FlowTable& flows_;
  std::span<PortCounters> ports_;
  std::span<ServiceCounters> services_;
  PacketDisposal& disposal_;
  const std::uint32_t owner_;  // tag of its packets: PacketOwner::base()
  HoldingPool pool_;
  std::uint32_t may_hold_;  // packets; the snapshot's limit, and at most the pool's
  CustomerHasher customer_;
  CustomerQuota shares_;  // parts of the pool
  ReleaseWheel wheel_;
  AlphaClocks clocks_;
  std::vector<Ratio> alphas_;  // the ports' own queues', indexed by domain; sized for all future domains
};

}  // namespace surety
