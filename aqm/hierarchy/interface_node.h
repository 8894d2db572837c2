// SPDX-License-Identifier: BSD-3-Clause
// An interface below a port or a group: its classes' queues, and which of them is next.
//
// Classes are served as on a port (class_scheduler.h): strict classes in the order they are listed, each
// while its cap has credit, then the others by deficit round robin with the same quanta. Unlike there, a
// class may exceed its deficit by its last packet and pays in its next turns (surplus round robin; Adiseshu,
// Parulkar and Varghese 1996), as its parents do. A strict class that is out of credit waits for a timer; so
// nothing here changes by itself.
#pragma once

#include <bit>
#include <cstdint>

#include "aqm/class_moves.h"
#include "aqm/hierarchy/pooled_queue.h"
#include "aqm/hierarchy/sibling_wheel.h"

namespace surety {

// A node at the start of a block of lines; its queues follow it.
struct InterfaceNode : ShareNode {
  static constexpr std::uint32_t kLines = 2;
  static std::uint32_t block_lines(const InterfaceParams& p) {
    return kLines + PooledQueue::kLines * static_cast<std::uint32_t>(p.classes().size());
  }
  static LineNumber queue_line(LineNumber self, std::size_t class_index) {
    return self + kLines + PooledQueue::kLines * static_cast<LineNumber>(class_index);
  }

  std::uint64_t backlog = 0;  // classes that have packets
  std::uint64_t capped = 0;   // strict classes that have no credit
  std::uint64_t strict = 0;   // strict classes, copied from params
  std::uint8_t turn_of = 0;   // weighted class whose turn it is; if idle, the next active one has it

  const InterfaceParams& bought() const { return static_cast<const InterfaceParams&>(*params); }
  PooledQueue& queue(std::size_t class_index) {
    return *std::launder(
        reinterpret_cast<PooledQueue*>(reinterpret_cast<std::byte*>(this) + offset(class_index)));
  }
  const PooledQueue& queue(std::size_t class_index) const {
    return *std::launder(
        reinterpret_cast<const PooledQueue*>(reinterpret_cast<const std::byte*>(this) + offset(class_index)));
  }
  std::size_t classes() const { return bought().classes().size(); }

  Plane plane_of(std::size_t class_index) const {
    return (strict >> class_index & 1) != 0 ? Plane::strict : Plane::data;
  }
  std::uint64_t ready(Plane plane) const {
    return plane == Plane::strict ? backlog & strict & ~capped : backlog & ~strict;
  }

  // A class has its first packet. The rest of its quantum, or its debt, stays: it is at most one quantum.
  void activate(std::size_t class_index) { backlog |= std::uint64_t{1} << class_index; }
  // The class that sends next; ready(plane) is not 0.
  std::size_t next_class(Plane plane) {
    if (plane == Plane::strict) return static_cast<std::size_t>(std::countr_zero(ready(Plane::strict)));
    for (const std::uint64_t active = ready(Plane::data);;) {
      turn_of = static_cast<std::uint8_t>(first_from(active, turn_of));
      PooledQueue& q = queue(turn_of);
      if (q.deficit > 0) [[likely]]
        return turn_of;
      pass(q);
    }
  }
  // The queue of next_class(), unless that class must pass.
  const PooledQueue& likely_queue(Plane plane) const {
    return queue(first_from(ready(plane), plane == Plane::strict ? std::size_t{0} : turn_of));
  }
  // Bytes that the class whose turn it is may send before the next class has its turn.
  std::int64_t class_allowance() {
    return std::has_single_bit(ready(Plane::data)) ? kNoEnd : queue(turn_of).deficit;
  }
  // Stores what the class has left after it has sent.
  void keep_allowance(std::int64_t left) {
    if (left > kNoEnd / 2) return;  // the class was alone
    PooledQueue& q = queue(turn_of);
    q.deficit = static_cast<std::int32_t>(left);
    if (left <= 0) pass(q);
  }
  void deactivate(std::size_t class_index) { backlog &= ~(std::uint64_t{1} << class_index); }

 private:
  static constexpr std::int64_t kNoEnd = std::int64_t{1} << 62;
  static std::size_t offset(std::size_t class_index) {
    return (kLines + PooledQueue::kLines * class_index) * LineArena::kLine;
  }
  void pass(PooledQueue& q) {
    q.deficit += bought().of(turn_of).quantum;
    turn_of = static_cast<std::uint8_t>((turn_of + 1) % 64);
  }
};
static_assert(sizeof(InterfaceNode) == 64 * InterfaceNode::kLines);

}  // namespace surety
