// SPDX-License-Identifier: BSD-3-Clause
// Every way in which an endpoint refuses a packet, by name: the name is the counter is the metric label
// (CONTRIBUTING.md rule 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conditioners/counter_table.h"

namespace surety::endpoints {

// clang-format off
#define SURETY_REFUSALS(X)                                                                                     \
  /* any protocol */                                                                                           \
  X(truncated,          "shorter than its own headers say")                                                    \
  X(length,             "a length field that contradicts the packet")                                          \
  X(checksum,           "wrong transport checksum")                                                            \
  X(no_listener,        "for a port without a listener")                                                       \
  X(flow_limit,         "a new flow beyond the maximum of this endpoint")                                      \
  X(state,              "of a type that is invalid in the state of the flow")                                  \
  X(closed,             "after the end of the flow")                                                           \
  /* UDP */                                                                                                    \
  X(not_ours,           "UDP not from a Surety sender; only its bytes are counted")                            \
  X(duplicate,          "a duplicate UDP or DCCP packet")                                                      \
  /* TCP */                                                                                                    \
  X(tcp_header,         "invalid TCP data offset or flags")                                                    \
  X(tcp_option,         "a TCP option that overruns the header or has an impossible length")                   \
  X(tcp_sequence,       "a segment outside the receive window (RFC 9293 3.10.7.4)")                            \
  X(tcp_paws,           "a timestamp older than the last (RFC 7323 5)")                                        \
  X(tcp_ack,            "an acknowledgement of data that was never sent (RFC 5961 5)")                         \
  X(tcp_old_ack,        "an acknowledgement that is old by more than the peer's largest window")               \
  X(tcp_reset,          "a reset not exactly at the expected sequence number (RFC 5961 3)")                    \
  X(tcp_syn,            "a SYN in a synchronised connection (RFC 5961 4)")                                     \
  X(tcp_reassembly,     "out of order beyond the room for reassembly: the sender will repeat it")              \
  /* DCCP */                                                                                                   \
  X(dccp_header,        "invalid DCCP data offset, type, X bit or checksum coverage (RFC 4340 8.5)")           \
  X(dccp_option,        "a DCCP option that overruns the header or has an impossible length")                  \
  X(dccp_mandatory,     "a Mandatory option that is not supported (RFC 4340 5.8.2)")                           \
  X(dccp_feature,       "feature negotiation that cannot succeed")                                             \
  X(dccp_sequence,      "a sequence number outside the window: answered with Sync (RFC 4340 7.5)")             \
  X(dccp_ack,           "an acknowledgement number outside the window (RFC 4340 7.5)")                         \
  X(dccp_reset,         "a reset that did not pass the sequence checks")                                       \
  X(dccp_service,       "a service code that the sink does not offer")                                         \
  X(dccp_sync,          "a Sync beyond the limit of the rate of answers")
// clang-format on

SURETY_RESULTS(Refusal, SURETY_REFUSALS)
constexpr std::string_view name(Refusal r) {
  return r == Refusal::none ? "none" : kRefusalInfo[static_cast<std::size_t>(r)].name;
}

}  // namespace surety::endpoints
