// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/prefix_trie6.h"

#include <new>

#include "router/pipeline/routes/trie6_intervals.h"

namespace surety::trie6 {
namespace {

bool is_group(const Cell& c) {
  return (c.entry & kTag) == kGroup;
}
std::size_t word_of(Entry e) {
  return offset_of(e) / 4;
}

// One change of an IPv6 table: sets the value of all addresses of a prefix whose value is from this prefix or
// a shorter one.
//
// If a boundary between values is added or removed, the nodes of that cell are written again and replace the
// old ones in one store; all other entries change in place. A reader therefore gets the value before or after
// the change, for each address.
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

Painter::Painter(Memory& memory, const Prefix& prefix, Cell with, bool thins)
    : memory_(memory),
      high_(__builtin_bswap64(prefix.address.high)),
      low_(__builtin_bswap64(prefix.address.low)),
      length_(prefix.length),
      with_(with),
      thins_(thins) {}

void Painter::run() {
  std::uint32_t* const top = memory_.top(static_cast<std::uint32_t>(high_ >> (64 - kTopBits)));
  const std::uint32_t had = *top;
  std::uint32_t group = had;
  if (had == 0) {
    group = memory_.take_group();
    for (std::size_t i = 0; i < 256; ++i) memory_.put(group / 4 + i, kValue, 0);
  }
  const Cell now = paint_group({group | kGroup, 0}, kTopBits);
  if (is_group(now)) {
    if (had == 0) store(top, group);
    return;
  }
  store(top, 0);
}

// The slice's 32 bits of the prefix.
std::uint32_t Painter::key(unsigned slice) const {
  switch (slice) {
    case 0:
      return static_cast<std::uint32_t>(high_ >> 8);
    case 1:
      return static_cast<std::uint32_t>(high_ << 24 | low_ >> 40);
    case 2:
      return static_cast<std::uint32_t>(low_ >> 8);
    default:
      return static_cast<std::uint32_t>(low_);
  }
}

// The first key of the cell of `depth` bits that has the prefix.
std::uint32_t Painter::first_key(unsigned depth) const {
  const unsigned slice = slice_of(depth), below = kSliceEnd[slice] - depth;
  return below >= 32 ? 0 : key(slice) >> below << below;
}

Cell Painter::paint(const Cell& cell, unsigned depth) {
  if (length_ <= depth) return paint_all(cell);
  return is_group(cell) ? paint_group(cell, depth) : paint_nodes(cell, depth);
}

Cell Painter::paint_nodes(const Cell& cell, unsigned depth) {
  const unsigned slice = slice_of(depth), end = kSliceEnd[slice];
  Intervals intervals(memory_, slice);
  intervals.read(cell, first_key(depth));
  const std::uint32_t first = key(slice);
  const std::uint32_t last = first + (length_ < end ? (1u << (end - length_)) - 1 : 0);
  const std::uint32_t last_of_cell =
      first_key(depth) + static_cast<std::uint32_t>((1ull << (end - depth)) - 1);
  if (last != last_of_cell) intervals.split(last + 1);
  for (std::size_t i = intervals.split(first); i < intervals.size() && intervals[i].first <= last; ++i)
    intervals[i].cell = paint_interval(intervals[i].cell, slice);
  intervals.merge();
  if (intervals.write_in_place()) return cell;
  Intervals::give(memory_, cell.entry);
  return intervals.write(depth);
}

Cell Painter::paint_interval(const Cell& cell, unsigned slice) {
  return paint(cell, length_ <= kSliceEnd[slice] ? length_ : kSliceEnd[slice]);
}

Cell Painter::paint_group(const Cell& cell, unsigned depth) {
  const std::uint64_t from = depth < 64 ? high_ << depth : low_ << (depth - 64);
  const std::size_t word = word_of(cell.entry) + (from >> 56);
  const unsigned below = depth + 8;
  if (length_ <= below) {
    paint_words(word, std::size_t{1} << (below - length_));
  } else {
    const Cell had{plain(*memory_.word(word)), memory_.length(word)};
    const Cell now = paint(had, below);
    if (now.entry != had.entry || now.length != had.length)
      memory_.put(word, stored(now.entry, below), now.length);
  }
  return thins_ ? thin(cell, depth) : cell;
}

// A group that has become small, as nodes; that of the first table, if nothing is left in it.
Cell Painter::thin(const Cell& group, unsigned depth) {
  const unsigned slice = slice_of(depth), below = depth + 8;
  Intervals intervals(memory_, slice);
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::size_t word = word_of(group.entry) + i;
    const Cell c{plain(*memory_.word(word)), memory_.length(word)};
    const std::uint32_t first = depth == kTopBits ? 0 : first_key(depth) + (i << (kSliceEnd[slice] - below));
    if (below == kSliceEnd[slice])
      intervals.push({first, c, 0});
    else if (is_group(c) || (depth == kTopBits && (is_pointer(c.entry) || c.length > 0)))
      return group;
    else
      intervals.read(c, first);
    if (intervals.size() > Memory::kFewIntervals) return group;
  }
  for (std::uint32_t i = 0; below != kSliceEnd[slice] && i < 256; ++i)
    Intervals::give(memory_, *memory_.word(word_of(group.entry) + i));
  memory_.give_group(offset_of(group.entry));
  return depth == kTopBits ? Cell{} : intervals.write(depth);
}

Cell Painter::paint_all(const Cell& cell) {
  if (!is_pointer(cell.entry)) return cell.length <= length_ ? with_ : cell;
  if (is_group(cell))
    paint_words(word_of(cell.entry), 256);
  else
    paint_words(word_of(cell.entry) + kEntries, kFanOut);
  return cell;
}

void Painter::paint_words(std::size_t first, std::size_t count) {
  for (std::size_t word = first; word < first + count; ++word) {
    const Entry e = *memory_.word(word);
    if (is_pointer(e))
      paint_all({plain(e), 0});
    else if (memory_.length(word) <= length_)
      memory_.put(word, with_.entry, with_.length);
  }
}

}  // namespace
}  // namespace surety::trie6

namespace surety {
namespace {

// Bytes of a route in its PrefixTable, with buckets for twice as many.
constexpr std::size_t kAccount = 32 + 2 * 8;

trie6::Cell cell_of(const Prefix& prefix, std::uint32_t value) {
  return {value << 2, prefix.length};
}

}  // namespace

PrefixTrie6::PrefixTrie6(std::uint32_t routes) : most_(routes), memory_(routes) {}

std::size_t PrefixTrie6::most_bytes(std::uint32_t routes) {
  return bytes(routes) + kAccount * routes;
}

bool PrefixTrie6::make_room() {
  if (memory_.room() && !memory_.waits()) return true;
  if (quiesce_) quiesce_();
  memory_.reclaim();
  return memory_.room();
}

bool PrefixTrie6::add(const Prefix& prefix, std::uint32_t value) {
  const Prefix p = prefix.masked();
  const bool room = make_room();
  auto* entry = routes_.find(p);
  if (entry == nullptr) {
    if (!room || routes_.size() >= most_ || value > kMaxValue) return false;
    try {
      entry = &routes_.add(p);
    } catch (const std::bad_alloc&) {
      return false;
    }
    ++of_length_[p.length];
  }
  if (value > kMaxValue) return false;
  entry->value = value;
  trie6::Painter(memory_, p, cell_of(p, value), false).run();
  return true;
}

bool PrefixTrie6::remove(const Prefix& prefix) {
  const Prefix p = prefix.masked();
  if (routes_.find(p) == nullptr) return false;
  make_room();
  routes_.erase(p);
  --of_length_[p.length];
  trie6::Painter(memory_, p, above(p), true).run();
  return true;
}

// The cell of the next shorter prefix.
trie6::Cell PrefixTrie6::above(const Prefix& prefix) const {
  for (Prefix p = prefix; --p.length > trie6::kTopBits;) {
    if (of_length_[p.length] == 0) continue;
    const Prefix shorter = p.masked();
    if (const auto* const entry = routes_.find(shorter)) return cell_of(shorter, entry->value);
  }
  return {};
}

}  // namespace surety
