// SPDX-License-Identifier: BSD-3-Clause
// An interface below a port or a group: its classes' queues, and which of them is next.
//
// Classes are served as on a port (class_scheduler.h): strict classes in the order they are listed, then the
// others by deficit round robin with the same quanta, each while its cap has credit; a weighted class that
// its cap interrupts has the rest of its quantum first when the cap has credit again. Unlike there, a class
// may exceed its deficit by its last packet and pays in its next turns (surplus round robin; Adiseshu,
// Parulkar and Varghese 1996), as its parents do. A class that is out of credit waits for a timer; so
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

  std::uint64_t backlog = 0;      // classes that have packets
  std::uint64_t capped = 0;       // classes that have no credit
  std::uint64_t strict = 0;       // strict classes, copied from params
  std::uint64_t interrupted = 0;  // weighted classes of `backlog` that have a rest of their turn
  std::uint8_t turn_of = 0;       // weighted class whose turn it is; if idle, the next active one has it

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
    return backlog & ~capped & (plane == Plane::strict ? strict : ~strict);
  }

  // A class has its first packet. The rest of its quantum, or its debt, stays: it is less than two quanta.
  void activate(std::size_t class_index) { backlog |= std::uint64_t{1} << class_index; }
  // The class that sends next; ready(plane) is not 0.
  std::size_t next_class(Plane plane) {
    if (plane == Plane::strict) return static_cast<std::size_t>(std::countr_zero(ready(Plane::strict)));
    if ((capped | interrupted) != 0) [[unlikely]]
      return next_uncapped();
    for (const std::uint64_t waiting = ready(Plane::data);;) {
      turn_of = static_cast<std::uint8_t>(first_from(waiting, turn_of));
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
  // Bytes that next_class() may send before another class has its turn.
  std::int64_t class_allowance(Plane plane, std::size_t class_index) {
    return plane == Plane::strict || std::has_single_bit(backlog & ~strict) ? kNoEnd
                                                                            : queue(class_index).deficit;
  }
  // Stores what the class has left after it has sent.
  void keep_allowance(std::size_t class_index, std::int64_t left) {
    if (left > kNoEnd / 2) return;  // the class was alone, or strict
    PooledQueue& q = queue(class_index);
    q.deficit = static_cast<std::int32_t>(left);
    if (left <= 0) end_turn(class_index);
  }
  // The class has sent, and its cap has no credit.
  void stop(std::size_t class_index) {
    capped |= std::uint64_t{1} << class_index;
    if (has(strict, class_index) || class_index != turn_of || has(interrupted, class_index)) return;
    interrupted |= std::uint64_t{1} << class_index;
    turn_of = after(turn_of);
  }
  void deactivate(std::size_t class_index) {
    backlog &= ~(std::uint64_t{1} << class_index);
    interrupted &= backlog;
  }

 private:
  static constexpr std::int64_t kNoEnd = std::int64_t{1} << 62;
  static std::size_t offset(std::size_t class_index) {
    return (kLines + PooledQueue::kLines * class_index) * LineArena::kLine;
  }
  static bool has(std::uint64_t classes, std::size_t class_index) {
    return (classes >> class_index & 1) != 0;
  }
  static std::uint8_t after(std::size_t class_index) {
    return static_cast<std::uint8_t>((class_index + 1) % 64);
  }
  // next_class() of the weighted ones while there are capped or interrupted classes.
  [[gnu::noinline]] std::size_t next_uncapped() {
    if (const std::uint64_t rests = interrupted & ~capped; rests != 0)
      return static_cast<std::size_t>(std::countr_zero(rests));
    for (const std::uint64_t waiting = backlog & ~strict;;) {
      turn_of = static_cast<std::uint8_t>(first_from(waiting, turn_of));
      PooledQueue& q = queue(turn_of);
      if (has(capped, turn_of))
        interrupt(q);
      else if (q.deficit > 0)
        return turn_of;
      else
        pass(q);
    }
  }
  void pass(PooledQueue& q) {
    q.deficit += bought().of(turn_of).quantum;
    turn_of = after(turn_of);
  }
  // The turn of a class that has no credit: it saves less than two quanta, and pays its debt.
  void interrupt(PooledQueue& q) {
    if (q.deficit > 0) interrupted |= std::uint64_t{1} << turn_of;
    if (q.deficit < bought().of(turn_of).quantum) return pass(q);
    turn_of = after(turn_of);
  }
  // A class that has sent its quantum.
  void end_turn(std::size_t class_index) {
    PooledQueue& q = queue(class_index);
    if (!has(interrupted, class_index)) return pass(q);
    q.deficit += bought().of(class_index).quantum;
    interrupted &= ~(std::uint64_t{1} << class_index);
  }
};
static_assert(sizeof(InterfaceNode) == 64 * InterfaceNode::kLines);

}  // namespace surety
