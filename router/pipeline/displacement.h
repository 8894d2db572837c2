// SPDX-License-Identifier: BSD-3-Clause
// Selects the record that a new flow displaces where its customer finds no room (classify_stage.h): the one
// idle for longest among those of a larger customer in a sample, else among the customer's own.
//
// The work of a burst is bounded, however many new flows it has.
#pragma once

#include <span>

#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/flow_holders.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// True if the record has the state of a conditioner, its flow's own or a contract's.
inline bool has_own_state(const FlowRecord& r, const Snapshot& snapshot) {
  return (r.flags & FlowRecord::redirect) == 0 &&
         snapshot.services[r.service].kind != ServiceProgram::Kind::none;
}

class Displacement {
 public:
  // Long enough for the second packet of a sender that waits for an answer first, or for a retransmission of
  // the first packet (RFC 6298: 1 s); short enough that a flood at the default creation rate holds half the
  // table.
  static constexpr Duration kEmbryonic = std::chrono::seconds(2);
  // The customer for which a record is made; `tagged`: known by its tags.
  struct Opener {
    Customer customer;
    bool tagged;
  };
  // The most attempts in a burst that find no record of another customer, counted apart for customers within
  // their fair part and beyond it. Successful attempts end by themselves: when the customer has as many
  // records as the largest one.
  static constexpr std::uint32_t kMost = 2;

  Displacement(const FlowTable& flows, FlowHolders& holders) : flows_(flows), holders_(holders) {}

  // Called before the first new flow of a burst.
  void begin_burst() { within_left_ = beyond_left_ = kMost; }
  // The record to displace for one of the customer; kNoFlow: none may be, or the burst has no attempts left.
  FlowId choose(Opener by, const Snapshot& snapshot, Time now);
  // The result of choose() with attempts left, which takes none.
  FlowId would_choose(Opener by, const Snapshot& snapshot, Time now) const;

 private:
  // `fairer`: of another customer.
  struct Victim {
    FlowId id = kNoFlow;
    bool fairer = false;
  };
  Victim victim(const FlowHolders::Candidates& found, Opener by, const Snapshot& snapshot, Time now) const;
  FlowId oldest(std::span<const FlowId> ids, bool own, bool tagged, const Snapshot& snapshot, Time now) const;
  bool may_go(FlowId id, bool own, bool tagged, const Snapshot& snapshot, Time now) const;

  const FlowTable& flows_;
  FlowHolders& holders_;
  std::uint32_t within_left_ = 0, beyond_left_ = 0;  // attempts left in this burst
};

}  // namespace surety
