// SPDX-License-Identifier: BSD-3-Clause
// Copies of the untagged ARP packets, neighbour solicitations and advertisements that arrive by a kernel
// interface, whether the kernel accepts them or not.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "router/process/fd.h"

namespace surety {

class NeighborTap {
 public:
  // Works in the calling thread's network namespace. Needs CAP_NET_RAW. Throws std::system_error.
  explicit NeighborTap(int ifindex);

  // The next frame, in `room`; empty: there is none.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);
  const std::array<Fd, 2>& fds() const { return fds_; }

 private:
  std::array<Fd, 2> fds_;  // ARP, IPv6
};

}  // namespace surety
