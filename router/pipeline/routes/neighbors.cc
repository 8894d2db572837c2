// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/neighbors.h"

#include <algorithm>

namespace surety {
namespace {

constexpr std::uint32_t kFirstId = kNextHopsFixed;

}  // namespace

NextHopTable::NextHopTable(std::uint32_t capacity)
    : capacity_(std::max(capacity, kFirstId)), entries_(std::make_unique<Slot[]>(capacity_)) {
  set(kNextHopNone, {.state = NextHopEntry::State::no_route});
  set(kNextHopBlackhole, {.state = NextHopEntry::State::blackhole});
  set(kNextHopLocal, {.state = NextHopEntry::State::local});
  set(kNextHopUnreachable, {.state = NextHopEntry::State::unreachable});
  set(kNextHopProhibited, {.state = NextHopEntry::State::prohibited});
  set(kNextHopForeign, {.state = NextHopEntry::State::local});
  set(kNextHopUnsupported, {.state = NextHopEntry::State::unsupported});
  set(kNextHopThrown, {.state = NextHopEntry::State::no_route});
  set(kNextHopLocalPrefix, {.state = NextHopEntry::State::local});
}

NextHopIds::NextHopIds(std::uint32_t capacity) : taken_(std::max(capacity, kFirstId)), cursor_(kFirstId) {}

std::optional<std::uint32_t> NextHopIds::find(std::uint32_t from, std::uint32_t to,
                                              std::uint32_t count) const {
  std::uint32_t run = 0;
  for (std::uint32_t id = from; id < to; ++id) {
    run = taken_[id] ? 0 : run + 1;
    if (run == count) return id + 1 - count;
  }
  return {};
}

std::optional<std::uint32_t> NextHopIds::allocate(std::uint32_t count) {
  const auto size = static_cast<std::uint32_t>(taken_.size());
  if (count == 0 || count > size - kFirstId - used_) return {};
  auto first = find(cursor_, size, count);
  // A block may begin before the cursor and end behind it.
  if (!first) first = find(kFirstId, std::min(size, cursor_ + count - 1), count);
  if (!first) return {};
  std::fill_n(taken_.begin() + *first, count, true);
  used_ += count;
  cursor_ = *first + count;
  return first;
}

void NextHopIds::release(std::uint32_t first, std::uint32_t count) {
  std::fill_n(taken_.begin() + first, count, false);
  used_ -= count;
}

}  // namespace surety
