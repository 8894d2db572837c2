// SPDX-License-Identifier: BSD-3-Clause
// The customer of each record of a flow table; selects records that are displaced by a new flow.
//
// Memory: six bytes for each record of the table. Records to displace are found in a sample of kLines cache
// lines, spread evenly over the table from a random place on: a table of up to kLines * kLine records is
// sampled whole. In a larger one, 256 records in random order miss a customer with a twentieth of it once in
// half a million times. The work for a new flow is bounded, and there is none for other packets.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "conditioners/customer_limits.h"
#include "conditioners/packet.h"
#include "conditioners/rng.h"

namespace surety {

class FlowHolders {
 public:
  static constexpr std::size_t kLines = 8, kLine = 32, kCandidates = 16;

  FlowHolders(std::uint32_t flows, std::size_t ports, std::uint64_t seed)
      : shares_(ports), customers_(flows, kNobody), sharers_(flows), rng_(seed) {}

  // True if the customer may have one more record, with `free` records left.
  bool room(Customer c, std::uint32_t free) const { return shares_.room(c, free); }
  bool within(Customer c) const { return shares_.within(c); }
  void add(FlowId id, Customer c) {
    customers_[id] = c;
    shares_.add(c);
  }
  void remove(FlowId id) {
    shares_.remove(customers_[id]);
    customers_[id] = kNobody;
  }

  // Flows that refer to a contract's record. The number belongs to the place in the table: a record that has
  // expired may still refer to a place that another contract has got since.
  void join(FlowId contract) { ++sharers_[contract]; }
  void leave(FlowId contract) { --sharers_[contract]; }
  bool referred_to(FlowId contract) const { return sharers_[contract] != 0; }

  // Some of the records of one kind that a sample has.
  class Found {
   public:
    void add(FlowId id) { ids_[seen_++ % kCandidates] = id; }
    void clear() { seen_ = 0; }
    std::span<const FlowId> ids() const { return std::span(ids_).first(std::min(seen_, kCandidates)); }

   private:
    std::array<FlowId, kCandidates> ids_;
    std::size_t seen_ = 0;
  };
  // Records of customers that yield to the new flow's: of the largest customer in the sample, and of any; and
  // the customer's own.
  struct Candidates {
    Found largest, any, own;
  };
  Candidates candidates(Customer newcomer) { return sample(newcomer, rng_); }
  // The result of the next candidates().
  Candidates next_candidates(Customer newcomer) const {
    Rng rng = rng_;
    return sample(newcomer, rng);
  }

 private:
  Candidates sample(Customer newcomer, Rng& rng) const;

  static constexpr Customer kNobody = 0xffff;

  CustomerQuota shares_;
  std::vector<Customer> customers_;     // customer of each record
  std::vector<std::uint32_t> sharers_;  // number of flows of each contract's record
  Rng rng_;
};

}  // namespace surety
