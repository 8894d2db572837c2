// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that become readable when packets can be received, by receive queue.
//
// DPDK's drivers for kernel devices do not return the AF_XDP and AF_PACKET sockets they open. They are found
// by comparing the open descriptors of the process before and after (/proc/self/fd), and by the family of
// each socket.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace surety {

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

// Finds sockets of a family opened since its construction.
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
