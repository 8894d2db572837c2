// SPDX-License-Identifier: BSD-3-Clause
// A congestion signal as bytes: an ICMP message of type 253 (RFC 4727), or ICMPv6 of type 100 (RFC 4443),
// that quotes the congested packet as in RFC 4884 and has one extension object of ours. signal_message.md has
// the format to the bit.
//
// Sans-I/O; every length is checked before it is used; nothing allocates.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "config/config.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_keys.h"
#include "router/pipeline/signals/unix_time.h"

namespace surety {

using SignalMac = std::array<std::uint8_t, 16>;

struct SignalMessage {
  IpAddress from;            // outer source: an address of the router that signals
  IpAddress to;              // outer destination: the source of the congested packet, or its border
  std::uint32_t router = 0;  // ID of the router that signals
  std::uint8_t port = 0, queue = 0;
  std::uint64_t sequence = 0;  // the queue's; rises by one, also over restarts (signal_sender.h)
  UnixTime sent;
  IpAddress source, destination;  // the congested packet's
  std::uint8_t dscp = 0;
  SignalKind kind = SignalKind::sample;
  // First bytes of the congested packet, for write_signal() only. A reminder and an event quote a header made
  // of source, destination, DSCP and kind instead.
  std::array<std::uint8_t, CongestionSignal::kQuote> quote{};
  std::uint8_t key_id = 0;
  SignalMac mac{};
};

inline constexpr std::size_t kMaxSignalBytes = 320;  // bytes of the IP packet
inline constexpr std::uint8_t kSignalIcmpType = 253, kSignalIcmp6Type = 100;
inline constexpr std::uint8_t kSignalDscp = 48;  // CS6, as routing protocols

// True if an IP packet that parse() has passed (whole, no fragment) has the ICMP type of signals: a quick
// check of each ICMP packet. `l4`: the payload of the IP headers.
inline bool may_be_signal(std::uint8_t protocol, std::span<const std::uint8_t> l4) {
  return !l4.empty() &&
         ((protocol == 1 && l4[0] == kSignalIcmpType) || (protocol == 58 && l4[0] == kSignalIcmp6Type));
}
// True if the ICMP message has our extension object, whole or damaged. Other users' packets of these
// experimental types are forwarded normally.
bool is_signal(std::span<const std::uint8_t> icmp, bool v6);

// Writes the whole IP packet, signed with `key`, into `room` (at least kMaxSignalBytes); returns its length.
// Ignores key_id and mac of `message`. `dscp`: of the packet, which the MAC does not cover.
std::size_t write_signal(const SignalMessage& message, const SignalKey& key, std::span<std::uint8_t> room,
                         std::uint8_t dscp = kSignalDscp);

// Reads an IP packet for which is_signal() is true. `applied`: well-formed, `out` is complete; else
// `malformed`, `checksum` or `version`. Does not authenticate.
SignalResult read_signal(std::span<const std::uint8_t> ip, SignalMessage& out);
// True if the MAC of the packet that `message` was read from is valid for `key`, in constant time.
bool is_authentic(std::span<const std::uint8_t> ip, const SignalMessage& message, const SignalKey& key);

}  // namespace surety
