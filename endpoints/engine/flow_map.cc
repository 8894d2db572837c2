// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/flow_map.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "conditioners/rng.h"

namespace surety::endpoints {

namespace {

std::uint32_t buckets_for(std::uint32_t max_flows) {
  return std::bit_ceil((max_flows + 7) / 8);
}

}  // namespace

FlowMap::FlowMap(std::uint32_t max_flows, std::uint64_t seed)
    : capacity_(max_flows),
      mask_(buckets_for(max_flows) - 1),
      last_free_(max_flows),
      buckets_(std::size_t{mask_} + 1, HugeMemory::Pages::resident),
      records_(std::size_t{max_flows} + 1, HugeMemory::Pages::resident) {
  assert(max_flows >= 1 && max_flows <= kMostFlows);
  Rng rng(seed);
  for (auto& k : key_) k = std::uint64_t{rng.next()} << 32 | rng.next();
  for (FlowIndex f = 1; f < max_flows; ++f) records_[f].next_free = f + 1;
}

std::size_t FlowMap::memory_bytes() const {
  return buckets_.bytes() + records_.bytes();
}

std::uint32_t FlowMap::matches(const Bucket& b, std::uint32_t tag) {
  const auto* const lines = reinterpret_cast<const __m256i*>(&b);
  const __m256i want = _mm256_set1_epi32(static_cast<std::int32_t>(tag >> kIndexBits));
  const auto half = [&](int i) {
    const __m256i tags = _mm256_srli_epi32(_mm256_load_si256(lines + i), kIndexBits);
    return static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(tags, want))));
  };
  return (half(0) | half(1) << 8) & ((1u << kSlots) - 1);
}

std::uint32_t FlowMap::free_slots(const Bucket& b) {
  return matches(b, 0);
}

FlowIndex FlowMap::candidate(std::uint64_t hash) const {
  const Bucket& b = buckets_[home(hash)];
  const std::uint32_t m = matches(b, tag(hash));
  if (m == 0) return kNoFlowIndex;
  const FlowIndex f = b.entry[std::countr_zero(m)] & kIndexMask;
  __builtin_prefetch(&records_[f]);
  return f;
}

FlowIndex FlowMap::find(const Tuple& tuple, Transport transport, std::uint64_t hash) const {
  const std::uint32_t wanted = tag(hash);
  for (std::uint32_t i = home(hash), steps = 0; steps <= mask_; i = (i + 1) & mask_, ++steps) {
    const Bucket& b = buckets_[i];
    for (std::uint32_t m = matches(b, wanted); m != 0; m &= m - 1) {
      const FlowIndex f = b.entry[std::countr_zero(m)] & kIndexMask;
      const FlowRecord& r = records_[f];
      if (r.tuple == tuple && r.transport == transport) return f;
    }
    if (b.displaced == 0) [[likely]]
      break;
  }
  return kNoFlowIndex;
}

FlowIndex FlowMap::insert(const Tuple& tuple, Transport transport, std::uint64_t hash) {
  if (size_ == capacity_) return kNoFlowIndex;
  const FlowIndex f = first_free_;
  FlowRecord& r = records_[f];
  first_free_ = r.next_free;
  r = FlowRecord{.tuple = tuple, .transport = transport, .live = true};
  std::uint32_t i = home(hash), slots;
  for (; (slots = free_slots(buckets_[i])) == 0; i = (i + 1) & mask_) ++buckets_[i].displaced;
  buckets_[i].entry[std::countr_zero(slots)] = tag(hash) | f;
  ++size_;
  return f;
}

void FlowMap::erase(FlowIndex f) {
  FlowRecord& r = records_[f];
  const std::uint64_t h = hash(r.tuple, r.transport);
  const std::uint32_t entry = tag(h) | f;
  for (std::uint32_t i = home(h);; i = (i + 1) & mask_) {
    Bucket& b = buckets_[i];
    const auto end = b.entry + kSlots;
    if (const auto at = std::find(b.entry, end, entry); at != end) {
      *at = 0;
      break;
    }
    --b.displaced;
  }
  r = FlowRecord{};
  if (--size_ == capacity_ - 1)
    first_free_ = f;
  else
    records_[last_free_].next_free = f;
  last_free_ = f;
}

}  // namespace surety::endpoints
