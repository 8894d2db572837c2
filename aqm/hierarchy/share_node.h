// SPDX-License-Identifier: BSD-3-Clause
// A child of a port or of a group, as the one above it sees it: its place among its siblings, and its shaper.
//
// Strict and weighted classes have their turns apart: strict packets of all children leave before all data,
// and are not charged to a child's data. So a child has two places.
#pragma once

#include <array>
#include <cstdint>

#include "aqm/hierarchy/line_arena.h"
#include "aqm/hierarchy/share_params.h"
#include "conditioners/token_bucket.h"

namespace surety {

enum class Plane : std::uint8_t { strict, data };
inline constexpr std::size_t kPlanes = 2;
constexpr std::size_t index(Plane plane) {
  return static_cast<std::size_t>(plane);
}

// Position of a child within a SiblingWheel.
struct Turn {
  std::uint64_t tag = 0;              // start of its next turn, in the wheel's virtual time
  LineNumber next = 0, previous = 0;  // in its round; 0: it is the last, the first
  std::uint32_t round = 0;            // round of the wheel, modulo its size
  bool waits = false;                 // child is in the wheel
};

struct alignas(64) ShareNode {
  std::array<Turn, kPlanes> turns;
  TokenBucket bucket;  // the shaper's
  // The second line:
  const ShareParams* params;
  LineNumber parent = 0;  // a group; 0: the port
  std::uint32_t key = 0;  // the timer's key
  bool is_group = false;
  bool blocked = false;  // the shaper has no credit; a timer runs, or it has no rate

  Turn& turn(Plane plane) { return turns[index(plane)]; }
};

}  // namespace surety
