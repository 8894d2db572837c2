// SPDX-License-Identifier: BSD-3-Clause
// The memory of an IPv6 table: its first table, nodes and groups, and beside each entry the length of the
// prefix that it has its value from, which only the writer needs.
//
// What is given back is used again only after reclaim(), since readers may still stand in it. With hugepages
// the memory is EAL's, all of it from the start; without, it is there once it is written to. A change takes
// none of the heap's: it cannot fail halfway.
//
// It lasts for as many routes as it was made for, whatever their mix and whatever was there before, up to
// kMostRoutes of them. For a node becomes no group again, and so there is room for the most that there can be
// of either. Of nodes, that is four for each route: in each slice one, since n routes of a cell make 2n + 1
// intervals at most, in n nodes or fewer. Of groups, that of the first table for each /16 in use; and of the
// others, which last while there are more than 48 intervals in them, of 24 routes or more, four in each
// other, 64 units for every 23 routes of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "router/routes/trie6_format.h"

namespace surety::trie6 {

class Memory {
 public:
  // For so many routes. Throws std::runtime_error where there is not as much.
  explicit Memory(std::uint32_t routes);
  static std::size_t bytes(std::uint32_t routes);
  static constexpr std::uint32_t kMostRoutes = 9'000'000;
  static constexpr std::size_t kFewIntervals = 48;  // of a group, which become nodes

  // Offsets. As used before, or zeroes: every word is to be written. There must be room().
  std::uint32_t take_node();
  std::uint32_t take_group();
  void give_node(std::uint32_t offset) { given_nodes_.push_back(offset); }
  void give_group(std::uint32_t offset) { given_groups_.push_back(offset); }

  // For the largest change there is, whatever was there before.
  bool room() const { return left() >= kLargestChange; }
  // So much waits that it is worth to ask readers to leave.
  bool waits() const { return given_nodes_.size() + given_groups_.size() * kGroupUnits >= kMuch; }
  // No reader stands in what has been given back.
  void reclaim();
  // In 64 bytes, what waits not counted: 0 without a route.
  std::size_t used() const;

  // Words are those of the whole memory, by index.
  std::uint32_t* word(std::size_t index) const { return words_ + index; }
  std::uint8_t& length(std::size_t index) const { return lengths_[index]; }
  // The first table's, by the first 16 bits: the offset of a group; 0: that of one without routes.
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

  // Each names the next one in its first word.
  struct Free {
    std::uint32_t first = 0, size = 0;
  };
  void push(Free& list, std::uint32_t offset);
  std::uint32_t pop(Free& list);

  struct Release {
    std::size_t mapped;  // 0: EAL's
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::uint32_t* words_;
  std::uint8_t* lengths_;
  std::uint32_t next_ = kFirstUnit, end_;  // units that nothing has been in yet
  Free free_nodes_, free_groups_;
  std::vector<std::uint32_t> given_nodes_, given_groups_;  // with room for all that ever wait
};

}  // namespace surety::trie6
