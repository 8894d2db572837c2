// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_message.h"

#include <sodium.h>

#include <cstring>

#include "router/pipeline/signals/signal_layout.h"

namespace surety {

using namespace signal_layout;

SignalMac signal_layout::mac_of(std::span<const std::uint8_t> ip, bool v6, const SignalKey& key) {
  const std::size_t addresses = 2 * address_bytes(v6);
  std::array<std::uint8_t, 32 + kMac> input;
  std::memcpy(input.data(), &ip[addresses_at(v6)], addresses);
  std::uint8_t* const icmp = input.data() + addresses;
  std::memcpy(icmp, &ip[ip_header(v6)], kMac);
  store(icmp + kChecksum, std::uint16_t{0});
  store(icmp + kExtensionChecksum, std::uint16_t{0});
  SignalMac mac;
  HiddenKey::Plain secret = key.secret.reveal();
  static_assert(sizeof mac == crypto_shorthash_siphashx24_BYTES &&
                sizeof secret == crypto_shorthash_siphashx24_KEYBYTES);
  crypto_shorthash_siphashx24(mac.data(), input.data(), addresses + kMac, secret.data());
  sodium_memzero(secret.data(), secret.size());
  return mac;
}

bool is_signal(std::span<const std::uint8_t> icmp, bool v6) {
  if (icmp.size() < kQuote || icmp[0] != (v6 ? kSignalIcmp6Type : kSignalIcmpType)) return false;
  const std::size_t quote = v6 ? icmp[kLength6] * std::size_t{8} : icmp[kLength4] * std::size_t{4};
  const std::size_t object = kQuote + quote + (kObject - kExtension);
  return icmp.size() > object + kType && icmp[object + kClass] == kClassNumber &&
         icmp[object + kType] == kObjectType;
}

namespace {

// The ICMP message of an IP packet that has the outer form of a signal; empty: it has not.
std::span<const std::uint8_t> envelope(std::span<const std::uint8_t> ip, bool& v6) {
  if (ip.empty()) return {};
  v6 = ip[0] >> 4 == 6;
  const std::size_t header = ip_header(v6);
  if (ip.size() < header + kEnd || (!v6 && ip[0] != 0x45)) return {};
  const std::size_t stated = v6 ? header + load_be16(&ip[4]) : load_be16(&ip[2]);
  const auto icmp = ip.subspan(header);
  const bool fits = stated == ip.size() && ip[v6 ? 6 : 9] == (v6 ? kIcmp6 : kIcmp) &&
                    icmp[0] == (v6 ? kSignalIcmp6Type : kSignalIcmpType) && icmp[1] == 0 &&
                    icmp[v6 ? kLength6 : kLength4] == kQuoteBytes / (v6 ? 8 : 4);
  return fits ? icmp : std::span<const std::uint8_t>();
}

bool read_quote(std::span<const std::uint8_t> quote, bool v6, std::uint8_t format, SignalMessage& out) {
  if (quote[0] >> 4 != (v6 ? 6 : 4) || (!v6 && (quote[0] & 15) < 5)) return false;
  out.source = source_of(quote.data());
  out.destination = destination_of(quote.data());
  out.dscp = static_cast<std::uint8_t>(traffic_class(quote.data()) >> 2);
  const bool bare = quote[v6 ? 6 : 9] == kNoNextHeader;
  out.kind = bare ? SignalKind::reminder : SignalKind::sample;
  if (format == kFormat) return true;
  out.kind = SignalKind{quote[v6 ? 7 : 8]};
  return bare && is_event(out.kind) && out.kind <= SignalKind::clear;
}

void read_object(const std::uint8_t* icmp, SignalMessage& out) {
  out.key_id = icmp[kKeyId];
  out.port = icmp[kPort];
  out.queue = icmp[kQueue];
  out.router = load_be32(icmp + kRouter);
  out.sequence = load_be64(icmp + kSequence);
  std::memcpy(out.mac.data(), icmp + kMac, out.mac.size());
}

}  // namespace

SignalResult read_signal(std::span<const std::uint8_t> ip, SignalMessage& out) {
  bool v6 = false;
  const auto icmp = envelope(ip, v6);
  if (icmp.empty()) return SignalResult::malformed;
  Sum extension;
  extension.add(icmp.subspan(kExtension));
  if (!icmp_sum(ip, v6).valid() || !extension.valid()) return SignalResult::checksum;
  const std::uint8_t format = icmp[kVersion];
  if (icmp[kExtension] >> 4 != kExtensionVersion || (format != kFormat && format != kEventFormat))
    return SignalResult::version;
  const std::uint64_t sent = load_be64(&icmp[kSent]);
  if (icmp.size() != kEnd || load_be16(&icmp[kObject]) != kObjectBytes ||
      icmp[kObject + kClass] != kClassNumber || icmp[kObject + kType] != kObjectType || sent >= kSentLimit ||
      !read_quote(icmp.subspan(kQuote, kQuoteBytes), v6, format, out))
    return SignalResult::malformed;
  out.from = source_of(ip.data());
  out.to = destination_of(ip.data());
  for (const IpAddress& a : {out.from, out.to, out.source, out.destination})
    if (a.is_v6() != v6) return SignalResult::malformed;  // ::ffff:a.b.c.d in IPv6
  out.sent = UnixTime(std::chrono::milliseconds(sent));
  read_object(icmp.data(), out);
  return SignalResult::applied;
}

bool is_authentic(std::span<const std::uint8_t> ip, const SignalMessage& message, const SignalKey& key) {
  const SignalMac mac = mac_of(ip, message.from.is_v6(), key);
  return sodium_memcmp(mac.data(), message.mac.data(), mac.size()) == 0;
}

}  // namespace surety
