// SPDX-License-Identifier: BSD-3-Clause
// Losses of packets with an owner (mbuf_notes.h): at the conditioner, or behind it, in queues and
// elsewhere. The delivered traffic of a contract is what its conditioner passes, less these losses:
// transmitted packets need not be counted.
//
// Each worker has one object, and counts in it the packets that it drops, for any conditioning worker; other
// threads read relaxed. Counts never decrease, and stay when another flow gets the place in the table. Memory
// is taken only for flows with losses.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "conditioners/drop_reason.h"
#include "conditioners/packet.h"
#include "router/pipeline/flows/mbuf_notes.h"

namespace surety {

// Drop reasons of packets with an owner.
inline constexpr std::array kLossReasons{DropReason::buffer,
                                         DropReason::buffer_total,
                                         DropReason::buffer_share,
                                         DropReason::police,
                                         DropReason::neighbor_unresolved,
                                         DropReason::mtu_exceeded,
                                         DropReason::no_fragment_buffer,
                                         DropReason::handover_full,
                                         DropReason::ard,
                                         DropReason::early,
                                         DropReason::forced,
                                         DropReason::overflow,
                                         DropReason::port_gone,
                                         DropReason::interface_gone,
                                         DropReason::device_mtu};
enum class LossPlace : std::uint8_t { conditioner, queue, other };
inline constexpr std::array<const char*, 3> kLossPlaces{"conditioner", "queue", "other"};
constexpr LossPlace place_of(DropReason reason) {
  const std::string_view stage = info(reason).stage;
  if (stage == "condition") return LossPlace::conditioner;
  return stage == "queue" || stage == "aggregate" ? LossPlace::queue : LossPlace::other;
}

struct Loss {
  std::uint64_t refused_bytes = 0;                             // dropped by the conditioner
  std::array<std::uint64_t, kPrecedences> bytes{};             // lost behind it, by the precedence it has set
  std::array<std::uint64_t, kPrecedences> packets{};           // lost behind it, by precedence
  std::array<std::uint64_t, kLossReasons.size()> by_reason{};  // packets, refused ones too

  std::uint64_t at(LossPlace place) const;  // packets
  Loss& operator+=(const Loss& other);
  Loss& operator-=(const Loss& other);
};

class Losses {
 public:
  // Makes room for this many workers and flows per table; without it, only services are counted. Throws
  // std::bad_alloc.
  void make_room(std::size_t workers, std::uint32_t flows);

  // Prefetches the counters that add() will write. Inlined, since GCC 12 removes calls of functions that only
  // prefetch.
  [[gnu::always_inline]] void prefetch(const PacketOwner& owner, DropReason reason) const {
    if (const Loss* const row = this->row(owner)) {
      __builtin_prefetch(&row->packets, 1);
      __builtin_prefetch(&row->by_reason[kIndexOf[static_cast<std::size_t>(reason)]], 1);
    }
  }
  // A packet with `length` bytes of IP is dropped, for one of kLossReasons.
  void add(const PacketOwner& owner, DropReason reason, std::uint32_t length);

  // Losses of the flow or contract with this record in the table of that worker. Thread-safe.
  Loss of(std::size_t worker, FlowId flow) const;
  // Losses of a service, over all its flows. Thread-safe.
  Loss of_service(std::uint16_t service) const;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  using Table = std::unique_ptr<Loss[], Free>;
  static Table table(std::size_t rows);
  static constexpr auto kIndexOf = [] {  // in kLossReasons
    std::array<std::uint8_t, kDropReasons> index{};
    for (std::size_t i = 0; i < kLossReasons.size(); ++i)
      index[static_cast<std::size_t>(kLossReasons[i])] = static_cast<std::uint8_t>(i);
    return index;
  }();
  static void count(Loss& row, DropReason reason, Precedence precedence, std::uint32_t length);
  // Loss counters of the flow or contract that owns the packet; nullptr: unowned.
  Loss* row(const PacketOwner& owner) const {
    const bool known = owner.any() && owner.flow < capacity_ && owner.worker() < flows_.size();
    return known ? &flows_[owner.worker()][owner.flow] : nullptr;
  }

  std::vector<Table> flows_;  // indexed by worker
  std::uint32_t capacity_ = 0;
  Table services_ = table(std::size_t{1} << 16);
};

}  // namespace surety
