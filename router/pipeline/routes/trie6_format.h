// SPDX-License-Identifier: BSD-3-Clause
// The memory format of the IPv6 table (prefix_trie6.h), common to its writer and its readers.
//
// An address is split: 16 bits select from a first table, 8 from a group of 256 entries, and then slices of
// 32 bits each, which begin at bits 24, 56, 88 and (for the last 8) 96. Within a slice an entry represents a
// cell: all addresses that begin with the same bits. It is one of
//   a value:  all of the cell has it;
//   a node:   64 bytes, up to eight intervals of the slice's 32 bits with an entry each. Theirs may be nodes
//             again, once;
//   a group:  1024 bytes, an entry for each value of the next 8 bits. Where more than 64 intervals would be
//             in nodes;
//   deeper:   a node or a group for the next slice. Only where the cell has all 32 bits of its own.
// A lone route therefore takes a node, and many adjacent ones are distinguished in few steps.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace surety::trie6 {

// A value is shifted by two bits; in the other kinds the higher bits are an offset in bytes from the table's
// start.
using Entry = std::uint32_t;
inline constexpr Entry kTag = 3, kValue = 0, kNode = 1, kDeeper = 2, kGroup = 3;
inline constexpr Entry kToGroup = 4;  // with kDeeper: it is a group

inline constexpr std::uint32_t kUnit = 64, kGroupUnits = 16;  // bytes of a node; nodes that a group takes
inline constexpr unsigned kFanOut = 8;
inline constexpr unsigned kTopBits = 16;

// A node: the last key of each interval except the last one, as signed numbers in order (so that one AVX2
// instruction compares them all), 2^31 - 1 for unused ones; then the entries.
inline constexpr std::int32_t kNoMore = INT32_MAX;
inline constexpr std::uint32_t kEntries = 8;  // words before a node's first entry

// Keys are compared as signed.
constexpr std::int32_t biased(std::uint32_t key) {
  return static_cast<std::int32_t>(key ^ 0x8000'0000u);
}
constexpr std::uint32_t unbiased(std::int32_t key) {
  return static_cast<std::uint32_t>(key) ^ 0x8000'0000u;
}

inline constexpr unsigned kSlices = 4;
inline constexpr std::array<std::uint8_t, kSlices> kSliceByte{3, 7, 11, 12};  // byte where its 32 bits begin
inline constexpr std::array<std::uint8_t, kSlices> kSliceEnd{56, 88, 120, 128};  // the bit behind them
// Right shift of a key for the first group of a slice.
inline constexpr std::array<std::uint8_t, kSlices> kFirstShift{24, 24, 24, 0};

constexpr bool is_pointer(Entry e) {
  return (e & kTag) != kValue;
}
constexpr std::uint32_t offset_of(Entry e) {
  return e & ~(kUnit - 1);
}

// The content of a cell: a value and the length of its prefix (0: none, and the value is 0), or the offset of
// its node or group (kNode, kGroup; never kDeeper, which memory has at the end of a slice).
struct Cell {
  Entry entry = 0;
  std::uint8_t length = 0;
};

// Loads an entry while another thread writes; all that the entry refers to was written before.
inline Entry load(const std::uint32_t* word) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
}
inline void store(std::uint32_t* word, Entry e) {
  std::atomic_ref(*word).store(e, std::memory_order_release);
}

}  // namespace surety::trie6
