// SPDX-License-Identifier: BSD-3-Clause
// Finds the service of a packet, and stores it in the record of the packet's flow.
//
// Rules are consulted when a flow is created; the flow record keeps the answer. Packets are dropped here only
// by the source check and by filters (filter_stage.h). Where a new flow gets no record,
// because the table is full, because more flows are new than flow_table.creation_rate, or because its
// customer has used its part of either (customer_limits.h), the rule of each packet is looked up:
//  - packets whose service needs no state get that service;
//  - packets of a known contract (`per: source` and the like) are conditioned by that contract;
//  - all others are degraded to best effort, counted by the reason (drop_reason.h). They have no guarantee
//    and use none of others: packets of a policed service (voice) leave its class as well, neither dropped
//    nor passed unpoliced.
// After a reload a sweep over the table, a slice per turn, marks each flow, and the next packet of the flow
// is classified again. A flow whose service or contract differs now moves there; the bytes counted for it
// stay. Between two csa services it keeps its buckets and its input buffer, with the packets in it. Otherwise
// its state starts again, after its held packets have been released in order within the next turns: as OUT,
// so they may find a full queue. The same holds for a contract whose rule gives another service now;
// contracts move between two turns, so that all packets of a burst find the state of their service. Held
// packets of a flow without a record, as in a full table, cannot be attributed to it and may be overtaken. A
// flow whose new contract finds no room keeps its service. The sweep marks a few records per turn, so that
// classification does not delay traffic. Where a rule limits the number of `contracts`, packets of an
// interface that has used its part share one more, the excess contract; also with `per: flow`. Known
// contracts, and flows of the excess contract, stay until they are classified again. The last quarter of the
// table, and of the creations, is reserved for flows that need state.
//
// A new flow that finds no room may displace another one (displacement.h): a flow of the customer with the
// most records, if that customer has more than its fair part and more than this flow's customer; else a flow
// of its own customer. Of the candidates the one idle for longest is removed, but none with a packet in this
// tick, with held packets, or that is a contract with flows. A record with a conditioner's state is removed
// only after Displacement::kEmbryonic without a packet, so that displacement yields full buckets no faster;
// the exception is another customer's record where VLAN tags identify both. Source addresses can be forged: a
// sender of many must not displace the records of active customers.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "conditioners/customer_limits.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/classify_moves.h"
#include "router/pipeline/contract_transfer.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/displacement.h"
#include "router/pipeline/filter_stage.h"
#include "router/pipeline/flows/contracts.h"
#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/flow_holders.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The packets of a burst that belong to no known flow.
struct Misses {
  using Hashes = std::array<std::uint64_t, kBurst>;  // hashes of the burst's packets
  std::array<std::uint8_t, kBurst> which;            // in order of arrival
  std::size_t size = 0;

  // Calls refuse(i) for the packets in `refused`, one bit each, removes them from `v`, and moves the others
  // up.
  template <class Refuse>
  void remove(Burst& v, Hashes& hashes, std::uint64_t refused, Refuse&& refuse) {
    if (refused == 0) return;
    std::size_t left = 0;
    for (std::size_t s = 0; s < size; ++s) {
      const std::uint8_t i = which[s];
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((refused & bit) == 0)
        which[left++] = static_cast<std::uint8_t>(i - std::popcount(refused & (bit - 1)));
    }
    size = left;
    const std::size_t all = v.size;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all; ++i) {
      if ((refused >> i & 1) != 0) {
        refuse(i);
        continue;
      }
      hashes[kept] = hashes[i];
      v.keep(i, kept++);
    }
    v.size = kept;
  }
};

// The schedule of the sweep that forgets idle flows: the whole table once per half timeout, in slices too
// short to matter (a microsecond); after a delay the slices are longer, but still short (some microseconds).
class SweepSchedule {
 public:
  static constexpr std::int64_t kSlice = 64, kLongestSlice = 1024;

  SweepSchedule(Duration timeout, std::uint32_t capacity, Time now)
      : per_record_(std::max<std::int64_t>(1, timeout.count() / 2 / std::max(1u, capacity))), swept_(now) {}

  // The number of records to sweep now; 0: less than a slice is due.
  std::uint32_t due(Time now) const {
    if (now - swept_ < kSlice * per_record_) return 0;
    return static_cast<std::uint32_t>(std::min((now - swept_) / per_record_, kLongestSlice));
  }
  // `swept` records of a table of `capacity` have been swept. A delay of more than a round counts as one.
  void done(std::uint32_t swept, std::uint32_t capacity, Time now) {
    swept_ = std::max(swept_ + swept * per_record_, now - capacity * per_record_);
  }

 private:
  Duration per_record_;  // time of the sweep for one record
  Time swept_;           // the sweep is on schedule up to this time
};

class ClassifyStage {
 public:
  ClassifyStage(const Snapshot& snapshot, std::span<PortCounters> ports, std::span<ServiceCounters> services,
                const SourceCheck& sources, FilterStage& filters, PacketDisposal& disposal,
                std::uint64_t seed, Time now);
  ClassifyStage(const ClassifyStage&) = delete;
  ClassifyStage& operator=(const ClassifyStage&) = delete;

  // True if some rule may match packets from this port. If not, all of them have the service
  // Snapshot::unmatched(port).
  bool classifies(PortIndex port) const { return classified_.has(port); }
  // Sets flow and service of each packet of a classified port; drops packets of unknown flows that fail the
  // source check or that a filter refuses.
  void run(Burst& v, PortIndex port, Time now);
  // Forgets idle flows, a slice of the table at a time. Once per turn, before run().
  void age(Time now);

  // A reload (Ingress::adopt()): the sweep moves the flows.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now);
  bool adopting() const { return flows_.marking(); }
  // True if serve() or settle() may have work.
  bool reloaded() const { return classified_.pending() || !requests_.empty(); }
  // Called between two turns, before age(). held(FlowId) returns how many packets a flow or contract holds;
  // emptied(FlowId) releases them and returns true if none is left, else the next turn calls it again.
  template <class F, class G>
  void serve(Time now, F&& held, G&& emptied) {
    requests_.serve([&](MoveRequest& r) {
      if (carries_over(r)) carry_over(r, held(r.id));
      if (!r.flush && r.service == MoveRequest::kSameService) return true;
      if (!emptied(r.id)) return false;
      restart(r, now);
      return true;
    });
  }
  // Ends the handling of flows of former configurations: once the sweep is complete, and no packet is held
  // (`empty`) or flow_table.idle_timeout has passed since the reload.
  void settle(bool empty, Time now) {
    if (!adopting() && classified_.due(empty, now)) classified_.end(*snapshot_);
  }
  // Due at once while a sweep or requests are pending.
  Time next_event() const { return adopting() || !requests_.empty() ? due_ : kNever; }

  // save() returns the contracts for another process; restore() takes over those of a process with the same
  // configuration and clock. Called after the last packet, or before the first one.
  std::vector<ContractState> save() const { return save_contracts(*snapshot_, ledger_, flows_); }
  void restore(std::span<const ContractState> states, Time now);

  // forecast() gives what run() would find for a packet, or decide: by the same code, without a change. A
  // flow that a reload has left to be classified again has the service of its record. `id`: record of the
  // state that the packet uses, its flow's or its contract's; kNoFlow: the state begins with this packet.
  // `record`: that record, or a new one.
  struct Forecast {
    std::uint16_t service = 0;  // best effort if degraded
    bool flow_known = false;    // the flow has a record
    bool own_state = false;     // the packet uses a state, known or not
    bool excess = false;        // the state is the rule's excess contract
    FlowId id = kNoFlow;
    FlowRecord record;
    DegradeReason degraded = DegradeReason::none;
  };
  Forecast forecast(const ParsedPacket& packet, std::uint16_t rule, PortIndex port, Time now) const;

  const ContractLedger& contracts() const { return ledger_; }
  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }

 private:
  using Opener = Displacement::Opener;
  // `reason`: why there is no record.
  struct Opened {
    FlowId id = kNoFlow;
    DegradeReason reason = DegradeReason::none;
  };
  // The rules' result for a packet.
  struct Judgement {
    std::uint16_t service;
    bool needs_state, shares;  // state of its own, or a contract's state
  };
  Misses look_up_others(Burst& v, const FlowTable::Found& found, const Misses::Hashes& hashes,
                        FlowTable::Tick tick);
  bool refresh(Burst& v, std::size_t i, FlowTable::Tick tick);
  void admit(Burst& v, const Misses& misses, const Misses::Hashes& hashes, PortIndex port, Time now);
  void check_sources(Burst& v, Misses& misses, Misses::Hashes& hashes, PortIndex port);
  void filter(Burst& v, Misses& misses, Misses::Hashes& hashes, PortIndex port);
  static std::uint32_t creation_rate(const config::FlowTable& table);
  Judgement judge(std::uint16_t rule, InterfaceIndex interface) const;
  void degrade(Burst& v, std::size_t i, PortIndex port, DegradeReason reason);
  Opened create(Burst& v, std::size_t i, std::uint16_t rule, PortIndex port, std::uint64_t hash, Time now);
  bool has_room(std::uint16_t rule, InterfaceIndex interface) const;
  // The key of a packet's contract, or of the excess contract if there is no room for it; and its record.
  struct FoundContract {
    FlowKey key;
    std::uint64_t hash;
    FlowId id;
  };
  FoundContract find_contract(std::uint16_t rule, const ParsedPacket& packet, Time now) const;
  Opened contract(std::uint16_t rule, std::uint16_t service, const ParsedPacket& packet, Opener by, Time now);
  Opened open(const FlowKey& key, std::uint64_t hash, std::uint16_t service, bool contract, Opener by,
              Time now);
  Opener opener(const FlowKey& key, PortIndex port) const {
    return {customer_(key, port), CustomerHasher::tagged(key.rest)};
  }
  DegradeReason shortage(Opener by) const;
  DegradeReason would_open(Opener by, Time now) const;
  bool displace(Opener by, Time now);
  void start(FlowRecord& r, const ServiceProgram& program, Time now) const;
  void closed(FlowId id);  // a record is about to be forgotten
  bool has_own_state(const FlowRecord& r) const { return surety::has_own_state(r, *snapshot_); }

  void reconcile(Burst& v, std::size_t i, std::uint16_t rule, PortIndex port, Time now);
  void move(FlowId id, std::uint16_t service, FlowId contract, Time now);
  void begin_contract(FlowId id, std::uint16_t rule, InterfaceIndex interface);
  void end_contract(FlowId id);
  bool needs_excess(FlowId id, std::uint16_t rule, InterfaceIndex interface) const;
  bool waits(const FlowRecord& r) const;
  void ask_to_go(FlowRecord& r, FlowId id, Time now);
  bool ask(FlowId id, std::uint16_t service, Time now);
  void restart(const MoveRequest& request, Time now);
  bool is_csa(std::uint16_t service) const {
    return snapshot_->services[service].kind == ServiceProgram::Kind::csa;
  }
  bool carries_over(const MoveRequest& request) const;
  void carry_over(MoveRequest& request, std::uint32_t held);
  bool full() const { return flows_.size() == flows_.capacity(); }
  bool above_reserve(Time now) const;

  const Snapshot* snapshot_;
  std::span<PortCounters> ports_;
  std::span<ServiceCounters> services_;
  const SourceCheck& sources_;
  FilterStage& filters_;
  PacketDisposal& disposal_;
  FlowTable flows_;
  ClassifiedPorts classified_;
  CustomerHasher customer_;
  ContractLedger ledger_;  // records with a conditioner's state
  ContractBounds bounds_;  // records of contracts, without excess contracts
  FlowHolders holders_;
  Displacement displacement_;
  CustomerLimiter creations_;
  bool limited_;
  SweepSchedule sweep_;

  MoveRequests requests_;
  Time due_{};  // result of next_event() while a sweep or requests are pending
};

// Handles a packet of a known flow; false: the packet must be classified again.
inline bool ClassifyStage::refresh(Burst& v, std::size_t i, FlowTable::Tick tick) {
  FlowRecord& r = flows_[v.flow[i]];
  flows_.touch(r, tick);
  v.service[i] = r.service;
  if ((r.flags & (FlowRecord::redirect | FlowRecord::stale)) == 0) return true;
  if ((r.flags & FlowRecord::redirect) != 0) {
    FlowRecord& contract = flows_[r.state.shared];
    flows_.touch(contract, tick);
    if (contract.service != r.service) return false;  // the contract has changed service
  }
  return (r.flags & FlowRecord::stale) == 0;
}

}  // namespace surety
