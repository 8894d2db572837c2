// SPDX-License-Identifier: BSD-3-Clause
// The receive queues of a port: how a device spreads packets over them (receive side scaling), and the
// descriptors that become readable when packets can be received in one of them.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

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

// Current sockets of this process of one address family (AF_XDP, AF_PACKET, ...; negative: none).
std::set<int> open_sockets(int family);

// Descriptors of a port. They belong to the driver and are valid while the device is open.
class WakeFds {
 public:
  void add(std::uint16_t queue, int fd);
  // Empty: none.
  std::span<const int> of(std::uint16_t queue) const;

 private:
  std::vector<std::vector<int>> by_queue_;
};

// Finds sockets of a family opened since its construction: DPDK's drivers for kernel devices do not return
// the AF_XDP and AF_PACKET sockets they open. The open descriptors of the process (/proc/self/fd) before and
// after are compared.
class SocketWatch {
 public:
  explicit SocketWatch(int family) : family_(family), known_(open_sockets(family)) {}
  // Sockets opened since the last call, or since construction, in ascending order.
  std::vector<int> appeared();

 private:
  int family_;
  std::set<int> known_;
};

}  // namespace surety
