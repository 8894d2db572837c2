// SPDX-License-Identifier: BSD-3-Clause
// The queues of one port, of one of three kinds: one queue for all packets, a queue for each class, or queues
// of the interfaces below the port, too. They share no storage, because of what a packet costs in each
// (tests/bench/README.md); by_kind() is one test for a whole burst.
#pragma once

#include <memory>
#include <variant>

#include "aqm/class_scheduler.h"
#include "router/pipeline/plain_queue.h"
#include "router/pipeline/queue_tree.h"

namespace surety {

struct EgressQueues : std::variant<PlainQueue, ClassScheduler, std::unique_ptr<QueueTree>> {
  using variant::variant;
};

// nullptr: the queues are of another kind.
inline QueueTree* tree_of(const EgressQueues& queues) {
  const auto* const tree = std::get_if<std::unique_ptr<QueueTree>>(&queues);
  return tree != nullptr ? tree->get() : nullptr;
}

// Calls `f` with the PlainQueue, the ClassScheduler or the QueueTree.
template <class Queues, class F>
decltype(auto) by_kind(Queues& queues, F f) {
  if (auto* const plain = std::get_if<PlainQueue>(&queues)) return f(*plain);
  if (auto* const scheduler = std::get_if<ClassScheduler>(&queues)) return f(*scheduler);
  return f(*tree_of(queues));
}

}  // namespace surety
