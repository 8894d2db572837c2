// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/parse_frame.h"

namespace surety::detail {

namespace {

// RFC 4340 5.1: 12 bytes with short sequence numbers, 16 with long ones; the data offset counts words.
bool dccp_fits(const std::uint8_t* l4, std::size_t payload) {
  if (payload < 12) return false;
  const std::size_t minimum = (l4[8] & 1) != 0 ? 16 : 12, stated = l4[4] * std::size_t{4};
  return stated >= minimum && stated <= payload;
}

FlowKey::Class class_of(std::uint8_t protocol) {
  switch (protocol) {
    case kTcp:
      return FlowKey::Class::tcp;
    case kUdp:
      return FlowKey::Class::udp;
    case kDccp:
      return FlowKey::Class::dccp;
    case kSctp:
      return FlowKey::Class::sctp;
    default:
      return FlowKey::Class::other;
  }
}

}  // namespace

bool transport_fits(std::uint8_t protocol, const std::uint8_t* l4, std::size_t payload) {
  switch (protocol) {
    case kTcp:
    case kUdp:
      return tcp_or_udp_fits(protocol == kTcp, l4, payload);
    case kDccp:
      return dccp_fits(l4, payload);
    case kSctp:
      return payload >= 12;
    case kIcmp:
      return payload >= 8;
    case kIcmp6:
      return payload >= 4;
    default:
      return true;
  }
}

bool fragment_possible(const Fragment& fragment, std::uint8_t protocol) {
  if (fragment.payload == 0 || fragment.end > 65535) return false;
  if (protocol == kTcp && fragment.offset == 8) return false;
  if (fragment.offset != 0) return true;
  const std::size_t tiny = protocol == kTcp ? 16 : protocol == kUdp ? 8 : 0;
  return fragment.payload >= tiny;
}

std::uint64_t transport_key(const ParseContext& context, const Frame& f, bool fragment, std::uint8_t protocol,
                            const std::uint8_t* l4) {
  if (fragment) return key_rest(FlowKey::Class::fragment, context, f, protocol);
  const FlowKey::Class c = class_of(protocol);
  return key_rest(c, context, f, c == FlowKey::Class::other ? protocol : load<std::uint32_t>(l4));
}

}  // namespace surety::detail
