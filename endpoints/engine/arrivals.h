// SPDX-License-Identifier: BSD-3-Clause
// Packets that a sink has received, as every protocol counts them: all of them, and those with a DSCP that
// counts as IN.
#pragma once

#include <cstdint>

#include "endpoints/engine/flow_reading.h"
#include "endpoints/engine/sink_params.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

class Arrivals {
 public:
  void count(const SinkParams& params, const IpPacket& packet, std::size_t payload) {
    ++packets_;
    bytes_ += packet.length;
    payload_ += payload;
    if (!params.counts_as_in(packet.dscp())) return;
    ++in_packets_;
    in_bytes_ += packet.length;
  }
  void count_mark(bool marked) { marks_ += marked ? 1 : 0; }
  void count_duplicate() { ++duplicates_; }

  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t payload() const { return payload_; }  // each time that it arrived
  // received_*, duplicate_packets, marks.
  void read(FlowReading& out) const {
    out.received_packets = packets_;
    out.received_bytes = bytes_;
    out.received_in_packets = in_packets_;
    out.received_in_bytes = in_bytes_;
    out.duplicate_packets = duplicates_;
    out.marks = marks_;
  }

 private:
  std::uint64_t packets_ = 0, bytes_ = 0, payload_ = 0, in_packets_ = 0, in_bytes_ = 0;
  std::uint64_t marks_ = 0, duplicates_ = 0;
};

}  // namespace surety::endpoints
