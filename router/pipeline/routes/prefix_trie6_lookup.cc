// SPDX-License-Identifier: BSD-3-Clause
// The lookup: for a burst of addresses, step by step, each step for all of them.
//
// Lists hold the addresses for each kind of step, and are appended to without a branch, since the direction
// of an address is unpredictable. A step prefetches the cache line of the next one; for a final entry, which
// is no offset, the table's first line.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "router/pipeline/routes/prefix_trie6.h"

namespace surety {
namespace trie6 {
namespace {

constexpr unsigned kVectorSize = 64;

struct Walk {
  alignas(64) std::array<Entry, kVectorSize> entry;
  alignas(64) std::array<std::int32_t, kVectorSize> key;  // the slice's bits, biased
  // Indices of addresses whose entry is a group, or a node.
  std::array<std::uint32_t, kVectorSize + 1> groups, nodes;
};

inline const std::uint32_t* word_at(const std::byte* table, std::size_t offset) {
  return reinterpret_cast<const std::uint32_t*>(table + offset);
}

// Lengths of the lists. Passed by value: variables that a call could change are kept in memory, and each
// address would wait for the previous one.
struct Waiting {
  std::uint32_t groups, nodes;
};

inline void prefetch(const std::byte* table, Entry e) {
  _mm_prefetch(table + (e & (0 - (e & 1))), _MM_HINT_T0);  // the tag has no effect
}

// Address `i` has reached an entry.
inline Waiting arrive(Walk& w, const std::byte* table, std::uint32_t i, Entry e, Waiting n) {
  static_assert((kNode & 1) == 1 && (kGroup & 1) == 1 && kGroup >> 1 == 1);
  const std::uint32_t leads = e & 1, group = leads & e >> 1;
  w.entry[i] = e;
  prefetch(table, e);
  w.groups[n.groups] = i;
  w.nodes[n.nodes] = i;
  return {n.groups + group, n.nodes + leads - group};
}

// The first 24 bits.
inline Waiting enter(Walk& w, const std::byte* table, const std::uint8_t (*addresses)[16], std::uint32_t n) {
  const std::uint32_t* const top = word_at(table, kUnit * kGroupUnits);
#pragma GCC unroll 4
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint64_t high;
    std::memcpy(&high, addresses[i], sizeof high);
    high = __builtin_bswap64(high);
    w.key[i] = biased(static_cast<std::uint32_t>(high >> 8));
    w.entry[i] = load(top + (high >> 48)) + static_cast<std::uint32_t>(high >> 40 & 255) * 4;
    _mm_prefetch(table + w.entry[i], _MM_HINT_T0);
  }
  Waiting waiting{0, 0};
#pragma GCC unroll 4
  for (std::uint32_t i = 0; i < n; ++i)
    waiting = arrive(w, table, i, load(word_at(table, w.entry[i])), waiting);
  return waiting;
}

inline Waiting walk_groups(Walk& w, const std::byte* table, unsigned shift, Waiting waiting) {
  for (; waiting.groups > 0; shift -= 8) {
    const std::uint32_t n = waiting.groups;
    waiting.groups = 0;
#pragma GCC unroll 2
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::uint32_t i = w.groups[k];
      const std::uint32_t index = unbiased(w.key[i]) >> shift & 255;
      waiting = arrive(w, table, i, load(word_at(table, w.entry[i] - kGroup) + index), waiting);
    }
  }
  return waiting;
}

inline void walk_nodes(Walk& w, const std::byte* table, std::uint32_t waiting) {
  while (waiting > 0) {
    const std::uint32_t n = waiting;
    waiting = 0;
#pragma GCC unroll 2
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::uint32_t i = w.nodes[k];
      const std::uint32_t* const node = word_at(table, w.entry[i] - kNode);
      const __m256i lasts = _mm256_load_si256(reinterpret_cast<const __m256i*>(node));
      const __m256i beyond = _mm256_cmpgt_epi32(_mm256_set1_epi32(w.key[i]), lasts);
      const auto bits = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(beyond)));
      const Entry e = load(node + kEntries + static_cast<unsigned>(__builtin_popcount(bits)));
      w.entry[i] = e;
      prefetch(table, e);
      w.nodes[waiting] = i;
      waiting += e & 1;
    }
  }
}

// Addresses whose entry leads to the next slice continue there.
[[gnu::noinline]] Waiting descend(Walk& w, const std::byte* table, const std::uint8_t (*addresses)[16],
                                  std::uint32_t n, unsigned slice) {
  Waiting waiting{0, 0};
  for (std::uint32_t i = 0; i < n; ++i) {
    const Entry e = w.entry[i];
    if ((e & kTag) != kDeeper) continue;
    std::uint32_t bits;
    std::memcpy(&bits, addresses[i] + kSliceByte[slice], sizeof bits);
    w.key[i] = biased(__builtin_bswap32(bits));
    waiting = arrive(w, table, i, offset_of(e) | ((e & kToGroup) != 0 ? kGroup : kNode), waiting);
  }
  return waiting;
}

void look_up(Walk& w, const std::byte* table, const std::uint8_t (*addresses)[16], std::uint64_t* values,
             std::uint32_t n) {
  Waiting waiting = enter(w, table, addresses, n);
  for (unsigned slice = 0;;) {
    waiting = walk_groups(w, table, kFirstShift[slice], waiting);
    walk_nodes(w, table, waiting.nodes);
    std::uint32_t deeper = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      deeper |= w.entry[i];
      values[i] = w.entry[i] >> 2;
    }
    if ((deeper & kTag) == kValue) return;
    waiting = descend(w, table, addresses, n, ++slice);
  }
}

}  // namespace
}  // namespace trie6

void PrefixTrie6::lookup(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const {
  trie6::Walk w;
  const auto* const table = reinterpret_cast<const std::byte*>(memory_.word(0));
  for (unsigned at = 0; at < n; at += trie6::kVectorSize)
    trie6::look_up(w, table, addresses + at, values + at, std::min(n - at, trie6::kVectorSize));
}

}  // namespace surety
