// SPDX-License-Identifier: BSD-3-Clause
// Which service a packet gets, and the flow that remembers it.
//
// Rules are consulted when a flow is created; the flow record keeps the answer. No packet is refused here,
// but for those whose source is not where they come from (source_check.h) and those that a filter does not
// permit (filter_stage.h). Where no record can be had for a
// new flow, because the table is full or because more flows are new than flow_table.creation_rate, or because
// its customer has its part of either (fair_share.h, fair_limit.h), its packets go on nevertheless, their
// rule looked up each time:
//  - those whose service needs no state get that service;
//  - those of a contract that is known (`per: source` and the like) are conditioned by it;
//  - all others are degraded to best effort, counted by the reason (degrade_reason.h). Nothing is promised to
//    them, so nothing that was promised to others goes to them: a policed service's packets (voice) leave its
//    class as well, neither dropped nor let through unpoliced.
// After a reload a sweep over the table, a slice per turn, has each flow ask the rules again with its next
// packet. A flow whose service or contract is another one now moves there; the bytes counted for it stay.
// From one csa service to another it takes its buckets and its buffer along, with what waits there. Else it
// begins anew, and where its packets wait, it stays where it is until they have been let go, in order, which
// the next turns do at once: OUT, and as any OUT packets they may find a full queue. The same for a contract
// whose rule gives another service now; it moves between two turns, so that all packets of a vector find the
// state that their service wants. What waits of a flow without a record, as in a full table, is not known to
// be its: it may be overtaken then. A flow for whose new contract there is no room stays what it is. The
// sweep takes some records a turn, so that the rules are not asked for all flows at once, while there is
// traffic to carry.
// Where a rule says how many `contracts` it sells, packets of an interface that has its part of them share
// one more, the excess contract; also those of `per: flow`. A contract that is known stays what it is, and so
// does a flow of the excess contract, until its rule is asked again. Flows that need no state leave the last
// quarter of the table, and of the creations, to those that do.
//
// A new flow that finds no room may take the place of another one (displace()): of the customer that has
// most, as long as that has more than its fair part and more than this flow's customer; else one of its own.
// Among the records found the one goes that has been idle for longest, and none that a packet of this tick
// came for, that holds packets, or that is a contract with flows. A record with a conditioner's state goes
// only after kEmbryonic without a packet, so that nobody gets full buckets by it any faster than without;
// except that of another customer, where tags tell both: a source address can be forged, and who sends from
// many must not take the records of those that are active.
#pragma once

#include <span>
#include <vector>

#include "conditioners/fair_limit.h"
#include "router/contracts/contract_bounds.h"
#include "router/contracts/contract_ledger.h"
#include "router/contracts/contract_state.h"
#include "router/counters.h"
#include "router/filter_stage.h"
#include "router/flows/customer_hash.h"
#include "router/flows/flow_holders.h"
#include "router/flows/flow_table.h"
#include "router/packet_disposal.h"
#include "router/snapshot.h"
#include "router/source_check.h"
#include "router/vector.h"

namespace surety {

class ClassifyStage {
 public:
  ClassifyStage(const Snapshot& snapshot, std::span<PortCounters> ports, std::span<ServiceCounters> services,
                const SourceCheck& sources, FilterStage& filters, PacketDisposal& disposal,
                std::uint64_t seed, Time now);

  // Some rule may match what comes in by this port. If not, all of it has the service
  // Snapshot::unmatched(port).
  bool classifies(PortIndex port) const { return classified_[port] != 0; }
  // Sets flow and service of each packet of a port that is classified; those of strangers whose source is not
  // there, or that must not come in, are dropped.
  void run(Vector& v, PortIndex port, Time now);
  // Forgets idle flows, a slice of the table at a time. Once per turn, before run().
  void age(Time now);

  // A reload (Ingress::adopt()): flows follow.
  void adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now);
  bool adopting() const { return flows_.marking(); }
  // Whether serve() or settle() may have something to do.
  bool reloaded() const { return settling_ || !requests_.empty(); }
  // Between two turns, before age(). held(FlowId) says how many packets a flow or contract holds;
  // emptied(FlowId) lets them go, and says whether that was all; else it is asked again in the next turn.
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
  // What former configurations have left behind is of no interest once the sweep is round and no packet waits
  // (`empty`), or whoever waited then has gone for want of other packets.
  void settle(bool empty, Time now);
  // Now, while turns have work to do that waits for nothing.
  Time next_event() const { return adopting() || !requests_.empty() ? due_ : kNever; }

  // Contracts that another process is to go on with, and those of another one, of the same configuration,
  // whose clock this one's is: before the first packet, or after the last one.
  std::vector<ContractState> save() const;
  void restore(std::span<const ContractState> states, Time now);

  // True if the rule has room for one more contract by the interface, beside the excess contract.
  bool has_room(std::uint16_t rule, InterfaceIndex interface) const;

  const ContractLedger& contracts() const { return ledger_; }
  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }

 private:
  // The packets of a vector whose flow is not known.
  struct Strangers {
    std::array<std::uint8_t, kVector> which;
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
  // What the rules say of a packet.
  struct Judgement {
    std::uint16_t service;
    bool needs_state, shares;  // state of its own, or that of a contract
  };
  static constexpr std::uint16_t kSameService = 0xffff;
  // That what it holds leaves, and then, of a contract, that it begins anew with another service; from csa to
  // csa, that it goes on with another service.
  struct Request {
    FlowId id;
    std::uint16_t service;
    bool flush;  // a flow waits for it to be emptied
  };
  static constexpr std::size_t kMostRequests = 128;
  // Long enough for the second packet of whoever waits for an answer before it sends it,
  // or for a retransmission of the first (RFC 6298: 1 s); short enough that a flood at the
  // default creation rate holds half the table.
  static constexpr Duration kEmbryonic = std::chrono::seconds(2);
  // The most attempts in a vector that find no record of another customer, counted apart for customers within
  // their fair part and beyond it. Successful attempts end by themselves: when the customer has as many
  // records as the largest one.
  static constexpr std::uint32_t kDisplacements = 2;
  using Hashes = std::array<std::uint64_t, kVector>;

  Strangers meet_others(Vector& v, const FlowTable::Met& met, const Hashes& hashes, FlowTable::Tick tick);
  bool meet(Vector& v, std::size_t i, FlowTable::Tick tick);
  void admit(Vector& v, const Strangers& strangers, const Hashes& hashes, PortIndex port, Time now);
  void check_sources(Vector& v, Strangers& strangers, Hashes& hashes, PortIndex port);
  void filter(Vector& v, Strangers& strangers, Hashes& hashes, PortIndex port);
  template <class Refuse>
  static void remove(Vector& v, Strangers& strangers, Hashes& hashes, std::uint64_t refused, Refuse&& refuse);
  static std::uint32_t creation_rate(const config::FlowTable& table);
  Judgement judge(std::uint16_t rule, InterfaceIndex interface) const;
  void degrade(Vector& v, std::size_t i, PortIndex port, DegradeReason reason);
  Opened create(Vector& v, std::size_t i, std::uint16_t rule, PortIndex port, std::uint64_t hash, Time now);
  Opened contract(std::uint16_t rule, std::uint16_t service, const ParsedPacket& packet, Opener by, Time now);
  Opened open(const FlowKey& key, std::uint64_t hash, std::uint16_t service, bool contract, Opener by,
              Time now);
  Opener opener(const FlowKey& key, PortIndex port) const {
    return {customer_(key, port), CustomerHasher::tagged(key.rest)};
  }
  bool displace(Opener by, Time now);
  bool may_go(FlowId id, bool own, bool tagged, Time now) const;
  FlowId oldest(std::span<const FlowId> ids, bool own, bool tagged, Time now) const;
  void start(FlowRecord& r, const ServiceProgram& program, Time now) const;
  void closed(FlowId id);  // a record is about to be forgotten
  bool has_own_state(const FlowRecord& r) const;

  void reconcile(Vector& v, std::size_t i, std::uint16_t rule, PortIndex port, Time now);
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
  bool plenty(Time now);

  const Snapshot* snapshot_;
  std::span<PortCounters> ports_;
  std::span<ServiceCounters> services_;
  const SourceCheck& sources_;
  FilterStage& filters_;
  PacketDisposal& disposal_;
  FlowTable flows_;
  std::vector<std::uint8_t> classified_;  // by port: some rule may match there
  CustomerHasher customer_;
  ContractLedger ledger_;  // of the records that have a conditioner's state
  ContractBounds bounds_;  // of the same, but for excess contracts
  FlowHolders holders_;
  FairLimit creations_;
  bool limited_;
  std::uint32_t within_left_ = 0, beyond_left_ = 0;  // kDisplacements of this vector
  Duration per_record_;                              // of the sweep
  Time swept_;                                       // the sweep is where it should have been then

  std::vector<Request> requests_;  // of room for kMostRequests; those that find none come again
  Time due_{};                     // of next_event()
  Time settled_{};                 // then whoever waited at the last reload is gone
  bool settling_ = false;          // something may be left of a former configuration
};

// A packet of a known flow; false: the rules must be asked again.
inline bool ClassifyStage::meet(Vector& v, std::size_t i, FlowTable::Tick tick) {
  FlowRecord& r = flows_[v.flow[i]];
  flows_.touch(r, tick);
  v.service[i] = r.service;
  if ((r.flags & (FlowRecord::redirect | FlowRecord::stale)) == 0) return true;
  if ((r.flags & FlowRecord::redirect) != 0) {
    FlowRecord& contract = flows_[r.state.shared];
    flows_.touch(contract, tick);
    if (contract.service != r.service) return false;  // it has begun anew, with another one
  }
  return (r.flags & FlowRecord::stale) == 0;
}

}  // namespace surety
