// SPDX-License-Identifier: BSD-3-Clause
// The field offsets of a congestion signal (signal_message.md), its checksums and its MAC, common to writer
// and reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "router/pipeline/signals/signal_message.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety::signal_layout {

inline constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58;
inline constexpr std::uint8_t kNoNextHeader =
    59;  // RFC 8200 4.7: in the header that reminders and events quote
inline constexpr std::size_t kIp4Header = 20, kIp6Header = 40;

// Offsets from the ICMP header on.
inline constexpr std::size_t kChecksum = 2;
inline constexpr std::size_t kLength6 = 4,
                             kLength4 = 5;  // RFC 4884 4: length of the quote, in units of 8 and of 4 bytes
inline constexpr std::size_t kQuote = 8, kQuoteBytes = 128;
inline constexpr std::size_t kExtension = kQuote + kQuoteBytes;
inline constexpr std::size_t kExtensionChecksum = kExtension + 2;
inline constexpr std::size_t kObject = kExtension + 4;
inline constexpr std::size_t kClass = 2, kType = 3;  // from the object on
inline constexpr std::size_t kVersion = kObject + 4;
inline constexpr std::size_t kKeyId = kVersion + 1, kPort = kVersion + 2, kQueue = kVersion + 3;
inline constexpr std::size_t kRouter = kVersion + 4, kSequence = kRouter + 4, kSent = kSequence + 8;
inline constexpr std::size_t kMac = kSent + 8;
inline constexpr std::size_t kEnd = kMac + sizeof(SignalMac);

inline constexpr std::uint8_t kExtensionVersion = 2;  // RFC 4884 7
// Numbers from the private-use range (RFC 4884 9.1); an unlikely combination for other users.
inline constexpr std::uint8_t kClassNumber = 249, kObjectType = 83;
inline constexpr std::uint8_t kFormat = 1, kEventFormat = 2;
inline constexpr std::size_t kObjectBytes = kEnd - kObject;
inline constexpr std::uint64_t kSentLimit = std::uint64_t{1} << 48;  // milliseconds; the year 10889

static_assert(kEnd == 184 && kIp6Header + kEnd <= kMaxSignalBytes);

constexpr std::size_t ip_header(bool v6) {
  return v6 ? kIp6Header : kIp4Header;
}

// The checksum over the ICMP message; with the pseudo header for ICMPv6 (RFC 4443 2.3).
inline Sum icmp_sum(std::span<const std::uint8_t> ip, bool v6) {
  const auto icmp = ip.subspan(ip_header(v6));
  Sum sum;
  sum.add(icmp);
  if (!v6) return sum;
  sum.add(ip.subspan(addresses_at(v6), 32));
  sum.add_host16(static_cast<std::uint16_t>(icmp.size()));
  sum.add_host16(kIcmp6);
  return sum;
}

// SipHash-2-4 of 128 bits over the addresses of the IP header and the ICMP message up to the MAC, its two
// checksums taken as zero. `ip` is whole.
SignalMac mac_of(std::span<const std::uint8_t> ip, bool v6, const SignalKey& key);

}  // namespace surety::signal_layout
