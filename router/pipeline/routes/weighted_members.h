// SPDX-License-Identifier: BSD-3-Clause
// Next hops and their weights as places of a block: a flow's hash picks a place, each as often as any other.
#pragma once

#include <cstdint>
#include <vector>

#include "router/pipeline/routes/next_hop_groups.h"

namespace surety {

struct WeightedMember {
  NextHopMember member;
  std::uint32_t weight = 1;  // at least 1
};

// Sorted; a member's number of places is its share of the weights, rounded to RouteTarget::kMaxCount places
// in all, and at least one. A member given twice counts once. Beyond kMaxCount members the last are left out.
NextHopMembers places_of(std::vector<WeightedMember> members);

}  // namespace surety
