// SPDX-License-Identifier: BSD-3-Clause
// Every way in which an endpoint refuses a packet, by name: the name is the counter is the metric label
// (CONTRIBUTING.md rule 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace surety::endpoints {

// clang-format off
#define SURETY_REFUSALS(X)                                                                                     \
  /* any protocol */                                                                                           \
  X(truncated,          "shorter than its own headers say")                                                    \
  X(length,             "a length field that contradicts the packet")                                          \
  X(checksum,           "wrong transport checksum")                                                            \
  X(no_listener,        "for a port nobody listens on")                                                        \
  X(flow_limit,         "a new flow beyond the most that this endpoint keeps")                                 \
  X(state,              "of a type that makes no sense in the flow's state")                                   \
  X(closed,             "after the flow was over")                                                             \
  /* UDP */                                                                                                    \
  X(not_ours,           "UDP that no Surety sender made; counted by bytes only")                               \
  X(duplicate,          "a UDP packet or DCCP packet that was here before")                                    \
  /* TCP */                                                                                                    \
  X(tcp_header,         "TCP data offset or flags that cannot be")                                             \
  X(tcp_option,         "a TCP option that overruns the header or has an impossible length")                   \
  X(tcp_sequence,       "a segment outside the receive window (RFC 9293 3.10.7.4)")                            \
  X(tcp_paws,           "a timestamp older than the last (RFC 7323 5)")                                        \
  X(tcp_ack,            "acknowledges what was never sent (RFC 5961 5)")                                       \
  X(tcp_old_ack,        "acknowledges what is long acknowledged, beyond the peer's largest window")            \
  X(tcp_reset,          "a reset not exactly at the expected sequence number (RFC 5961 3)")                    \
  X(tcp_syn,            "a SYN in a synchronised connection (RFC 5961 4)")                                     \
  X(tcp_reassembly,     "out of order beyond what reassembly keeps: the sender will repeat it")                \
  /* DCCP */                                                                                                   \
  X(dccp_header,        "DCCP data offset, type, X bit or checksum coverage that cannot be (RFC 4340 8.5)")    \
  X(dccp_option,        "a DCCP option that overruns the header or has an impossible length")                  \
  X(dccp_mandatory,     "a Mandatory option that could not be understood (RFC 4340 5.8.2)")                    \
  X(dccp_feature,       "feature negotiation that cannot succeed")                                             \
  X(dccp_sequence,      "a sequence number outside the window: answered with Sync (RFC 4340 7.5)")             \
  X(dccp_ack,           "an acknowledgement number outside the window (RFC 4340 7.5)")                         \
  X(dccp_reset,         "a reset that did not pass the sequence checks")                                       \
  X(dccp_service,       "a service code that the sink does not offer")                                         \
  X(dccp_sync,          "a Sync beyond the rate at which we answer")
// clang-format on

enum class Refusal : std::uint8_t {
#define X(name, help) name,
  SURETY_REFUSALS(X)
#undef X
      none,  // accepted
};
inline constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::none);
struct RefusalInfo {
  std::string_view name, help;
};
inline constexpr std::array<RefusalInfo, kRefusals> kRefusalInfo{{
#define X(name, help) {#name, help},
    SURETY_REFUSALS(X)
#undef X
}};
constexpr std::string_view name(Refusal r) {
  return r == Refusal::none ? "none" : kRefusalInfo[static_cast<std::size_t>(r)].name;
}

}  // namespace surety::endpoints
