// SPDX-License-Identifier: BSD-3-Clause
// Whose flow a packet of the lab's hosts is, by its ports (plan.h gives every flow a source port of its own).
#pragma once

#include <cstdint>
#include <span>

#include "endpoints/engine/demux.h"
#include "router/pipeline/wire/checksum.h"
#include "tests/lab/simulation/plan.h"

namespace surety::lab {

struct FlowOf {
  std::uint32_t flow;  // Plan::flows() index; not less than their number: of no flow
  bool from_sender;
  bool data;  // from the sender, with payload
};

// `ip`: the packet, built by one of our engines (IPv4 without options, or IPv6 without extension headers).
// `dccp_udp_port`: where DCCP in UDP is spoken.
inline FlowOf flow_of(std::span<const std::uint8_t> ip, std::uint16_t dccp_udp_port) {
  const bool v6 = ip[0] >> 4 == 6;
  std::uint8_t protocol = v6 ? ip[6] : ip[9];
  std::span<const std::uint8_t> l4 = ip.subspan(v6 ? 40 : 20);
  if (protocol == endpoints::kUdpProtocol &&
      (load_be16(l4.data()) == dccp_udp_port || load_be16(l4.data() + 2) == dccp_udp_port)) {
    l4 = l4.subspan(8);
    protocol = endpoints::kDccpProtocol;
  }
  const std::uint16_t source = load_be16(l4.data()), destination = load_be16(l4.data() + 2);
  const bool from_sender = source >= Plan::kFirstFlowPort;
  const std::uint32_t flow =
      static_cast<std::uint32_t>(from_sender ? source : destination) - Plan::kFirstFlowPort;
  bool data = from_sender;
  if (protocol == endpoints::kTcpProtocol) data &= l4.size() > std::size_t{4} * (l4[12] >> 4);
  if (protocol == endpoints::kDccpProtocol) {
    const int type = l4[8] >> 1 & 15;  // RFC 4340 5.1: Data 2, DataAck 4
    data &= type == 2 || type == 4;
  }
  return {flow, from_sender, data};
}

}  // namespace surety::lab
