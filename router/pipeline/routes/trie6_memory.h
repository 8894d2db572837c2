// SPDX-License-Identifier: BSD-3-Clause
// The memory of an IPv6 table: its first table, nodes and groups, and for each entry the length of the prefix
// of its value, which only the writer needs.
//
// Freed memory is reused only after reclaim(), since readers may still use it. With hugepages the memory is
// EAL's, all of it from the start; without, a page is resident once it is written to. A change allocates
// nothing on the heap, so that it cannot fail halfway.
//
// The memory is sufficient for the routes it was made for, whatever their mix and history, up to kMostRoutes.
// Node memory cannot become group memory again, so there is room for the maximum of both. Nodes: four for
// each route, one in each slice, since n routes of a cell make at most 2n + 1 intervals, in n nodes or fewer.
// Groups: one of the first table for each /16 in use; the others, which exist while they have more than 48
// intervals, of 24 routes or more, nested up to four deep, take 64 units for every 23 routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conditioners/huge_memory.h"
#include "router/pipeline/routes/trie6_format.h"

namespace surety::trie6 {

class Memory {
 public:
  // Provides memory for this many routes. Throws std::runtime_error without enough memory.
  explicit Memory(std::uint32_t routes);
  static std::size_t bytes(std::uint32_t routes);
  static constexpr std::uint32_t kMostRoutes = 9'000'000;
  static constexpr std::size_t kFewIntervals = 48;  // intervals at which a group becomes nodes

  // Return offsets. Memory is uninitialised or zero: every word must be written. There must be room().
  std::uint32_t take_node();
  std::uint32_t take_group();
  void give_node(std::uint32_t offset) { given_nodes_.push_back(offset); }
  void give_group(std::uint32_t offset) { given_groups_.push_back(offset); }

  // True if there is room for the largest possible change.
  bool room() const { return left() >= kLargestChange; }
  // True if enough freed memory is waiting for reclaim() to be worth its cost.
  bool waits() const { return given_nodes_.size() + given_groups_.size() * kGroupUnits >= kMuch; }
  // Called when no reader uses freed memory.
  void reclaim();
  // Used memory in units of 64 bytes, without freed memory: 0 without a route.
  std::size_t used() const;

  // Words of the whole memory, by index.
  std::uint32_t* word(std::size_t index) const { return words_ + index; }
  std::uint8_t& length(std::size_t index) const { return lengths_[index]; }
  // The first table's word for the first 16 bits: the offset of a group; 0: the group without routes.
  std::uint32_t* top(std::uint32_t bits) const { return words_ + kTop + bits; }
  void put(std::size_t index, Entry e, std::uint8_t of_length) {
    lengths_[index] = of_length;
    store(words_ + index, e);
  }

 private:
  static constexpr std::size_t kTop = kUnit * kGroupUnits / 4;  // behind the group without routes
  static constexpr std::uint32_t kFirstUnit = kGroupUnits + (1u << kTopBits) * 4 / kUnit;
  static constexpr std::uint32_t kLargestChange =
      2048;  // units: four slices, in each a burst of 65 intervals
  static constexpr std::uint32_t kMuch = 1024;
  static std::uint32_t units(std::uint32_t routes);
  std::size_t left() const { return end_ - next_ + std::size_t{free_groups_.size} * kGroupUnits; }

  // A list; the first word of each element is the offset of the next.
  struct Free {
    std::uint32_t first = 0, size = 0;
  };
  void push(Free& list, std::uint32_t offset);
  std::uint32_t pop(Free& list);

  struct Release {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Release> eal_;  // with hugepages
  std::optional<HugeMemory> memory_;         // without
  std::uint32_t* words_;
  std::uint8_t* lengths_;
  std::uint32_t next_ = kFirstUnit, end_;  // units not used yet
  Free free_nodes_, free_groups_;
  std::vector<std::uint32_t> given_nodes_, given_groups_;  // with room for the most that ever wait
};

}  // namespace surety::trie6
