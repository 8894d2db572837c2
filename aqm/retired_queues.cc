// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/retired_queues.h"

#include <algorithm>
#include <utility>

namespace surety {

RetiredQueues::RetiredQueues(std::size_t room) {
  for (; room > 0; --room) queues_.push_back({ActiveQueue({.limit = 0, .rio = {}}, 0), 0});
}

std::uint32_t RetiredQueues::depth() const {
  std::uint32_t n = 0;
  for (const Retired& r : queues_) n += r.queue.depth();
  return n;
}

// Positions run on and wrap: only their differences mean anything.
ActiveQueue& RetiredQueues::next(std::size_t heir, ActiveQueue& own) {
  if (static_cast<std::int32_t>(marks_[heir] - own.front_position()) > 0) return own;
  for (Retired& r : queues_)
    if ((r.heirs >> heir & 1) != 0 && !r.queue.empty()) return r.queue;
  return own;
}

void RetiredQueues::settle() {
  heirs_ = 0;
  for (const Retired& r : queues_)
    if (!r.queue.empty()) heirs_ |= r.heirs;
}

void RetiredQueues::follow(const ClassMoves& moves) {
  const std::array<std::uint32_t, 64> before = marks_;
  for (std::size_t c = 0; c < moves.to.size(); ++c)
    if (moves.to[c] != ClassMoves::kGone) marks_[moves.to[c]] = before[c];
  for (Retired& r : queues_) r.heirs = moves.successors(r.heirs);
  settle();
}

void RetiredQueues::take(ActiveQueue& queue, std::uint64_t heirs, RetiredQueues& update) {
  queues_.splice(queues_.end(), update.queues_, update.queues_.begin());
  std::swap(queues_.back().queue, queue);
  queues_.back().heirs = heirs;
  heirs_ |= heirs;
}

void RetiredQueues::leave_empty(RetiredQueues& update) {
  for (auto r = queues_.begin(); r != queues_.end();) {
    const auto here = r++;
    if (here->queue.empty()) update.queues_.splice(update.queues_.end(), queues_, here);
  }
}

ActiveQueue* RetiredQueues::any() {
  const auto waits = [](const Retired& r) { return !r.queue.empty(); };
  const auto at = std::ranges::find_if(queues_, waits);
  return at == queues_.end() ? nullptr : &at->queue;
}

}  // namespace surety
