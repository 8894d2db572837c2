// SPDX-License-Identifier: BSD-3-Clause
// Handles packet buffers as a NIC's driver does, for benchmarks with several workers.
//
// net_null initialises both cache lines of each buffer when it allocates the buffer, at the time of use. With
// buffers freed by another core this waits for four lines of that core's cache. A driver fills descriptors
// long before packets arrive, and writes the first line only; DMA writes the frame. This class does the same.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <memory>

#include "router/daemon/bench/bench_traffic.h"
#include "router/pipeline/vector.h"

namespace surety {

class BenchNic {
 public:
  BenchNic() = default;
  ~BenchNic() { give_back(); }
  BenchNic(const BenchNic&) = delete;
  BenchNic& operator=(const BenchNic&) = delete;

  void set_pool(rte_mempool* pool) { pool_ = pool; }
  // nullptr: no packets arrive.
  void connect(std::unique_ptr<BenchFeed> feed);
  // Signature of rte_eth_rx_burst.
  std::uint16_t receive(rte_mbuf** mbufs, std::uint16_t room);

 private:
  void refill();
  void give_back();

  rte_mempool* pool_ = nullptr;
  std::unique_ptr<BenchFeed> feed_;
  std::array<rte_mbuf*, kVector> ring_;  // the descriptors
  bool full_ = false;
};

}  // namespace surety
