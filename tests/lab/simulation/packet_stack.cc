// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/packet_stack.h"

#include <rte_mempool.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <vector>

namespace surety::lab {

namespace {

struct Stack {
  std::vector<void*> buffers;
  DropObserver* observer = nullptr;
};

Stack& stack_of(const rte_mempool* pool) {
  return *static_cast<Stack*>(pool->pool_data);
}

int make(rte_mempool* pool) {
  auto* const stack = new (std::nothrow) Stack;
  if (stack == nullptr) return -ENOMEM;
  stack->buffers.reserve(pool->size);
  pool->pool_data = stack;
  return 0;
}

void destroy(rte_mempool* pool) {
  delete &stack_of(pool);
}

int put(rte_mempool* pool, void* const* objects, unsigned n) {
  Stack& stack = stack_of(pool);
  if (stack.observer != nullptr) {
    for (unsigned i = 0; i < n; ++i) {
      auto* const m = static_cast<rte_mbuf*>(objects[i]);
      PacketNote& note = note_of(m);
      if (note.on_the_way) stack.observer->on_drop(note, m);
      note.on_the_way = false;
    }
  }
  stack.buffers.insert(stack.buffers.end(), objects, objects + n);
  return 0;
}

int get(rte_mempool* pool, void** objects, unsigned n) {
  Stack& stack = stack_of(pool);
  if (stack.buffers.size() < n) return -ENOBUFS;
  for (unsigned i = 0; i < n; ++i) {
    objects[i] = stack.buffers.back();
    stack.buffers.pop_back();
  }
  return 0;
}

unsigned count(const rte_mempool* pool) {
  return static_cast<unsigned>(stack_of(pool).buffers.size());
}

rte_mempool_ops operations() {
  rte_mempool_ops ops{};
  for (std::size_t i = 0; kPacketStackOps[i] != 0; ++i) ops.name[i] = kPacketStackOps[i];
  ops.alloc = make;
  ops.free = destroy;
  ops.enqueue = put;
  ops.dequeue = get;
  ops.get_count = count;
  return ops;
}

}  // namespace

void register_packet_stack() {
  static const int index = [] {
    const rte_mempool_ops ops = operations();
    return rte_mempool_register_ops(&ops);
  }();
  if (index < 0) throw std::runtime_error("DPDK takes no more mempool operations");
}

void observe_drops(rte_mempool* pool, DropObserver* observer) {
  stack_of(pool).observer = observer;
}

}  // namespace surety::lab
