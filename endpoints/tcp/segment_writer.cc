// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_sender.h"

#include <algorithm>

#include "endpoints/engine/marker.h"
#include "endpoints/tcp/tcp_peer.h"

namespace surety::endpoints {

namespace {

constexpr std::uint32_t kHeader = 20;

std::uint16_t mss_of(const SenderParams& p, std::size_t ip_header) {
  const std::uint64_t packet = std::min<std::uint64_t>(p.packet.count(), kMaxPacket);
  const std::uint64_t headers = ip_header + kHeader;
  return static_cast<std::uint16_t>(std::max<std::uint64_t>(packet, headers + TcpPeer::kLeastMss) - headers);
}

}  // namespace

SegmentWriter::SegmentWriter(const SenderParams& params, const Tuple& tuple, std::uint32_t iss, Time start)
    : params_(&params),
      ip_(tuple, tcp::kProtocol),
      marker_(params, start),
      iss_(iss),
      local_port_(tuple.local_port),
      remote_port_(tuple.remote_port),
      mss_(mss_of(params, ip_.header_length())) {}

tcp::Segment SegmentWriter::segment(std::uint32_t sequence, std::uint8_t flags) const {
  tcp::Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = sequence;
  s.flags = flags;
  return s;
}

void SegmentWriter::write(const tcp::Segment& s, tcp::Payload payload, Slot& slot, Time now, bool ect) {
  const std::uint32_t length = packet_length(s, static_cast<std::uint32_t>(payload.length));
  tcp::write(s, payload, ip_, marker_.mark(*params_, length, now), slot);
  if (ect) set_ect(slot);
}

}  // namespace surety::endpoints
