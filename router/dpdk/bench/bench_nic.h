// SPDX-License-Identifier: BSD-3-Clause
// What a NIC's driver does to packet buffers, for benchmarks of several workers.
//
// net_null initialises both cache lines of each buffer as it allocates it, when it is needed.
// Where buffers come back from another core, that waits for four lines of its cache, as no
// NIC does: a driver fills descriptors long before packets come, writes the first line alone,
// and the frame is DMA's to write. So does this one.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <memory>

#include "router/dpdk/bench/bench_traffic.h"
#include "router/vector.h"

namespace surety {

class BenchNic {
 public:
  BenchNic() = default;
  ~BenchNic() { give_back(); }
  BenchNic(const BenchNic&) = delete;
  BenchNic& operator=(const BenchNic&) = delete;

  void set_pool(rte_mempool* pool) { pool_ = pool; }
  // Null: nothing comes.
  void connect(std::unique_ptr<BenchFeed> feed);
  // As rte_eth_rx_burst.
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
