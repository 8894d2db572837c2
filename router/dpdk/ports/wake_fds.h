// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that say "there is something to receive", by receive queue.
//
// DPDK's drivers for kernel devices open AF_XDP and AF_PACKET sockets and hand them to nobody. They are found
// by what this process has open before and after (/proc/self/fd), and by the family of each socket.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace surety {

// Sockets of this process of one address family (AF_XDP, AF_PACKET, ...; negative: none), as they are now.
std::set<int> open_sockets(int family);

// Those of a port. The descriptors stay the driver's: they live as long as the device is open.
class WakeFds {
 public:
  void add(std::uint16_t queue, int fd);
  // Empty: none.
  std::span<const int> of(std::uint16_t queue) const;

 private:
  std::vector<std::vector<int>> by_queue_;
};

// Notes which sockets of a family appear from its making on.
class SocketWatch {
 public:
  explicit SocketWatch(int family) : family_(family), known_(open_sockets(family)) {}
  // Those since the last call, or since it was made, in ascending order.
  std::vector<int> appeared();

 private:
  int family_;
  std::set<int> known_;
};

}  // namespace surety
