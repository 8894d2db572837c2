// SPDX-License-Identifier: BSD-3-Clause
// The content of nodes as a list for a change: the intervals of a cell, in order, without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "router/pipeline/routes/trie6_format.h"
#include "router/pipeline/routes/trie6_memory.h"

namespace surety::trie6 {

constexpr unsigned slice_of(unsigned depth) {
  return depth < kSliceEnd[0] ? 0 : depth < kSliceEnd[1] ? 1 : depth < kSliceEnd[2] ? 2 : 3;
}

// Converts the entry of a cell of `depth` bits to its form in memory, and back.
constexpr Entry stored(Entry e, unsigned depth) {
  const bool ends = depth == kSliceEnd[0] || depth == kSliceEnd[1] || depth == kSliceEnd[2];
  if (!ends || !is_pointer(e)) return e;
  return offset_of(e) | kDeeper | ((e & kTag) == kGroup ? kToGroup : 0);
}
constexpr Entry plain(Entry e) {
  if ((e & kTag) != kDeeper) return e;
  return offset_of(e) | ((e & kToGroup) != 0 ? kGroup : kNode);
}

class Intervals {
 public:
  struct Interval {
    std::uint32_t first;  // key
    Cell cell;
    std::size_t word;  // index of its entry in memory; 0: none
  };
  static constexpr std::size_t kMost = 64;  // in nodes

  Intervals(Memory& memory, unsigned slice) : memory_(memory), slice_(slice) { list_.reserve(kRoom); }

  // Appends the content of a cell that is no group; `first`: its first key.
  void read(const Cell& cell, std::uint32_t first);
  void push(const Interval& interval);
  // Splits the interval at `key`, which is not before the first. Returns the index of the interval that
  // begins at `key`.
  std::size_t split(std::uint32_t key);
  // Merges adjacent intervals of the same prefix.
  void merge();
  // Writes the list as a cell of `depth` bits: a value, nodes, or a group if there are too many.
  Cell write(unsigned depth) const { return write(0, list_.size(), list_[0].first, depth); }
  // Writes entries back to where they were read, if no interval was added or removed since; else returns
  // false.
  bool write_in_place();
  // Frees the nodes of a cell, if it has any.
  static void give(Memory& memory, Entry entry);

  std::size_t size() const { return list_.size(); }
  Interval& operator[](std::size_t i) { return list_[i]; }

 private:
  bool one_prefix(const Interval& a, const Interval& b) const;
  Cell write(std::size_t from, std::size_t to, std::uint32_t first, unsigned depth) const;
  Cell write_node(std::size_t from, std::size_t to) const;
  Cell write_nodes(std::size_t from, std::size_t to) const;
  Cell write_group(std::size_t from, std::size_t to, std::uint32_t first, unsigned depth) const;
  void fill(std::uint32_t node, unsigned i, unsigned n, std::uint32_t last, Entry entry,
            std::uint8_t length) const;

  Memory& memory_;
  unsigned slice_;
  bool reshaped_ = false;
  // Room for two cells' intervals: a merge may exceed one cell's. Not from the heap, since a change must not
  // fail halfway.
  static constexpr std::size_t kRoom = 2 * kMost;
  alignas(Interval) std::array<std::byte, kRoom * sizeof(Interval)> bytes_;
  std::pmr::monotonic_buffer_resource room_{bytes_.data(), bytes_.size(), std::pmr::null_memory_resource()};
  std::pmr::vector<Interval> list_{&room_};
};

}  // namespace surety::trie6
