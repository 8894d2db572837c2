// SPDX-License-Identifier: BSD-3-Clause
// The workers part of `surety bench`: the gain from a second worker.
//
// The path `everything` on two pairs of ports, one per worker (`independent`); the same with one egress port,
// which one worker owns (`one owner`); one ingress and one egress port (`one port`), which have different
// owners by default; and a single flow on these (`elephant`), also on the path `core`. The last two also
// dispatched. Each with one worker and with two, in turns.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "router/daemon/bench/bench_traffic.h"
#include "router/pipeline/burst.h"
#include "router/process/repetitions.h"

namespace surety {

// Handles packet buffers as a NIC's driver does, for benchmarks with several workers.
//
// net_null initialises both cache lines of each buffer when it allocates the buffer, at the time of use. With
// buffers freed by another core this waits for four lines of that core's cache. A driver fills descriptors
// long before packets arrive, and writes the first line only; DMA writes the frame. This class does the same.
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
  std::array<rte_mbuf*, kBurst> ring_;  // the descriptors
  bool full_ = false;
};

struct BenchWorkers {
  std::string what;
  std::uint64_t flows = 0;
  Repetitions one, two;  // packets transmitted in a second
};

// Needs EAL with lcores 1 and 2, which run the workers; `cores`: the cores of these lcores.
std::vector<BenchWorkers> measure_workers(const std::vector<unsigned>& cores, std::uint32_t flows,
                                          int repetitions, double seconds);

}  // namespace surety
