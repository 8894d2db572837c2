// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/memory_port.h"

#include <algorithm>

namespace surety::endpoints {

MemoryPort::~MemoryPort() {
  for (; head_ != tail_; ++head_) rte_pktmbuf_free(ring_[head_ & (ring_.size() - 1)].mbuf);
}

std::size_t MemoryPort::transmit(std::span<rte_mbuf*> burst) {
  const std::size_t n = std::min(burst.size(), ring_.size() - (tail_ - head_));
  const Time now = clock_.now();
  for (std::size_t i = 0; i < n; ++i) {
    rte_mbuf* const m = burst[i];
    if (tap_ != nullptr) tap_->on_departure({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len}, now);
    ring_[tail_++ & (ring_.size() - 1)] = {m, now + delay_};
  }
  return n;
}

std::size_t MemoryPort::arrivals(std::span<rte_mbuf*> room) {
  if (head_ == tail_) return 0;
  const Time now = clock_.now();
  std::size_t n = 0;
  for (; n < room.size() && head_ != tail_; ++head_) {
    const Flight& f = ring_[head_ & (ring_.size() - 1)];
    if (f.due > now) break;
    room[n++] = f.mbuf;
  }
  return n;
}

}  // namespace surety::endpoints
