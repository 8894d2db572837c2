// SPDX-License-Identifier: BSD-3-Clause
// How the IPv6 table (prefix_trie6.h) lies in memory: what its writer and its readers both know.
//
// An address is taken to pieces: 16 bits choose from a first table, 8 from a group of 256 entries, and then
// 32 at a time, a slice, which begin at bits 24, 56, 88 and (the last 8 are left) 96. Within a slice an entry
// stands for a cell: all addresses that begin with the same bits. It holds
//   a value:  all of the cell has it;
//   a node:   64 bytes, up to eight intervals of the slice's 32 bits with an entry each. Theirs may be nodes
//             again, once;
//   a group:  1024 bytes, an entry for each value of the next 8 bits. Where more than 64 intervals would be
//             in nodes;
//   deeper:   a node or a group for the next slice. Only where the cell has all 32 bits of its own.
// So a lone route takes a node, wherever it stands, and many side by side take few steps to tell apart.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace surety::trie6 {

// A value is shifted by two bits; of the others the higher bits are an offset in bytes from the table's
// start.
using Entry = std::uint32_t;
inline constexpr Entry kTag = 3, kValue = 0, kNode = 1, kDeeper = 2, kGroup = 3;
inline constexpr Entry kToGroup = 4;  // with kDeeper: it is a group

inline constexpr std::uint32_t kUnit = 64, kGroupUnits = 16;  // bytes of a node; nodes that a group takes
inline constexpr unsigned kFanOut = 8;
inline constexpr unsigned kTopBits = 16;

// A node: the last keys of its intervals but the last one, as signed numbers in order (so that one AVX2
// instruction compares them all), 2^31 - 1 for those that there are not; then the entries.
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
inline constexpr std::array<std::uint8_t, kSlices> kSliceByte{3, 7, 11, 12};     // where its 32 bits begin
inline constexpr std::array<std::uint8_t, kSlices> kSliceEnd{56, 88, 120, 128};  // the bit behind them
// By how much a key is shifted to the right for the first group of a slice.
inline constexpr std::array<std::uint8_t, kSlices> kFirstShift{24, 24, 24, 0};

constexpr bool is_pointer(Entry e) {
  return (e & kTag) != kValue;
}
constexpr std::uint32_t offset_of(Entry e) {
  return e & ~(kUnit - 1);
}

// What a cell holds: a value and the length of the prefix that it is of (0: of none, and the value is 0), or
// where its node or its group is (kNode, kGroup; never kDeeper, which memory has where a slice ends).
struct Cell {
  Entry entry = 0;
  std::uint8_t length = 0;
};

// An entry that others read while one thread writes. What it leads to was written before.
inline Entry load(const std::uint32_t* word) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
}
inline void store(std::uint32_t* word, Entry e) {
  std::atomic_ref(*word).store(e, std::memory_order_release);
}

}  // namespace surety::trie6
