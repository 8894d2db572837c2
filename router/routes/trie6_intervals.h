// SPDX-License-Identifier: BSD-3-Clause
// What is in nodes, as a list that a change is made to: the intervals of a cell, in order, without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "router/routes/trie6_format.h"
#include "router/routes/trie6_memory.h"

namespace surety::trie6 {

constexpr unsigned slice_of(unsigned depth) {
  return depth < kSliceEnd[0] ? 0 : depth < kSliceEnd[1] ? 1 : depth < kSliceEnd[2] ? 2 : 3;
}

// As memory has the entry of a cell of `depth` bits, and back.
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
    std::size_t word;  // where its entry is in memory; 0: nowhere
  };
  static constexpr std::size_t kMost = 64;  // in nodes

  Intervals(Memory& memory, unsigned slice) : memory_(memory), slice_(slice) { list_.reserve(kRoom); }

  // Appends what a cell that is no group holds; `first`: its first key.
  void read(const Cell& cell, std::uint32_t first);
  void push(const Interval& interval);
  // An interval is to begin at `key`, which is not before the first. Where it stands then.
  std::size_t split(std::uint32_t key);
  // Makes one of neighbours that are of one prefix.
  void merge();
  // The cell of `depth` bits that holds the list: a value, nodes, or a group where they are too many.
  Cell write(unsigned depth) const { return write(0, list_.size(), list_[0].first, depth); }
  // Puts entries where they were read, if no interval came or went since; else false.
  bool write_in_place();
  // Gives the nodes of a cell back, if it has any.
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
  // Those of a cell, and those of another that it turns out to be too many with: not from the heap, since a
  // change must not end halfway.
  static constexpr std::size_t kRoom = 2 * kMost;
  alignas(Interval) std::array<std::byte, kRoom * sizeof(Interval)> bytes_;
  std::pmr::monotonic_buffer_resource room_{bytes_.data(), bytes_.size(), std::pmr::null_memory_resource()};
  std::pmr::vector<Interval> list_{&room_};
};

}  // namespace surety::trie6
