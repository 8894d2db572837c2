// SPDX-License-Identifier: BSD-3-Clause
// Spreading received packets over queues in the device (receive side scaling).
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <optional>

#include "router/daemon/ports/work_plan.h"

namespace surety {

// The Toeplitz key that gives both directions of a flow the same hash: 0x6d5a repeated (Woo, Park: "Scalable
// TCP session monitoring with symmetric receive-side scaling", 2012).
inline constexpr std::size_t kRssKey = 52;  // bytes of the longest key a device takes
std::array<std::uint8_t, kRssKey> symmetric_rss_key();

// The fields that the device must hash so that packets are spread by `spread`; nullopt: it cannot. The
// transport's ports are hashed where it can, addresses alone where not (fragments, DCCP).
std::optional<std::uint64_t> rss_fields(const rte_eth_dev_info& device, Spread spread);

// The abilities of a device that DPDK itself drives.
PortAbility ability_of(const rte_eth_dev_info& device);

}  // namespace surety
