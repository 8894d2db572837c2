// SPDX-License-Identifier: BSD-3-Clause
// Writes the segments of one TCP sender as IP packets: its ports and sequence numbers, the payload from
// StreamPattern, the checksum, and the mark of the host marker; and counts what it wrote.
#pragma once

#include "endpoints/engine/marker.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class SegmentWriter {
 public:
  // `params` outlives the writer. `iss`: the initial sequence number, that of position 0 (send_sequence.h).
  SegmentWriter(const SenderParams& params, const Tuple& tuple, std::uint32_t iss, Time start);

  std::uint16_t mss() const { return mss_; }  // the MSS that we offer: it fits SenderParams::packet
  std::uint16_t default_mss() const { return ip_.header_length() == 40 ? 1220 : 536; }  // RFC 9293 3.7.1
  std::uint32_t sequence(std::uint64_t position) const { return iss_ + static_cast<std::uint32_t>(position); }

  // A segment with nothing but ports and these.
  tcp::Segment segment(std::uint32_t sequence, std::uint8_t flags) const;
  // The whole packet; the payload is the stream's [offset, offset + length). `ect`: routers may mark it.
  void write(const tcp::Segment& s, tcp::Payload payload, Slot& slot, Time now, bool ect = false);
  std::uint32_t packet_length(const tcp::Segment& s, std::uint32_t payload) const {
    return static_cast<std::uint32_t>(ip_.header_length() + tcp::header_length(s)) + payload;
  }
  void read(FlowReading& out) const;  // sent_*

 private:
  const SenderParams* params_;
  IpWriter ip_;
  HostMarker marker_;
  std::uint32_t iss_;
  std::uint16_t local_port_, remote_port_;
  std::uint16_t mss_;
  std::uint64_t packets_ = 0, bytes_ = 0, in_packets_ = 0;
};

}  // namespace surety::endpoints
