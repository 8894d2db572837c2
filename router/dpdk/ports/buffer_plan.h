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
// As many as can really be held: what a reload needs of the pool that there is.
std::uint32_t least_buffers(const config::Config& c, std::size_t workers = 1);
// Packet buffers of a pool that is made for it: more than that, since a pool cannot grow and a reload may
// enlarge queues, open ports or bring the first service with input buffers. The rest is what `dpdk: {mbufs:
// ...}` has been given beyond what is needed, or a quarter more, within bounds that every machine has and
// nobody misses.
std::uint32_t pool_size(const config::Config& c, std::size_t workers = 1);

}  // namespace surety
