// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/trie6_intervals.h"

#include <algorithm>

namespace surety::trie6 {
namespace {

constexpr std::size_t kFullEnough = 7;  // intervals for each node below another one

std::size_t node_word(Entry e) {
  return offset_of(e) / 4;
}

}  // namespace

void Intervals::read(const Cell& cell, std::uint32_t first) {
  if (!is_pointer(cell.entry)) return push({first, cell, 0});
  const std::size_t node = node_word(cell.entry);
  for (unsigned i = 0; i < kFanOut; ++i) {
    const std::size_t word = node + kEntries + i;
    const Entry e = *memory_.word(word);
    if ((e & kTag) == kNode)
      read({e, 0}, first);
    else
      push({first, {plain(e), memory_.length(word)}, word});
    const auto last = static_cast<std::int32_t>(*memory_.word(node + i));
    if (last == kNoMore) return;
    first = unbiased(last) + 1;
  }
}

void Intervals::push(const Interval& interval) {
  if (!list_.empty() && one_prefix(list_.back(), interval))
    reshaped_ = true;
  else
    list_.push_back(interval);
}

// A prefix has its length and the bits of its first key.
bool Intervals::one_prefix(const Interval& a, const Interval& b) const {
  if (is_pointer(a.cell.entry) || is_pointer(b.cell.entry) || a.cell.length != b.cell.length) return false;
  const unsigned below = kSliceEnd[slice_] - a.cell.length;
  return below >= 32 || (a.first ^ b.first) >> below == 0;
}

std::size_t Intervals::split(std::uint32_t key) {
  const auto after = std::ranges::upper_bound(list_, key, {}, &Interval::first);
  const auto at = static_cast<std::size_t>(after - list_.begin()) - 1;
  if (list_[at].first == key) return at;
  reshaped_ = true;
  list_.insert(after, {key, list_[at].cell, 0});
  return at + 1;
}

void Intervals::merge() {
  const auto end = std::unique(list_.begin(), list_.end(),
                               [&](const Interval& a, const Interval& b) { return one_prefix(a, b); });
  reshaped_ |= end != list_.end();
  list_.erase(end, list_.end());
}

bool Intervals::write_in_place() {
  if (reshaped_ || list_[0].word == 0) return false;
  for (const Interval& i : list_) {
    const Entry e = stored(i.cell.entry, kSliceEnd[slice_]);
    if (e != *memory_.word(i.word) || i.cell.length != memory_.length(i.word))
      memory_.put(i.word, e, i.cell.length);
  }
  return true;
}

void Intervals::give(Memory& memory, Entry entry) {
  if ((entry & kTag) != kNode) return;
  for (unsigned i = 0; i < kFanOut; ++i) give(memory, *memory.word(node_word(entry) + kEntries + i));
  memory.give_node(offset_of(entry));
}

Cell Intervals::write(std::size_t from, std::size_t to, std::uint32_t first, unsigned depth) const {
  if (to - from == 1) return list_[from].cell;
  if (to - from <= kFanOut) return write_node(from, to);
  if (to - from <= kMost) return write_nodes(from, to);
  return write_group(from, to, first, depth);
}

// Entry `i` of a node of `n`. `last`: its interval's last key.
void Intervals::fill(std::uint32_t node, unsigned i, unsigned n, std::uint32_t last, Entry entry,
                     std::uint8_t length) const {
  const std::size_t word = node_word(node);
  *memory_.word(word + i) = static_cast<std::uint32_t>(i + 1 < n ? biased(last) : kNoMore);
  memory_.put(word + kEntries + i, entry, length);
  if (i + 1 < n) return;
  for (unsigned rest = n; rest < kFanOut; ++rest) {
    *memory_.word(word + rest) = static_cast<std::uint32_t>(kNoMore);
    memory_.put(word + kEntries + rest, kValue, 0);
  }
}

Cell Intervals::write_node(std::size_t from, std::size_t to) const {
  const std::uint32_t node = memory_.take_node();
  const auto n = static_cast<unsigned>(to - from);
  for (unsigned i = 0; i < n; ++i) {
    const Cell& c = list_[from + i].cell;
    const std::uint32_t last = i + 1 < n ? list_[from + i + 1].first - 1 : 0;
    fill(node, i, n, last, stored(c.entry, kSliceEnd[slice_]), c.length);
  }
  return {node | kNode, 0};
}

Cell Intervals::write_nodes(std::size_t from, std::size_t to) const {
  const std::size_t size = to - from;
  const auto n =
      static_cast<unsigned>(std::min<std::size_t>((size + kFullEnough - 1) / kFullEnough, kFanOut));
  const std::uint32_t node = memory_.take_node();
  for (unsigned i = 0; i < n; ++i) {
    const std::size_t begin = from + size * i / n, end = from + size * (i + 1) / n;
    const std::uint32_t last = i + 1 < n ? list_[end].first - 1 : 0;
    fill(node, i, n, last, write_node(begin, end).entry, 0);
  }
  return {node | kNode, 0};
}

Cell Intervals::write_group(std::size_t from, std::size_t to, std::uint32_t first, unsigned depth) const {
  const std::uint32_t group = memory_.take_group();
  const unsigned below = kSliceEnd[slice_] - depth - 8;  // bits of a key
  std::size_t begin = from;
  for (std::uint32_t k = 0; k < 256; ++k) {
    const std::uint32_t start = first + (k << below), last = start + ((1u << below) - 1);
    while (begin + 1 < to && list_[begin + 1].first <= start) ++begin;
    std::size_t end = begin + 1;
    while (end < to && list_[end].first <= last) ++end;
    const Cell c = write(begin, end, start, depth + 8);
    memory_.put(group / 4 + k, stored(c.entry, depth + 8), c.length);
  }
  return {group | kGroup, 0};
}

}  // namespace surety::trie6
