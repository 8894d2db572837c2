// SPDX-License-Identifier: BSD-3-Clause
// Drops what the filters of interfaces do not permit, and has the sender told.
//
// Direction `in` is asked, as the source check, when a flow is new and again after a reload; for each packet
// where there is no record. A record speaks for all packets of its flow but fragments, which are judged one
// by one (filter.h), and but where a filter looks at the DSCP, which need not be part of the key. Who is
// refused gets no record. Direction `out` is asked for each packet, once its way out is known: what comes
// from the core has no record, and a record does not say by which interface its flow leaves. A packet that
// has waited in an input buffer has been asked before. Not asked are the router's own packets and the
// kernel's, and what parse() hands to the kernel: neighbour discovery, multicast, link-local addresses.
#pragma once

#include <span>
#include <vector>

#include "router/packet_disposal.h"
#include "router/routes/neighbors.h"
#include "router/snapshot.h"
#include "router/vector.h"

namespace surety {

class FilterStage {
 public:
  FilterStage(const Snapshot& snapshot, const NextHopTable& next_hops, PacketDisposal& disposal);

  // `counts`: as many as snapshot.filters.counters(), zero; takes over what has been counted, and gives back
  // the memory that it does not need any more.
  void adopt(const Snapshot& snapshot, std::vector<std::uint64_t>& counts);
  // By the order of Snapshot::filters.
  std::span<const std::uint64_t> counts() const { return counts_; }

  // Some interface of that port has a filter for what comes in; and any one for what leaves.
  bool asks_in(PortIndex port) const { return asked_[port].in; }
  bool asks_out() const { return asks_out_; }
  // Of the packets whose flow is known, those that are to be asked all the same, a bit each.
  std::uint64_t asked_always(const Vector& v, PortIndex port) const;
  // Which of the packets `asked` must not come in.
  std::uint64_t refused(const Vector& v, std::uint64_t asked);
  // How a packet that is refused goes.
  void refuse(const Vector& v, std::size_t i, PortIndex port) {
    disposal_.refuse(v.mbuf[i], port, DropReason::filtered, Refusal::prohibited, v.header[i]);
  }

  // Drops what must not come in, of a port without flow records; what must not leave, once it is routed.
  void run_in(Vector& v, PortIndex port);
  void run_out(Vector& v, PortIndex port);
  // Whether what is routed must not leave, of one that does not come to run_out().
  bool refuses_out(const Vector& v, std::size_t i);

 private:
  using Choice = std::array<std::uint16_t, kVector>;  // of a filter, or kNoFilter
  std::uint16_t filter_out(const Vector& v, std::size_t i) const {
    return (*snapshot_->interfaces)[next_hops_.get(v.next_hop(i)).interface].filter_out;
  }
  const InterfaceRecord& arrived_by(const Vector& v, std::size_t i) const {
    return (*snapshot_->interfaces)[v.header[i].interface];
  }
  void find_asked();
  std::uint64_t judge(const Vector& v, const Choice& filters, std::uint64_t asked);
  std::uint64_t judge_same(const Vector& v, const Choice& filters, std::uint64_t& asked);
  void drop(Vector& v, std::uint64_t refused, PortIndex port);

  const Snapshot* snapshot_;
  const NextHopTable& next_hops_;
  PacketDisposal& disposal_;
  std::vector<std::uint64_t> counts_;
  struct Asked {
    bool in = false, each_packet = false;  // something has a filter; there are some that look at each packet
  };
  std::vector<Asked> asked_;  // by port
  bool asks_out_ = false;
};

}  // namespace surety
