// SPDX-License-Identifier: BSD-3-Clause
// How many packet buffers a configuration needs: whoever can hold some is counted.
#pragma once

#include <cstdint>

#include "config/config.h"

namespace surety {

struct BufferNeeds {
  std::uint32_t devices = 0;  // descriptor rings, and what the kernel keeps
  std::uint32_t queues = 0;   // of the ports, up to their limits
  std::uint32_t held = 0;     // input buffers, `flow_table: {held: ...}` for each worker
  std::uint32_t between = 0;  // rings between threads, and what waits for those to drain
  std::uint32_t working = 0;  // vectors that are being looked at, caches of the pool

  std::uint32_t total() const { return devices + queues + held + between + working; }
};

BufferNeeds buffer_needs(const config::Config& c, std::size_t workers = 1);
// What a pool must have for it. Of its input buffers only those that one flow may fill are counted:
// held_within() has the others give way.
std::uint32_t least_buffers(const config::Config& c, std::size_t workers = 1);
// Of `flow_table: {held: ...}`, what each worker may hold where there are no more than `buffers`.
std::uint32_t held_within(const config::Config& c, std::size_t workers, std::uint32_t buffers);

struct PoolPlan {
  std::uint32_t start = 0;  // packet buffers of the pool that is made for it
  std::uint32_t most = 0;   // that it may grow to
  friend bool operator==(const PoolPlan&, const PoolPlan&) = default;
};

// There are more than are needed, since a reload may enlarge queues, open ports or bring the first service
// with input buffers: what `dpdk: {mbufs: ...}` has been given, or a quarter more within bounds. Without
// hugepages the pool grows when a reload wants more than that, but not beside af_xdp (packet_pool.h): there
// and with hugepages all are there from the start. With hugepages what one worker may hold is counted, be
// there a service that holds or not.
PoolPlan plan_pool(const config::Config& c, std::size_t workers = 1, bool hugepages = false);

}  // namespace surety
