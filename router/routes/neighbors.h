// SPDX-License-Identifier: BSD-3-Clause
// Next hops: what the values of the FIB refer to, and which ids are free.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "router/routes/route_events.h"

namespace surety {

// A NextHopEntry in a register.
class NextHopWord {
 public:
  explicit NextHopWord(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits() const { return bits_; }  // the destination's MAC is the low 48
  std::uint8_t port() const { return static_cast<std::uint8_t>(bits_ >> 8 * offsetof(NextHopEntry, port)); }
  bool ready() const {
    return bits_ >> 8 * offsetof(NextHopEntry, state) ==
           static_cast<std::uint64_t>(NextHopEntry::State::ready);
  }
  bool known() const { return NextHopEntry::known(entry().state); }
  NextHopEntry entry() const { return std::bit_cast<NextHopEntry>(bits_); }

 private:
  static_assert(offsetof(NextHopEntry, port) == 6 && offsetof(NextHopEntry, state) == 7);
  std::uint64_t bits_;
};

// Read by workers, written by the control thread: an entry is replaced in one store,
// so a reader sees the old or the new.
class NextHopTable {
 public:
  static constexpr std::uint32_t kDefaultCapacity =
      RouteTarget::kMaxFirst + 1;  // 1 MB; the most there can be

  // Entries kNextHopNone, kNextHopBlackhole and kNextHopLocal are set, the others `no_route`.
  explicit NextHopTable(std::uint32_t capacity = kDefaultCapacity);

  NextHopEntry get(std::uint32_t id) const {
    return std::bit_cast<NextHopEntry>(entries_[id].load(std::memory_order_relaxed));
  }
  // get() as one word, for loops: an entry that is taken apart goes through memory.
  NextHopWord word(std::uint32_t id) const {
    return NextHopWord(entries_[id].load(std::memory_order_relaxed));
  }
  void set(std::uint32_t id, const NextHopEntry& entry) {
    entries_[id].store(std::bit_cast<std::uint64_t>(entry), std::memory_order_relaxed);
  }
  std::uint32_t capacity() const { return capacity_; }

  // How often next hops that were `waiting` have become `opening`, all those of a time in one. Whoever sees
  // the number sees them.
  std::uint32_t openings() const { return openings_.load(std::memory_order_acquire); }
  void announce_opening() { openings_.fetch_add(1, std::memory_order_release); }

  // The id that a flow takes: always the same for a flow, and each as often for evenly spread hashes.
  static std::uint32_t select(RouteTarget target, std::uint32_t flow_hash) {
    return target.first + static_cast<std::uint32_t>(std::uint64_t{flow_hash} * target.count >> 32);
  }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> entries_;
  std::atomic<std::uint32_t> openings_{0};
};

// Hands out blocks of consecutive ids, behind the fixed ones. Next fit: an id just released is the last to
// come again, so that a worker in the midst of a burst does not find another route's next hop behind a value
// it has just looked up.
class NextHopIds {
 public:
  explicit NextHopIds(std::uint32_t capacity = NextHopTable::kDefaultCapacity);

  std::optional<std::uint32_t> allocate(std::uint32_t count);  // the first id; none: no such block is free
  void release(std::uint32_t first, std::uint32_t count);
  std::uint32_t used() const { return used_; }

 private:
  // Start of the first free block of `count` in [from, to).
  std::optional<std::uint32_t> find(std::uint32_t from, std::uint32_t to, std::uint32_t count) const;

  std::vector<bool> taken_;
  std::uint32_t cursor_;
  std::uint32_t used_ = 0;
};

}  // namespace surety
