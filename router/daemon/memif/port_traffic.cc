// SPDX-License-Identifier: BSD-3-Clause
// The workers' side of a port: each call is one pass through its lane of the gate.
#include <sys/eventfd.h>

#include "router/daemon/memif/port.h"

namespace surety::memif {

namespace {
constexpr std::size_t kTransmitLane = BurstGate::kLanes - 1;
}  // namespace

std::size_t Port::receive(std::uint16_t queue, std::span<rte_mbuf*> room) {
  if (!gate_.enter(queue)) return 0;
  ReceiveQueue& q = receive_[queue];
  const std::size_t n = q.receive(room);
  if (n > 0 && q.ring().interrupts()) [[unlikely]]
    q.ring().set_interrupts(false);  // the receiver is awake
  if (const auto oversized = q.take_oversized(); oversized > 0) [[unlikely]]
    missed_.fetch_add(oversized, std::memory_order_relaxed);
  if (q.fault() != nullptr) [[unlikely]]
    blame(q.fault());
  gate_.leave(queue);
  return n;
}

std::size_t Port::transmit(std::span<rte_mbuf*> burst) {
  if (!gate_.enter(kTransmitLane)) return 0;
  const std::size_t n = transmit_.transmit(burst);
  if (n > 0) {
    // Either this read returns that the receiver sleeps, or the receiver reads the published index.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (transmit_.ring().interrupts()) doorbell_.ring(link_.transmit_event.get());
  }
  if (transmit_.fault() != nullptr) [[unlikely]]
    blame(transmit_.fault());
  gate_.leave(kTransmitLane);
  return n;
}

void Port::arm(std::uint16_t queue) {
  if (!gate_.enter(queue)) return;
  const ReceiveQueue& q = receive_[queue];
  if (q.ring()) {
    q.ring().set_interrupts(true);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (q.waits()) wakes_[queue].ring();
  }
  gate_.leave(queue);
}

void Port::disarm(std::uint16_t queue) {
  wakes_[queue].calm();
  if (!gate_.enter(queue)) return;
  if (receive_[queue].ring()) receive_[queue].ring().set_interrupts(false);
  gate_.leave(queue);
}

// The thread takes the link down. Notified once.
void Port::blame(Fault fault) {
  if (fault_.load(std::memory_order_relaxed) != nullptr) return;
  fault_.store(fault, std::memory_order_relaxed);
  ::eventfd_write(event_.get(), 1);
}

}  // namespace surety::memif
