// SPDX-License-Identifier: BSD-3-Clause
// The path of incoming packets: parse -> classify -> route -> condition(flow) -> rewrite -> the egress of a
// port.
//
// Each worker has one object, without device or clock (CONTRIBUTING.md rule 1): the driver passes bursts and
// the time, and calls release() once per turn; next_event() is when a held packet may leave or a timer is
// due.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/classify_stage.h"
#include "router/pipeline/condition_stage.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/filter_stage.h"
#include "router/pipeline/fragment_stage.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/parse_stage.h"
#include "router/pipeline/rewrite_stage.h"
#include "router/pipeline/route_stage.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/signal_stage.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The environment of an Ingress; all of it must outlive the Ingress.
struct IngressEnvironment {
  const Snapshot& snapshot;
  const Fib& fib;
  const NextHopTable& next_hops;
  std::span<const PortEgress>
      port_egresses;                 // indexed by port; entries of unused ports may change, also in `macs`
  std::span<const MacAddress> macs;  // indexed by port
  std::span<PortCounters> ports;
  std::span<ServiceCounters> services;
  PacketDisposal& disposal;
  StageMeter& meter;
  const SignalKeys* signal_keys = nullptr;  // nullptr: signalling is off
  const WallClock* wall_clock = nullptr;    // nullptr: signalling is off
  rte_mempool* pool = nullptr;  // for fragments; nullptr: oversized packets are refused even without DF
  InterfaceCounters* interfaces = nullptr;  // nullptr: interfaces are not counted
  std::size_t worker = 0;                   // index of the worker, for PacketOwner
};

class Ingress {
 public:
  Ingress(const IngressEnvironment& environment, std::uint64_t seed, Time now);

  // Processes a burst of any size from `port`; takes over the packets.
  void receive(std::span<rte_mbuf* const> burst, PortIndex port, Time now);
  // Runs timers: alpha clocks, held packets with enough tokens, idle flows. Once per turn, before receive().
  void release(Time now);
  // A router along the way signals that one of its queues is congested (congestion_signal.h). If this router
  // is the border that the signal is for, the flows on that path are held back: their alpha is the minimum of
  // their port's queue's and the path's.
  SignalResult on_signal(const CongestionSignal& signal, Time now) { return signals_.on_signal(signal, now); }
  // Signals of other routers accepted since the last call, for the other workers, whose flows take the same
  // paths. Empty unless share_signals(true) has been called.
  std::size_t take_shared(std::span<CongestionSignal> out) { return signals_.take_shared(out); }
  void share_signals(bool on) { signals_.share(on); }
  // Replaces the keys that signals are checked with; `keys` must outlive this object.
  void use_keys(const SignalKeys& keys) { signals_.interceptor().set_keys(keys); }
  // A queue of an interface of this router is congested (Egress::take_notes()).
  void on_note(const CongestionSignal& signal, Time now) { signals_.follow(signal, now); }
  // The ports for whose owning workers packets were put into a ring since the last call, one bit each.
  std::uint32_t take_handed() { return std::exchange(handed_, 0); }
  // A signal that another worker has accepted and counted; or a note.
  void on_shared(const CongestionSignal& signal, Time now) { signals_.on_shared(signal, now); }
  // Sends a packet of this router itself: an IP packet behind 14 bytes for the Ethernet header. true:
  // enqueued; false: no next hop is ready, and the packet is freed.
  bool originate(rte_mbuf* m, Time now);
  // Applies a reload: replaces the snapshot by the next one (snapshot.h), which must outlive this object or
  // the next adopt(); the previous snapshot is not read afterwards. `services`: by snapshot.services, with
  // their counts so far; `filter_counts`: zeros for the counters of snapshot.filters, exchanged for the
  // previous memory. Called between two turns; allocates nothing. Flows move in the following turns, a slice
  // of the table in each (classify_stage.h): no packet is dropped here because of the reload, and packets of
  // a flow with a record reach their egress in order. There a new mark may lead to another class, and packets
  // released early may find a full queue.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services,
             std::vector<std::uint64_t>& filter_counts, Time now);
  // True while the sweep after a reload runs: flows that it has not visited keep their old classification.
  bool adopting() const { return classify_.adopting(); }
  // Frees all held packets; for the end of the process.
  void discard() {
    condition_.discard();
    pending_.discard();
  }
  // Releases packets that wait for the control thread (PendingPackets), since it opens no further next
  // hops.
  void stop_waiting() { pending_.stop(); }
  Time next_event() const { return std::min(condition_.next_event(), classify_.next_event()); }
  // Contracts for another process, and from one (classify_stage.h).
  std::vector<ContractState> save() const { return classify_.save(); }
  void restore(std::span<const ContractState> states, Time now) { classify_.restore(states, now); }

  const FlowTable& flows() const { return classify_.flows(); }
  std::uint32_t held() const { return condition_.held() + pending_.size(); }
  std::uint32_t pending() const { return pending_.size(); }  // the part that waits for the control thread
  // Packets in the input buffer of one flow or contract.
  std::uint32_t held(FlowId id) const { return condition_.held(id); }
  // Paths that signals hold back now, by path and domain.
  std::vector<RemoteAlphaReading> remote_alphas() const { return condition_.clocks().remotes(); }
  const AlphaClocks& clocks() const { return condition_.clocks(); }
  // The alpha of the flows of a path: the lower of their own queue's and the path's, if signals are acted on.
  // Thread-safe with the latest snapshot adopted.
  Ratio applied_alpha(const RemoteAlphaReading& path, const Snapshot& snapshot) const;
  const ContractLedger& contracts() const { return classify_.contracts(); }
  std::span<const std::uint64_t> filter_counts() const { return filters_.counts(); }
  const SignalCounters& signals() const { return signals_.counters(); }  // received signals, by result
  const SignalInterceptor& interceptor() const { return signals_.interceptor(); }

  // The parts that decide about a packet, for queries without a packet (observe/explain/), between two
  // bursts.
  const Snapshot& snapshot() const { return *snapshot_; }
  const ParseStage& parse() const { return parse_; }
  const SourceCheck& sources() const { return sources_; }
  const ClassifyStage& classify() const { return classify_; }
  const RouteStage& route() const { return route_; }
  const ConditionStage& condition() const { return condition_; }
  const Fib& fib() const { return fib_; }
  const NextHopTable& next_hops() const { return next_hops_; }

 private:
  void check(PortIndex port);
  void flush(Time now);
  void send_revived(Time now);
  void send_pending(Time now);
  template <class Count>
  void hand_over(Time now, Count count);
  void hand_over_held(Time now);
  void hand_over_vector(Time now);
  void hand_over(const PortEgress& port_egress, PortIndex port, LaneMask lanes);
  bool hand_over_own(rte_mbuf* m, PortIndex port, Time now);

  const Snapshot* snapshot_;
  const Fib& fib_;
  const NextHopTable& next_hops_;
  PacketDisposal& disposal_;
  StageMeter& meter_;
  std::span<const PortEgress> port_egresses_;
  std::span<PortCounters> ports_;
  std::span<const MacAddress> macs_;
  ParseStage parse_;
  SourceCheck sources_;
  FilterStage filters_;
  ClassifyStage classify_;
  RouteStage route_;
  ConditionStage condition_;
  PendingPackets pending_;
  RewriteStage rewrite_;
  FragmentStage fragment_;
  SignalStage signals_;
  std::uint32_t handed_ = 0;
  Burst v_;
};

}  // namespace surety
