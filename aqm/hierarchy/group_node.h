// SPDX-License-Identifier: BSD-3-Clause
// A node that serves its children in turns: the port, and each group below it.
#pragma once

#include <array>
#include <cstdint>

#include "aqm/hierarchy/line_arena.h"
#include "aqm/hierarchy/share_node.h"
#include "aqm/hierarchy/sibling_wheel.h"

namespace surety {

// The children of one parent.
struct Siblings {
  explicit Siblings(LineArena& arena)
      : wheels{SiblingWheel(Plane::strict, arena), SiblingWheel(Plane::data, arena)} {}
  SiblingWheel& wheel(Plane plane) { return wheels[index(plane)]; }
  // Adds a child; the first one resets the range of weights.
  void join(std::uint32_t weight) {
    if (children++ == 0) weights = {};
    weights.include(weight);
  }
  SiblingWeights weights;
  std::uint32_t children = 0;  // all, those that have nothing to send included
  std::array<SiblingWheel, kPlanes> wheels;
};

// In a block of lines.
struct GroupNode : ShareNode {
  explicit GroupNode(LineArena& arena) : siblings(arena) {}
  static constexpr std::uint32_t block_lines();
  Siblings siblings;
};
constexpr std::uint32_t GroupNode::block_lines() {
  return (sizeof(GroupNode) + LineArena::kLine - 1) / LineArena::kLine;
}

}  // namespace surety
