// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_loops.h"

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include <array>
#include <cstring>

#include "router/pipeline/wire/headers.h"

namespace surety {

namespace {
using Mbufs = std::array<rte_mbuf*, kBurst>;
}

std::size_t feed_turn(const BenchBed& bed) {
  Mbufs burst;
  const std::size_t n = bed.ports()[0]->receive(burst);
  return bed.ports()[1]->transmit({burst.data(), n});
}

std::size_t anchor_turn(const BenchBed& bed, bool v6) {
  Mbufs burst;
  const std::size_t n = bed.ports()[0]->receive(burst);
  std::array<std::uint32_t, kBurst> v4_to;
  std::uint8_t v6_to[kBurst][16];
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* ip = ip_header(burst[i], 14);
    if (v6) {
      std::memcpy(v6_to[i], ip + 24, 16);
    } else {
      std::memcpy(&v4_to[i], ip + 16, 4);
      v4_to[i] = rte_be_to_cpu_32(v4_to[i]);
    }
  }
  std::array<std::uint64_t, kBurst> targets;
  if (v6)
    bed.forwarding().fib().lookup6(v6_to, targets.data(), static_cast<unsigned>(n));
  else
    bed.forwarding().fib().lookup4(v4_to.data(), targets.data(), static_cast<unsigned>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const NextHopWord hop = bed.forwarding().next_hops().word(static_cast<std::uint32_t>(targets[i]));
    std::uint8_t* frame = ip_header(burst[i], 0);
    decrement_ttl(frame + 14, v6);
    store(frame, hop.bits());  // the last two bytes are overwritten below
    std::memcpy(frame + 6, bed.ports()[1]->mac().data(), 6);
  }
  return bed.ports()[1]->transmit({burst.data(), n});
}

}  // namespace surety
