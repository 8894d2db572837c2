// SPDX-License-Identifier: BSD-3-Clause
// A mempool of packet buffers for the ports of a configuration: a whole frame of any of them in one buffer.
//
// DPDK's net_af_xdp gives the kernel memory as long as all buffers of the pool laid end to end. Buffers that
// must not cross a page leave gaps, so such a pool reaches beyond that: the kernel swallows, uncounted, every
// buffer from out there that it is given to receive into, until the port has none left. Beside an af_xdp port
// buffers are therefore 4096 bytes each, on page boundaries, without a gap. Without hugepages no device asks
// where in the machine's memory they are, and they lie end to end, whatever pages they cross. Such a pool may
// grow: what it has then lies in several pieces, which the kernel would not have of an af_xdp port.
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <string>

#include "config/config.h"
#include "router/dpdk/ports/buffer_plan.h"

namespace surety {

inline constexpr std::uint32_t kFraming = 64;        // Ethernet header, VLAN tags
inline constexpr std::uint16_t kPagedBuffer = 4096;  // all of it, DPDK's headers too

inline constexpr unsigned kPoolCache = 256;  // of buffers, by thread

// What a buffer takes in bytes, DPDK's headers too, where they lie end to end.
std::uint32_t buffer_bytes(const config::Config& config);
// Whether buffers are kPagedBuffer bytes large: a port is af_xdp.
bool paged_buffers(const config::Config& config);

// Throws std::runtime_error, one sentence with the fix, when a port's `mtu` needs larger buffers than beside
// af_xdp there can be.
void check_mtus(const config::Config& config);

// `name`: at most 20 characters, unique in the process. std::runtime_error, one sentence with the fix:
// without memory; when a port's `mtu` needs larger buffers than af_xdp can have.
rte_mempool* make_packet_pool(const std::string& name, const config::Config& config, const PoolPlan& plan,
                              int node);

// To as many as `buffers`, while others take from it and give back. False: it may not be so large, or there
// is no memory; there are as many then as before.
bool grow_packet_pool(rte_mempool& pool, std::uint32_t buffers, int node);

// Whether all of its buffers lie in what net_af_xdp would give the kernel, and none across a page.
bool in_umem(rte_mempool& pool);

}  // namespace surety
