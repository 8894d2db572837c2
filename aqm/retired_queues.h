// SPDX-License-Identifier: BSD-3-Clause
// Queues of removed classes, until their packets have left.
//
// The heirs of such a class, which get its new packets, send the old ones in their own turns and at their own
// expense: first the heir's packets from before the change, then the retired queues, the oldest first, then
// later packets. So no packet is lost or moved, those of a flow stay in their order, and classes that inherit
// nothing are not affected.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "aqm/active_queue.h"
#include "aqm/class_moves.h"

namespace surety {

class RetiredQueues {
 public:
  // `room`: queues that another object's take() may move from this one.
  explicit RetiredQueues(std::size_t room);

  // Classes that inherit packets.
  std::uint64_t heirs() const { return heirs_; }
  std::uint32_t depth() const;  // packets

  // The queue that the next packet of an heir leaves by, its own or a retired one; it is not empty.
  ActiveQueue& next(std::size_t heir, ActiveQueue& own);
  // A retired queue has become empty: some classes may be heirs no more.
  void settle();

  // A change of the classes, without allocation, in this order: follow() moves the present heirs; take() adds
  // the removed classes' queues, with memory of the update; mark() stores for each new heir where its own
  // packets end; leave_empty() moves empty queues to the update, which frees them.
  void follow(const ClassMoves& moves);
  void take(ActiveQueue& queue, std::uint64_t heirs, RetiredQueues& update);
  void mark(std::size_t heir, const ActiveQueue& own) { marks_[heir] = own.end_position(); }
  void leave_empty(RetiredQueues& update);

  // Any queue that holds packets, for the end of the process; null: there is none.
  ActiveQueue* any();

 private:
  struct Retired {
    ActiveQueue queue;
    std::uint64_t heirs = 0;
  };
  std::list<Retired> queues_;  // the oldest first
  std::uint64_t heirs_ = 0;
  std::array<std::uint32_t, 64>
      marks_{};  // indexed by heir: its own packets before this position leave first
};

}  // namespace surety
