// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/port_loop.h"

#include <algorithm>

namespace surety::endpoints {

namespace {
constexpr int kBurstsPerTurn = 4;  // more may be due than one burst takes away; receiving must not wait long
}  // namespace

PortLoop::PortLoop(FramePort& port, Station& station, rte_mempool* pool, const TscClock& clock,
                   PortSample& counters)
    : port_(port), station_(station), pool_(pool), clock_(clock), counters_(counters) {
  refill();
}

PortLoop::~PortLoop() {
  rte_pktmbuf_free_bulk(mbufs_.data() + begin_, static_cast<unsigned>(ready_ - begin_));
}

std::size_t PortLoop::receive() {
  std::array<rte_mbuf*, kBurst> burst;
  const std::size_t n = port_.receive(burst);
  if (n == 0) return 0;
  std::array<std::span<const std::uint8_t>, kBurst> frames;
  for (std::size_t i = 0; i < n; ++i)
    frames[i] = {rte_pktmbuf_mtod(burst[i], const std::uint8_t*), burst[i]->data_len};
  station_.receive({frames.data(), n}, clock_.now());
  rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
  counters_.rx_packets += n;
  return n;
}

// Time is read for every burst: what was built earlier in this turn has taken some.
std::size_t PortLoop::transmit() {
  std::size_t sent = flush();
  for (int bursts = 0; bursts < kBurstsPerTurn && !backlog(); ++bursts) {
    refill();
    const std::size_t n = station_.poll({slots_.data() + end_, ready_ - end_}, clock_.now());
    if (n == 0) break;
    for (std::size_t i = end_; i < end_ + n; ++i) {
      mbufs_[i]->data_len = static_cast<std::uint16_t>(slots_[i].length);
      mbufs_[i]->pkt_len = slots_[i].length;
    }
    begin_ = end_;
    end_ += n;
    const bool all = end_ == ready_;
    sent += flush();
    if (!all) break;
  }
  return sent;
}

std::size_t PortLoop::flush() {
  if (!backlog()) return 0;
  const std::size_t sent = port_.transmit({mbufs_.data() + begin_, end_ - begin_});
  begin_ += sent;
  counters_.tx_packets += sent;
  return sent;
}

// Sent buffers are at the front; once they are half of all, the empty ones move there and new ones follow.
void PortLoop::refill() {
  if (ready_ - end_ > kBurst / 2) return;
  std::copy(mbufs_.data() + end_, mbufs_.data() + ready_, mbufs_.data());
  std::copy(slots_.data() + end_, slots_.data() + ready_, slots_.data());
  ready_ -= end_;
  begin_ = end_ = 0;
  if (rte_pktmbuf_alloc_bulk(pool_, mbufs_.data() + ready_, static_cast<unsigned>(kBurst - ready_)) != 0)
    return;
  for (; ready_ < kBurst; ++ready_) {
    rte_mbuf* const m = mbufs_[ready_];
    slots_[ready_] = {rte_pktmbuf_mtod(m, std::uint8_t*), rte_pktmbuf_tailroom(m), 0};
  }
}

}  // namespace surety::endpoints
