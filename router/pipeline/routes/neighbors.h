// SPDX-License-Identifier: BSD-3-Clause
// The table of next hops that values of the FIB refer to, and the allocation of their ids.
#pragma once

#include <immintrin.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// A NextHopEntry in a register, without its interface and tags.
class NextHopWord {
 public:
  explicit NextHopWord(std::uint64_t bits) : bits_(bits) {}
  explicit NextHopWord(const NextHopEntry& e)
      : bits_(static_cast<std::uint64_t>(e.state) << 56 |
              std::uint64_t{e.tags.any() || e.interface > e.port} << 55 | std::uint64_t{e.port} << 48) {
    std::memcpy(&bits_, e.destination.data(), e.destination.size());
  }
  std::uint64_t bits() const { return bits_; }  // the low 48 bits are the destination's MAC
  std::uint8_t port() const { return static_cast<std::uint8_t>(bits_ >> 48 & 0x7f); }
  bool tagged() const { return (bits_ >> 55 & 1) != 0; }  // leaves by an interface, not by the port itself
  NextHopEntry::State state() const { return static_cast<NextHopEntry::State>(bits_ >> 56); }
  bool ready() const { return bits_ >> 56 == static_cast<std::uint64_t>(NextHopEntry::State::ready); }
  // ready() and not tagged(), for the price of one.
  bool plain() const { return bits_ >> 55 == static_cast<std::uint64_t>(NextHopEntry::State::ready) << 1; }
  bool known() const { return NextHopEntry::known(state()); }
  NextHopEntry entry(std::uint16_t interface, VlanTags tags) const {
    NextHopEntry e{.port = port(), .state = state(), .interface = port()};
    if (tagged()) e.interface = interface, e.tags = tags;
    std::memcpy(e.destination.data(), &bits_, e.destination.size());
    return e;
  }

 private:
  std::uint64_t bits_;
};

// Read by workers, written by the control thread. An entry is replaced in one store of 16 bytes, atomic on
// CPUs with AVX (Intel SDM 3A 9.1.1, AMD APM 2 7.3.2): a reader gets the old entry or the new one.
class NextHopTable {
 public:
  static constexpr std::uint32_t kDefaultCapacity = RouteTarget::kMaxFirst + 1;  // 1 MB; the maximum

  // The entries below kNextHopsFixed are set, the others are `no_route`.
  explicit NextHopTable(std::uint32_t capacity = kDefaultCapacity);

  NextHopEntry get(std::uint32_t id) const {
    const Whole s = whole(id);
    NextHopEntry e = s.word.entry(s.interface(), s.tags());
    e.mtu = s.mtu();
    return e;
  }
  // The result of get() in two registers.
  struct Whole {
    InterfaceIndex interface() const {
      return static_cast<InterfaceIndex>(way);
    }  // undefined unless tagged()
    VlanTags tags() const { return VlanTags::of_word(static_cast<std::uint32_t>(way >> 32)); }
    std::uint16_t mtu() const { return static_cast<std::uint16_t>(way >> 16); }
    NextHopWord word;
    std::uint64_t way;
  };
  Whole whole(std::uint32_t id) const {
    const Slot s = slot(id);
    return {NextHopWord(s.word), s.way};
  }
  // get() as one word, for loops: decoding a whole entry goes through memory.
  NextHopWord word(std::uint32_t id) const { return words()(id); }
  // word() of a table whose address stays in a register, whatever a loop stores.
  class Words;
  Words words() const { return Words(entries_.get()); }
  void set(std::uint32_t id, const NextHopEntry& entry) {
    // Before the entry: a worker that finds the entry in a later burst has the lower limit.
    if (entry.mtu != 0 && entry.mtu < least_mtu()) least_mtu_.store(entry.mtu, std::memory_order_relaxed);
    store({NextHopWord(entry).bits(),
           entry.interface | std::uint64_t{entry.mtu} << 16 | std::uint64_t{entry.tags.word()} << 32},
          &entries_[id]);
  }
  // No entry has ever had a lower MTU of its own.
  std::uint16_t least_mtu() const { return least_mtu_.load(std::memory_order_relaxed); }
  std::uint32_t capacity() const { return capacity_; }

  // Counts the openings: batches of next hops changed from `waiting` to `opening`. A reader of the new number
  // sees the new states.
  std::uint32_t openings() const { return openings_.load(std::memory_order_acquire); }
  void announce_opening() { openings_.fetch_add(1, std::memory_order_release); }

  // The id for a flow: always the same for a flow, and each equally often for evenly spread hashes.
  static std::uint32_t select(RouteTarget target, std::uint32_t flow_hash) {
    return target.first + static_cast<std::uint32_t>(std::uint64_t{flow_hash} * target.count >> 32);
  }

 private:
  struct alignas(16) Slot {
    std::uint64_t word = 0, way = 0;  // way: interface, MTU and tags
  };

 public:
  class Words {
   public:
    NextHopWord operator()(std::uint32_t id) const {
      return NextHopWord(std::atomic_ref(slots_[id].word).load(std::memory_order_relaxed));
    }

   private:
    friend class NextHopTable;
    explicit Words(Slot* slots) : slots_(slots) {}
    Slot* slots_;
  };

 private:
  // The thread sanitizer does not support such an access.
  __attribute__((no_sanitize("thread"))) Slot slot(std::uint32_t id) const {
    Slot s;
    _mm_store_si128(reinterpret_cast<__m128i*>(&s),
                    _mm_load_si128(reinterpret_cast<const __m128i*>(&entries_[id])));
    return s;
  }
  __attribute__((no_sanitize("thread"))) static void store(const Slot& s, Slot* to) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm_load_si128(reinterpret_cast<const __m128i*>(&s)));
  }

  std::uint32_t capacity_;
  std::unique_ptr<Slot[]> entries_;
  std::atomic<std::uint32_t> openings_{0};
  std::atomic<std::uint16_t> least_mtu_{UINT16_MAX};
};

// Hands out blocks of consecutive ids, behind the fixed ones. Next fit: an id just released is reused last,
// so that a worker in the midst of a burst does not find another route's next hop for a value it has just
// looked up.
class NextHopIds {
 public:
  explicit NextHopIds(std::uint32_t capacity = NextHopTable::kDefaultCapacity);

  std::optional<std::uint32_t> allocate(std::uint32_t count);  // the first id; nullopt: no such block is free
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
