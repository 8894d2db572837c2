// SPDX-License-Identifier: BSD-3-Clause
// One change of an IPv6 table: sets the value of all addresses of a prefix whose value is from this prefix or
// a shorter one.
//
// If a boundary between values is added or removed, the nodes of that cell are written again and replace the
// old ones in one store; all other entries change in place. A reader therefore gets the value before or after
// the change, for each address.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "router/pipeline/routes/trie6_intervals.h"
#include "router/pipeline/routes/trie6_memory.h"

namespace surety::trie6 {

class Painter {
 public:
  // `prefix`: masked, of more than 16 bits. `with`: the new value of its addresses. `thins`: a prefix is
  // removed, and groups may become nodes.
  Painter(Memory& memory, const Prefix& prefix, Cell with, bool thins);
  void run();

 private:
  std::uint32_t key(unsigned slice) const;
  std::uint32_t first_key(unsigned depth) const;
  Cell paint(const Cell& cell, unsigned depth);
  Cell paint_nodes(const Cell& cell, unsigned depth);
  Cell paint_interval(const Cell& cell, unsigned slice);
  Cell paint_group(const Cell& cell, unsigned depth);
  Cell thin(const Cell& group, unsigned depth);
  Cell paint_all(const Cell& cell);
  void paint_words(std::size_t first, std::size_t count);

  Memory& memory_;
  const std::uint64_t high_, low_;  // the prefix as numbers
  const std::uint8_t length_;
  const Cell with_;
  const bool thins_;
};

}  // namespace surety::trie6
