// SPDX-License-Identifier: BSD-3-Clause
// Estimates a router's memory from its configuration, before it runs: its packet buffers, and all of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

// The number of packet buffers that a configuration needs: the sum over all places that can hold some.
struct BufferNeeds {
  std::uint32_t devices = 0;  // descriptor rings, and frames that the kernel holds
  std::uint32_t queues = 0;   // port queues, at their limits
  std::uint32_t held = 0;     // input buffers, `flow_table: {held: ...}` for each worker
  std::uint32_t between = 0;  // rings between threads, and packets that wait until these are drained
  std::uint32_t working = 0;  // bursts in use, caches of the pool

  std::uint32_t total() const { return devices + queues + held + between + working; }
};

BufferNeeds buffer_needs(const config::Config& c, std::size_t workers = 1);
// The least number for a pool. Of the input buffers only those that one flow may fill count: held_within()
// reduces the others.
std::uint32_t least_buffers(const config::Config& c, std::size_t workers = 1);
// The part of `flow_table: {held: ...}` that each worker may hold if there are no more than `buffers`.
std::uint32_t held_within(const config::Config& c, std::size_t workers, std::uint32_t buffers);

struct PoolPlan {
  std::uint32_t start = 0;  // buffers in the pool at start
  std::uint32_t most = 0;   // size it may grow to
  friend bool operator==(const PoolPlan&, const PoolPlan&) = default;
};

// Plans more buffers than needed, since a reload may enlarge queues, open ports or add the first service with
// input buffers: `dpdk: {mbufs: ...}`, or a quarter more within bounds. Without hugepages the pool grows when
// a reload needs more than that, but not beside af_xdp (packet_pool.h): there, and with hugepages, all
// buffers exist from the start. With hugepages the packets that one worker may hold are counted even if no
// service holds packets.
PoolPlan plan_pool(const config::Config& c, std::size_t workers = 1, bool hugepages = false);

struct MemoryPlan {
  struct Part {
    std::string name, what;     // e.g. "packet buffers", "24016 of 2368 B"
    std::uint64_t start, most;  // bytes: at start, and with full tables
  };
  std::vector<Part> parts;

  std::uint64_t start() const;
  std::uint64_t most() const;
  // A table for the operator, a line for each part and one for all.
  std::string text() const;
  // "139.7 MB resident at start, ...".
  std::string summary() const;
};

// Needs no EAL. Without hugepages: resident memory, within some percent of a real process with nothing but
// the router in it. With hugepages DPDK takes all parts but the program from these, with the whole FIB from
// the start.
MemoryPlan plan_memory(const config::Config& config, std::size_t workers);

}  // namespace surety
