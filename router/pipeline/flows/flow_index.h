// SPDX-License-Identifier: BSD-3-Clause
// One cache line of the flow table's index: ten tags, and the record of each.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "conditioners/packet.h"

namespace surety {

// Tag 0: free. The 11th record is that of no flow, the result without a matching tag: it saves a branch.
struct alignas(64) FlowBucket {
  static constexpr std::uint32_t kSlots = 10;

  std::array<std::uint16_t, kSlots> tags;
  std::array<FlowId, kSlots + 1> records;

  // Bit 2i says that slot i has the tag.
  std::uint32_t matches(std::uint16_t tag) const {
    constexpr std::uint32_t kSlotBits = 0x55555;  // one of the two bits that a 16-bit comparison gives
    return compare(tag) & kSlotBits;
  }
  // The first slot of those, kSlots if there is none.
  static std::uint32_t first(std::uint32_t matched) {
    return static_cast<std::uint32_t>(std::countr_zero(matched | 1u << (2 * kSlots))) / 2;
  }
  std::uint32_t free_slot() const { return first(matches(0)); }
  // The record of the first slot with that tag. (The comparison covers bytes behind the tags, too.)
  FlowId candidate(std::uint16_t tag) const { return records[first(compare(tag))]; }

 private:
  std::uint32_t compare(std::uint16_t tag) const {
    const __m256i line = _mm256_load_si256(reinterpret_cast<const __m256i*>(this));
    const __m256i equal = _mm256_cmpeq_epi16(line, _mm256_set1_epi16(static_cast<std::int16_t>(tag)));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
  }
};
static_assert(sizeof(FlowBucket) == 64);

}  // namespace surety
