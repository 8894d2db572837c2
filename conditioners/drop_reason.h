// SPDX-License-Identifier: BSD-3-Clause
// Every refusal and every degradation has a name, and the name is the counter is the metric label
// (CONTRIBUTING.md rule 4).
//
// One list of refusals for the whole product: X(name, stage, group, help). `stage` is where it happens,
// `group` separates decisions of the configuration (policy) from defects of the packet, the network or the
// box (error).
#pragma once

#include <cstdint>
#include <string_view>

#include "conditioners/counter_table.h"

// clang-format off
#define SURETY_DROP_REASONS(X)                                                                                   \
  X(truncated,             parse,     error,  "frame shorter than its headers say")                              \
  X(foreign_mac,           parse,     error,  "frame for another MAC address, or a unicast packet in a multicast or broadcast frame")          \
  X(ethertype,             parse,     error,  "ethertype that the router does not handle")                       \
  X(vlan_depth,            parse,     error,  "more than two VLAN tags")                                         \
  X(ipv4_version,          parse,     error,  "IPv4 ethertype, but another IP version")                          \
  X(ipv4_header_length,    parse,     error,  "IHL below 5 or beyond the packet")                                \
  X(ipv4_total_length,     parse,     error,  "total length below the header or beyond the frame")               \
  X(ipv4_checksum,         parse,     error,  "wrong IPv4 header checksum")                                      \
  X(ipv4_options,          parse,     error,  "malformed or source-route IPv4 options")                          \
  X(ipv4_martian_source,   parse,     error,  "source address that must not appear on a wire (RFC 1812 5.3.7)")  \
  X(ipv4_martian_destination, parse,  error,  "destination that must not be forwarded (RFC 1812 5.3.7)")         \
  X(ipv6_version,          parse,     error,  "IPv6 ethertype, but another IP version")                          \
  X(ipv6_payload_length,   parse,     error,  "payload length beyond the frame")                                 \
  X(ipv6_extension,        parse,     error,  "malformed or endless extension header chain")                     \
  X(ipv6_martian_source,   parse,     error,  "IPv6 source that must not be forwarded")                          \
  X(ipv6_martian_destination, parse,  error,  "IPv6 destination that must not be forwarded")                     \
  X(l4_truncated,          parse,     error,  "transport header beyond the packet")                              \
  X(fragment,              parse,     error,  "impossible fragment (zero length, beyond 65535, tiny first)")     \
  X(link_local,            parse,     error,  "link-local address or neighbor discovery, but not for this router: such packets stay on their link") \
  X(no_kernel_peer,        parse,     error,  "for the kernel, but the port has no kernel device")               \
  X(vlan_unknown,          parse,     error,  "VLAN tags that no interface has and no rule of the port names")   \
  X(source_check,          classify,  policy, "no route back to the source by the way the packet came (`source_check`)") \
  X(filtered,              classify,  policy, "a filter of the port or interface does not permit it (`filter`)")            \
  X(signal,                classify,  error,  "congestion signal rejected (surety_csa_signals_total has the reason)") \
  X(dispatch_full,         parse,     error,  "the ring to the worker that has this flow is full")               \
  X(handover_full,         forward,   error,  "the ring to the worker that owns the egress port is full")        \
  X(no_route,              forward,   error,  "no route to the destination")                                     \
  X(blackhole,             forward,   policy, "route of type blackhole, unreachable or prohibit")                \
  X(unsupported_route,     forward,   error,  "the kernel's route asks for what the data plane cannot do, such as encapsulation (`show routes` has the reason)") \
  X(ttl_exceeded,          forward,   error,  "TTL or hop limit expired, and no kernel device to report it")     \
  X(mtu_exceeded,          forward,   error,  "larger than the egress MTU, and its sender cannot be notified")     \
  X(no_fragment_buffer,    forward,   error,  "larger than the egress MTU, and no packet buffers for its fragments") \
  X(neighbor_unresolved,   forward,   error,  "MAC address of the next hop not resolved yet")                    \
  X(punt_overflow,         forward,   error,  "too many exceptions for the kernel at once")                      \
  X(punt_limited,          forward,   error,  "more exceptions of its kind, or of its customer, than the control plane accepts") \
  X(buffer,                condition, policy, "input buffer of the flow is full (CSA, Fig. 5)")                  \
  X(buffer_total,          condition, policy, "input buffers of all flows together are full")                    \
  X(buffer_share,          condition, policy, "input buffers hold as many packets of its customer as one may have") \
  X(police,                condition, policy, "beyond the rate of a policed service")                            \
  X(ard,                   aggregate, policy, "ARD marker's fair early drop (P_drop)")                           \
  X(early,                 queue,     policy, "RIO: between min and max")                                        \
  X(forced,                queue,     policy, "RIO: average above max")                                          \
  X(overflow,              queue,     policy, "queue full")                                                      \
  X(port_gone,             queue,     policy, "its egress port was removed by a reload, or has lost its device")       \
  X(interface_gone,        queue,     policy, "a reload removed its egress interface")                               \
  X(device_mtu,            queue,     error,  "larger than what the device of its egress port can send")
// clang-format on

namespace surety {

enum class DropGroup : std::uint8_t { policy, error };

struct DropReasonInfo {
  std::string_view name, stage, help;
  DropGroup group;
};

#define SURETY_DROP_INFO(name, stage, group, help) DropReasonInfo{#name, #stage, help, DropGroup::group},
SURETY_ENUM_TABLE(DropReason, SURETY_DROP_REASONS, SURETY_DROP_INFO)

}  // namespace surety

// Degradations: why a packet got less than its service and went on as best effort. X(name, stage, help).
//
// A degraded packet is not refused: it stays in the law of counters.h as one that was forwarded (or dropped
// by a later stage under that reason).

// clang-format off
#define SURETY_DEGRADE_REASONS(X)                                                                                 \
  X(flow_table_full,  classify, "service needs a flow record, and the flow table is full")                        \
  X(flow_share_full,  classify, "service needs a flow record, and its customer has used up its part of the flow table") \
  X(creation_limited, classify, "service needs a flow record, and new flows exceed flow_table.creation_rate or the customer's part of it")
// clang-format on

namespace surety {

struct DegradeReasonInfo {
  std::string_view name, stage, help;
};

#define SURETY_DEGRADE_INFO(name, stage, help) DegradeReasonInfo{#name, #stage, help},
SURETY_ENUM_TABLE(DegradeReason, SURETY_DEGRADE_REASONS, SURETY_DEGRADE_INFO)

}  // namespace surety
