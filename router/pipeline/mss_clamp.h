// SPDX-License-Identifier: BSD-3-Clause
// `tcp_mss` of ports: lowers the MSS of TCP connections whose SYN comes or leaves by such a port, for both
// families: an IPv6 header is 20 bytes longer, so its MSS is 20 less. The route stage runs it, before
// packets are held; it costs nothing where no port has the key.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "router/pipeline/burst.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class MssClamp {
 public:
  explicit MssClamp(const Snapshot& snapshot) { adopt(snapshot); }

  void adopt(const Snapshot& snapshot);
  bool clamps() const { return clamps_; }
  // Packets that have come by `from` and leave by their `egress`; their frames are as they came.
  void run(const Burst& v, PortIndex from) const;
  // Packet `i` alone, which leaves by `to` after it has waited for its next hop.
  void run(const Burst& v, std::size_t i, PortIndex from, PortIndex to) const;

 private:
  static constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();

  std::array<std::uint16_t, kMaxPorts> most_{};  // for IPv4, by port
  bool clamps_ = false;
};

}  // namespace surety
