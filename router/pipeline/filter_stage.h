// SPDX-License-Identifier: BSD-3-Clause
// Filters of arriving and leaving packets: the source check, and the access lists of ports and interfaces.
// Refused packets are dropped and handed to the control thread, which sends ICMP errors.
#pragma once

#include <span>
#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// Checks that a packet arrives from the direction of its source: ingress filtering by the FIB (RFC 2827, RFC
// 3704).
//
//   strict  a route of the source leads back by the packet's ingress interface
//   loose   some route leads to it
//   off     no check
//
// A source that is an address of the router itself, or has no route but a blackhole, fails both. Checked when
// a flow is new and when it is classified again after a reload; for each packet without a flow record
// (classify_stage.h).
class SourceCheck {
 public:
  SourceCheck(const Snapshot& snapshot, const Fib& fib, const NextHopTable& next_hops)
      : snapshot_(&snapshot), fib_(fib), next_hops_(next_hops) {}

  void adopt(const Snapshot& snapshot) { snapshot_ = &snapshot; }
  bool asks(PortIndex port) const { return snapshot_->interfaces->checks_sources(port); }
  bool accepts(const ParsedPacket& packet) const;
  // Drops packets that accepts() refuses.
  void run(Burst& v, PortIndex port, PacketDisposal& disposal) const;

 private:
  using Mode = config::Port::SourceCheck;

  const Snapshot* snapshot_;
  const Fib& fib_;
  const NextHopTable& next_hops_;
};

// Drops packets that the filters of ports and interfaces do not permit.
//
// Direction `in` is evaluated, as the source check, when a flow is new and again after a reload; for each
// packet of a flow without a record. A record covers all packets of its flow except fragments, which are
// evaluated one by one (filter.h), and except where a filter matches the DSCP, which need not be part of the
// key. A refused flow gets no record. Direction `out` is evaluated for each packet, after routing: packets
// from the core have no record, and a record does not contain the interface by which its flow leaves. Packets
// are evaluated before they are held, not again when released. Not evaluated are packets of the router itself
// and of the kernel, and packets that parse() hands to the kernel: neighbour discovery, multicast, link-local
// addresses.
class FilterStage {
 public:
  FilterStage(const Snapshot& snapshot, const NextHopTable& next_hops, PacketDisposal& disposal);

  // `counts`: snapshot.filters.counters() zeros; adopt() carries the counts over and returns the old memory
  // in it.
  void adopt(const Snapshot& snapshot, std::vector<std::uint64_t>& counts);
  // Counters in the order of Snapshot::filters.
  std::span<const std::uint64_t> counts() const { return counts_; }

  // True if some interface of the port has a filter `in`; if any interface has a filter `out`.
  bool asks_in(PortIndex port) const { return asked_[port].in; }
  bool asks_out() const { return asks_out_; }
  // Packets of known flows that must be evaluated all the same, one bit each.
  std::uint64_t asked_always(const Burst& v, PortIndex port) const;
  // The subset of `asked` that filters `in` refuse.
  std::uint64_t refused(const Burst& v, std::uint64_t asked);
  // Drops a packet that a filter refuses, and reports to its sender.
  void refuse(const Burst& v, std::size_t i, PortIndex port) {
    disposal_.drop_and_report(v.mbuf[i], port, DropReason::filtered, Refusal::prohibited, v.header[i]);
  }

  // run_in() drops packets that filters `in` refuse, on a port without flow records; run_out() drops routed
  // packets that filters `out` refuse.
  void run_in(Burst& v, PortIndex port);
  void run_out(Burst& v, PortIndex port);
  // True if a filter refuses a routed packet that does not reach run_out().
  bool refuses_out(const Burst& v, std::size_t i);

 private:
  using Choice = std::array<std::uint16_t, kBurst>;  // a filter, or kNoFilter
  std::uint16_t filter_out(const Burst& v, std::size_t i) const {
    return (*snapshot_->interfaces)[next_hops_.get(v.next_hop(i)).interface].filter_out;
  }
  void find_asked();
  std::uint64_t judge(const Burst& v, const Choice& filters, std::uint64_t asked);
  std::uint64_t judge_same(const Burst& v, const Choice& filters, std::uint64_t& asked);
  void drop(Burst& v, std::uint64_t refused, PortIndex port);

  const Snapshot* snapshot_;
  const NextHopTable& next_hops_;
  PacketDisposal& disposal_;
  std::vector<std::uint64_t> counts_;
  struct Asked {
    bool in = false, each_packet = false;  // some interface has a filter; some filter matches on each packet
  };
  std::vector<Asked> asked_;  // indexed by port
  bool asks_out_ = false;
};

}  // namespace surety
