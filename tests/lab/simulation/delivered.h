// SPDX-License-Identifier: BSD-3-Clause
// What a TCP flow delivers in IP bytes: a segment's header takes its part of the packet, with the timestamps
// of RFC 7323 if both ends have them, as the lab's sinks do. What others deliver is what arrives.
#pragma once

#include <variant>

#include "endpoints/config/endpoints.h"

namespace surety::lab {

// IP bytes for a byte of payload in order; 0: not TCP.
inline double delivered_per_payload(const config::Sender& s, bool v6) {
  constexpr double kTcp = 20, kTimestamps = 12;
  const auto* tcp = std::get_if<endpoints::TcpParams>(&s.params);
  if (tcp == nullptr) return 0;
  const auto packet = static_cast<double>(tcp->common.packet.count());
  return packet / (packet - (v6 ? 40 : 20) - kTcp - (tcp->timestamps ? kTimestamps : 0));
}

}  // namespace surety::lab
