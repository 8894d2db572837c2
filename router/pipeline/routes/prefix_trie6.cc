// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/prefix_trie6.h"

#include <new>

#include "router/pipeline/routes/trie6_painter.h"

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
