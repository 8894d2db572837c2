// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_nic.h"

#include <algorithm>

namespace surety {

void BenchNic::connect(std::unique_ptr<BenchFeed> feed) {
  feed_ = std::move(feed);
  give_back();
}

std::uint16_t BenchNic::receive(rte_mbuf** mbufs, std::uint16_t room) {
  if (!feed_ || room < ring_.size()) return 0;
  if (!full_) refill();
  if (!full_) return 0;
  for (rte_mbuf* m : ring_) {
    m->data_off = RTE_PKTMBUF_HEADROOM;
    m->nb_segs = 1;
    m->ol_flags = 0;
  }
  std::copy(ring_.begin(), ring_.end(), mbufs);
  const std::uint16_t n = feed_->receive(mbufs, kVector);
  refill();
  return n;
}

// Prefetches the next buffers while the router works. x86-64-v3 has no PREFETCHW, which every machine with
// DPDK has; without it this would be a prefetch for reading.
[[gnu::target("prfchw")]] void BenchNic::refill() {
  full_ = rte_mempool_get_bulk(pool_, reinterpret_cast<void**>(ring_.data()), kVector) == 0;
  if (!full_) return;
  for (rte_mbuf* m : ring_) __builtin_prefetch(m, 1);
  for (rte_mbuf* m : ring_)
    __builtin_prefetch(static_cast<std::uint8_t*>(m->buf_addr) + RTE_PKTMBUF_HEADROOM, 1);
}

void BenchNic::give_back() {
  if (full_) rte_mempool_put_bulk(pool_, reinterpret_cast<void**>(ring_.data()), kVector);
  full_ = false;
}

}  // namespace surety
