// SPDX-License-Identifier: BSD-3-Clause
// What happens to packets that come in: parse -> classify -> route -> condition(flow) -> rewrite -> the
// egress of a port.
//
// One per worker. Knows no device and no clock (CONTRIBUTING.md rule 1): the driver hands bursts and
// the time over, calls release() once per turn, and looks at next_event() to know when a held packet
// may leave or a timer is due.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "router/classify_stage.h"
#include "router/condition_stage.h"
#include "router/counters.h"
#include "router/egress.h"
#include "router/filter_stage.h"
#include "router/fragment_stage.h"
#include "router/interface_finder.h"
#include "router/packet_disposal.h"
#include "router/pending_packets.h"
#include "router/rewrite_stage.h"
#include "router/route_stage.h"
#include "router/routes/fib.h"
#include "router/routes/neighbors.h"
#include "router/signal_interceptor.h"
#include "router/signals/congestion_signal.h"
#include "router/snapshot.h"
#include "router/source_check.h"
#include "router/vector.h"

namespace surety {

class OrdinaryParser;

// What an Ingress works with; all of it must outlive it.
struct IngressEnvironment {
  const Snapshot& snapshot;
  const Fib& fib;
  const NextHopTable& next_hops;
  std::span<const Outlet> outlets;   // by port; these two may change where there is none
  std::span<const MacAddress> macs;  // by port
  std::span<PortCounters> ports;
  std::span<ServiceCounters> services;
  PacketDisposal& disposal;
  StageMeter& meter;
  const SignalKeys* signal_keys = nullptr;  // null: signalling is off
  const WallClock* wall_clock = nullptr;    // the same
  rte_mempool* pool = nullptr;  // for fragments; null: what is too large is told so, whatever it permits
  InterfaceCounters* interfaces = nullptr;  // null: nobody counts
  std::size_t worker = 0;                   // which of them it is, to the owners of packets
};

class Ingress {
 public:
  Ingress(const IngressEnvironment& environment, std::uint64_t seed, Time now);

  // A burst of any size that came in by `port`; the packets are the router's from then on.
  void receive(std::span<rte_mbuf* const> burst, PortIndex port, Time now);
  // Timers: alpha clocks, held packets whose tokens have come, idle flows. Once per turn, before receive().
  void release(Time now);
  // A router along the way signals that one of its queues is congested (congestion_signal.h). If this is the
  // border that it is for, the flows that leave by that path are held back: their alpha is the minimum of
  // what their port's queue allows and of what the signals do.
  SignalResult on_signal(const CongestionSignal& signal, Time now);
  // Signals of other routers that were believed since the last call, for the other workers: their flows take
  // the same paths. Only where share_signals(true) has been called.
  std::size_t take_shared(std::span<CongestionSignal> out) { return shared_.take(out); }
  void share_signals(bool on) { sharing_ = on; }
  // From now on signals are checked with these, which must outlive this.
  void use_keys(const SignalKeys& keys) { interceptor_.set_keys(keys); }
  // A queue of an interface of this router is congested (Egress::take_notes()).
  void on_note(const CongestionSignal& signal, Time now) { follow(signal, now); }
  // The ports, a bit each, for whose owners something was put into a ring since the last call.
  std::uint32_t take_handed() { return std::exchange(handed_, 0); }
  // One that another worker has believed: counted there; or a note.
  void on_shared(const CongestionSignal& signal, Time now);
  // A packet of this router's own: an IP packet behind 14 bytes for the Ethernet header. true: it is on its
  // way; false: no way out is ready, and it is freed.
  bool originate(rte_mbuf* m, Time now);
  // A reload: from now on `snapshot` holds, which follows the one before (snapshot.h) and must outlive this,
  // or the next adopt(); the one before is not looked at any more. `services`: by snapshot.services, with
  // what has been counted; `filter_counts`: room for what snapshot.filters counts, zero, in exchange for what
  // was there before. Between two turns; allocates nothing. Flows follow in the turns to come, a slice
  // of the table in each (classify_stage.h): no packet is dropped here because of it, and the packets of a
  // flow that has a record come to their egress in order; there a new mark may lead to another class, and
  // what had to be let go at once may find a full queue.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services,
             std::vector<std::uint64_t>& filter_counts, Time now);
  // That is not over: there may be flows whose next packet does not ask the new rules.
  bool adopting() const { return classify_.adopting(); }
  // Frees everything held; for the end of the process.
  void discard() {
    condition_.discard();
    pending_.discard();
  }
  // The control thread follows nobody any more: what waits for it (pending_packets.h) goes on.
  void stop_waiting() { pending_.stop(); }
  Time next_event() const { return std::min(condition_.next_event(), classify_.next_event()); }
  // Contracts, for another process and from one (classify_stage.h).
  std::vector<ContractState> save() const { return classify_.save(); }
  void restore(std::span<const ContractState> states, Time now) { classify_.restore(states, now); }

  const FlowTable& flows() const { return classify_.flows(); }
  std::uint32_t held() const { return condition_.held() + pending_.size(); }
  std::uint32_t pending() const { return pending_.size(); }  // of those: for the control thread
  // Packets that wait in the input buffer of one flow or contract.
  std::uint32_t held(FlowId id) const { return condition_.held(id); }
  std::uint32_t held_bytes(FlowId id) const { return condition_.held_bytes(id); }
  // Paths that signals hold back now, by path and domain.
  std::vector<RemoteAlphaReading> remote_alphas() const { return condition_.clocks().remotes(); }
  const AlphaClocks& clocks() const { return condition_.clocks(); }
  // What flows of a path live by: the lowest of their own queue's alpha and what signals ask for, if they are
  // obeyed. From any thread, with the latest snapshot that it knows of.
  Ratio applied_alpha(const RemoteAlphaReading& path, const Snapshot& snapshot) const;
  const ContractLedger& contracts() const { return classify_.contracts(); }
  bool has_room(std::uint16_t rule, InterfaceIndex interface) const {  // for one more contract of the rule
    return classify_.has_room(rule, interface);
  }
  std::span<const std::uint64_t> filter_counts() const { return filters_.counts(); }
  const SignalCounters& signals() const { return signals_; }  // that came, by what became of them
  SignalInterceptor& interceptor() { return interceptor_; }
  const SignalInterceptor& interceptor() const { return interceptor_; }

  // The parts that decide about a packet, for who asks them without one (observe/explain/), between two
  // bursts.
  const Snapshot& snapshot() const { return *snapshot_; }
  const ParseContext& context(PortIndex port) const { return contexts_[port]; }
  const InterfaceFinder& finder() const { return interfaces_; }
  const SourceCheck& sources() const { return sources_; }
  const RouteStage& route() const { return route_; }
  const Fib& fib() const { return fib_; }
  const NextHopTable& next_hops() const { return next_hops_; }
  // Corrects the outcome of parse() for a packet that must not leave its link (RFC 3927 7, RFC 4291 2.5.6,
  // RFC 4861):
  //  - punt: neighbour discovery to a group of the link, a link-local address or an address of this router;
  //    IPv6 from one link-local address to another
  //  - forward: another packet with a link-local source or destination, to an address of this router; the
  //    source check and the filters apply, and the FIB hands it to the kernel
  //  - drop link_local: everything else with such an address
  // Other outcomes are returned unchanged.
  ParseOutcome keep_on_link(const ParseOutcome& parsed, const ParsedPacket& h) const;

 private:
  void parse(std::span<rte_mbuf* const> burst, PortIndex port);
  std::uint64_t parse_eights(std::span<rte_mbuf* const> burst, PortIndex port);
  struct Taken {
    std::size_t packets = 0;
    std::uint64_t bytes = 0;
  };
  Taken parse_eights6(std::span<rte_mbuf* const> burst, std::size_t kept, PortIndex port);
  template <bool kTags>
  std::uint64_t parse_singly(std::span<rte_mbuf* const> burst, PortIndex port);
  bool parse_tagged(const OrdinaryParser& ordinary, rte_mbuf* m, PortIndex port, ParsedPacket& h);
  bool parse_unusual(rte_mbuf* m, PortIndex port, ParsedPacket& h);
  void take_signals(PortIndex port, Time now);
  void take_leases(PortIndex port);
  void check(PortIndex port);
  SignalResult follow(const CongestionSignal& signal, Time now);
  void flush(Time now);
  void send_revived(Time now);
  void send_pending(Time now);
  void hand_over(Time now);
  void hand_over_vector(Time now);
  void hand_over(const Outlet& outlet, PortIndex port, Places places);
  bool hand_over_own(rte_mbuf* m, PortIndex port, Time now);

  const Snapshot* snapshot_;
  const Fib& fib_;
  const NextHopTable& next_hops_;
  PacketDisposal& disposal_;
  StageMeter& meter_;
  std::span<const Outlet> outlets_;
  std::span<PortCounters> ports_;
  std::span<const MacAddress> macs_;
  std::vector<ParseContext> contexts_;  // by port
  SourceCheck sources_;
  FilterStage filters_;
  ClassifyStage classify_;
  RouteStage route_;
  ConditionStage condition_;
  PendingPackets pending_;
  RewriteStage rewrite_;
  FragmentStage fragment_;
  InterfaceFinder interfaces_;
  SignalInterceptor interceptor_;
  SignalCounters signals_{};
  SignalOutbox shared_;
  bool sharing_ = false;
  std::uint32_t handed_ = 0;
  bool icmp_ = false;  // among what was parsed last
  Vector v_;
};

}  // namespace surety
