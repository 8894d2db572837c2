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
// A new flow that finds no room may displace another one (displace()): a flow of the customer with the most
// records, if that customer has more than its fair part and more than this flow's customer; else a flow of
// its own customer. Of the candidates the one idle for longest is removed, but none with a packet in this
// tick, with held packets, or that is a contract with flows. A record with a conditioner's state is removed
// only after kEmbryonic without a packet, so that displacement yields full buckets no faster; the exception
// is another customer's record where VLAN tags identify both. Source addresses can be forged: a sender of
// many must not displace the records of active customers.
#pragma once

#include <span>
#include <vector>

#include "conditioners/customer_limits.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/filter_stage.h"
#include "router/pipeline/flows/contracts.h"
#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/flow_holders.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class ClassifyStage {
 public:
  ClassifyStage(const Snapshot& snapshot, std::span<PortCounters> ports, std::span<ServiceCounters> services,
                const SourceCheck& sources, FilterStage& filters, PacketDisposal& disposal,
                std::uint64_t seed, Time now);

  // True if some rule may match packets from this port. If not, all of them have the service
  // Snapshot::unmatched(port).
  bool classifies(PortIndex port) const { return classified_[port] != 0; }
  // Sets flow and service of each packet of a classified port; drops packets of unknown flows that fail the
  // source check or that a filter refuses.
  void run(Burst& v, PortIndex port, Time now);
  // Forgets idle flows, a slice of the table at a time. Once per turn, before run().
  void age(Time now);

  // A reload (Ingress::adopt()): the sweep moves the flows.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now);
  bool adopting() const { return flows_.marking(); }
  // True if serve() or settle() may have work.
  bool reloaded() const { return settling_ || !requests_.empty(); }
  // Called between two turns, before age(). held(FlowId) returns how many packets a flow or contract holds;
  // emptied(FlowId) releases them and returns true if none is left, else the next turn calls it again.
  template <class F, class G>
  void serve(Time now, F&& held, G&& emptied) {
    std::size_t kept = 0;
    for (Request r : requests_) {
      if (carries_over(r)) carry_over(r, held(r.id));
      if (!r.flush && r.service == kSameService) continue;
      if (emptied(r.id))
        restart(r, now);
      else
        requests_[kept++] = r;
    }
    requests_.resize(kept);
  }
  // Ends the handling of flows of former configurations: once the sweep is complete, and no packet is held
  // (`empty`) or flow_table.idle_timeout has passed since the reload.
  void settle(bool empty, Time now);
  // Due at once while a sweep or requests are pending.
  Time next_event() const { return adopting() || !requests_.empty() ? due_ : kNever; }

  // save() returns the contracts for another process; restore() takes over those of a process with the same
  // configuration and clock. Called after the last packet, or before the first one.
  std::vector<ContractState> save() const;
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
  // The packets of a burst that belong to no known flow.
  struct Misses {
    std::array<std::uint8_t, kBurst> which;
    std::size_t size = 0;
  };
  // `reason`: why there is no record.
  struct Opened {
    FlowId id = kNoFlow;
    DegradeReason reason = DegradeReason::none;
  };
  // The customer for which a record is made; `tagged`: known by its tags.
  struct Opener {
    Customer customer;
    bool tagged;
  };
  // The rules' result for a packet.
  struct Judgement {
    std::uint16_t service;
    bool needs_state, shares;  // state of its own, or a contract's state
  };
  static constexpr std::uint16_t kSameService = 0xffff;
  // A pending change of a flow or contract: its held packets are released, and a contract then starts with
  // another service; from csa to csa it keeps its state and changes service only.
  struct Request {
    FlowId id;
    std::uint16_t service;
    bool flush;  // a flow is waiting until this buffer is empty
  };
  static constexpr std::size_t kMostRequests = 128;
  // Long enough for the second packet of a sender that waits for an answer first, or for a retransmission of
  // the first packet (RFC 6298: 1 s); short enough that a flood at the default creation rate holds half the
  // table.
  static constexpr Duration kEmbryonic = std::chrono::seconds(2);
  // The most attempts in a burst that find no record of another customer, counted apart for customers within
  // their fair part and beyond it. Successful attempts end by themselves: when the customer has as many
  // records as the largest one.
  static constexpr std::uint32_t kDisplacements = 2;
  using Hashes = std::array<std::uint64_t, kBurst>;

  Misses look_up_others(Burst& v, const FlowTable::Found& found, const Hashes& hashes, FlowTable::Tick tick);
  bool refresh(Burst& v, std::size_t i, FlowTable::Tick tick);
  void admit(Burst& v, const Misses& misses, const Hashes& hashes, PortIndex port, Time now);
  void check_sources(Burst& v, Misses& misses, Hashes& hashes, PortIndex port);
  void filter(Burst& v, Misses& misses, Hashes& hashes, PortIndex port);
  template <class Refuse>
  static void remove(Burst& v, Misses& misses, Hashes& hashes, std::uint64_t refused, Refuse&& refuse);
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
  // The record that would be displaced for one of the customer; kNoFlow: none may be. `fairer`: of another
  // customer.
  struct Victim {
    FlowId id = kNoFlow;
    bool fairer = false;
  };
  Victim victim(const FlowHolders::Candidates& found, Opener by, Time now) const;
  bool displace(Opener by, Time now);
  bool may_go(FlowId id, bool own, bool tagged, Time now) const;
  FlowId oldest(std::span<const FlowId> ids, bool own, bool tagged, Time now) const;
  void start(FlowRecord& r, const ServiceProgram& program, Time now) const;
  void closed(FlowId id);  // a record is about to be forgotten
  bool has_own_state(const FlowRecord& r) const;

  void reconcile(Burst& v, std::size_t i, std::uint16_t rule, PortIndex port, Time now);
  void move(FlowId id, std::uint16_t service, FlowId contract, Time now);
  void begin_contract(FlowId id, std::uint16_t rule, InterfaceIndex interface);
  void end_contract(FlowId id);
  bool needs_excess(FlowId id, std::uint16_t rule, InterfaceIndex interface) const;
  bool waits(const FlowRecord& r) const;
  void ask_to_go(FlowRecord& r, FlowId id, Time now);
  bool ask(FlowId id, std::uint16_t service, Time now);
  bool asked(FlowId id) const;
  void restart(const Request& request, Time now);
  bool is_csa(std::uint16_t service) const {
    return snapshot_->services[service].kind == ServiceProgram::Kind::csa;
  }
  bool carries_over(const Request& request) const;
  void carry_over(Request& request, std::uint32_t held);
  bool full() const { return flows_.size() == flows_.capacity(); }
  bool above_reserve(Time now) const;

  const Snapshot* snapshot_;
  std::span<PortCounters> ports_;
  std::span<ServiceCounters> services_;
  const SourceCheck& sources_;
  FilterStage& filters_;
  PacketDisposal& disposal_;
  FlowTable flows_;
  std::vector<std::uint8_t> classified_;  // indexed by port: some rule may match there
  CustomerHasher customer_;
  ContractLedger ledger_;  // records with a conditioner's state
  ContractBounds bounds_;  // records of contracts, without excess contracts
  FlowHolders holders_;
  CustomerLimiter creations_;
  bool limited_;
  std::uint32_t within_left_ = 0, beyond_left_ = 0;  // kDisplacements left in this burst
  Duration per_record_;                              // time of the sweep for one record
  Time swept_;                                       // the sweep is on schedule up to this time

  std::vector<Request> requests_;  // capacity kMostRequests; flows that find no room retry
  Time due_{};                     // result of next_event() while requests are pending
  Time settled_{};                 // the end of flow_table.idle_timeout after the last reload
  bool settling_ = false;          // something may be left of a former configuration
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
