// SPDX-License-Identifier: BSD-3-Clause
// write_signal() of signal_message.h.
#include <algorithm>
#include <cstring>

#include "router/pipeline/signals/signal_layout.h"

namespace surety {

using namespace signal_layout;

namespace {

void store_be16(std::uint8_t* p, std::size_t v) {
  store(p, swap16(static_cast<std::uint16_t>(v)));
}
void store_be64(std::uint8_t* p, std::uint64_t v) {
  store(p, __builtin_bswap64(v));
}
void store_address(std::uint8_t* p, const IpAddress& a) {
  std::memcpy(p, a.data(), a.size());
}

struct IpHeader {
  const IpAddress& source;
  const IpAddress& destination;
  std::uint8_t dscp, hops, protocol;
  std::size_t payload;
};

// No options, no flow label; IPv4: not to be fragmented, hence without identification (RFC 6864 4.1).
void write_ip(std::uint8_t* p, const IpHeader& h) {
  const bool v6 = h.source.is_v6();
  std::memset(p, 0, ip_header(v6));
  if (v6) {
    p[0] = static_cast<std::uint8_t>(0x60 | h.dscp >> 2);
    p[1] = static_cast<std::uint8_t>(h.dscp << 6);
    store_be16(p + 4, h.payload);
    p[6] = h.protocol;
    p[7] = h.hops;
  } else {
    p[0] = 0x45;
    p[1] = static_cast<std::uint8_t>(h.dscp << 2);
    store_be16(p + 2, kIp4Header + h.payload);
    p[6] = 0x40;
    p[8] = h.hops;
    p[9] = h.protocol;
  }
  store_address(p + addresses_at(v6), h.source);
  store_address(p + addresses_at(v6) + address_bytes(v6), h.destination);
  if (v6) return;
  Sum sum;
  sum.add({p, kIp4Header});
  store(p + 10, sum.checksum_field());
}

// The hops of a quoted bare header have no other use.
std::uint8_t hops_of(SignalKind kind) {
  return is_event(kind) ? static_cast<std::uint8_t>(kind) : std::uint8_t{0};
}

void write_quote(std::uint8_t* p, const SignalMessage& m) {
  if (m.kind == SignalKind::sample && m.quote[0] != 0)
    std::copy(m.quote.begin(), m.quote.end(), p);
  else
    write_ip(p, {m.source, m.destination, m.dscp, hops_of(m.kind), kNoNextHeader, 0});
}

void write_object(std::uint8_t* icmp, const SignalMessage& m, std::uint8_t key_id) {
  std::uint8_t* const object = icmp + kObject;
  store_be16(object, kObjectBytes);
  object[kClass] = kClassNumber;
  object[kType] = kObjectType;
  icmp[kVersion] = is_event(m.kind) ? kEventFormat : kFormat;
  icmp[kKeyId] = key_id;
  icmp[kPort] = m.port;
  icmp[kQueue] = m.queue;
  store(icmp + kRouter, __builtin_bswap32(m.router));
  store_be64(icmp + kSequence, m.sequence);
  store_be64(icmp + kSent, static_cast<std::uint64_t>(m.sent.time_since_epoch().count()));
}

}  // namespace

std::size_t write_signal(const SignalMessage& m, const SignalKey& key, std::span<std::uint8_t> room,
                         std::uint8_t dscp) {
  constexpr std::uint8_t kHops = 64;
  const bool v6 = m.from.is_v6();
  const auto ip = room.first(ip_header(v6) + kEnd);
  std::uint8_t* const icmp = &ip[ip_header(v6)];
  write_ip(ip.data(), {m.from, m.to, dscp, kHops, v6 ? kIcmp6 : kIcmp, kEnd});
  std::memset(icmp, 0, kEnd);
  icmp[0] = v6 ? kSignalIcmp6Type : kSignalIcmpType;
  icmp[v6 ? kLength6 : kLength4] = static_cast<std::uint8_t>(kQuoteBytes / (v6 ? 8 : 4));
  write_quote(icmp + kQuote, m);
  icmp[kExtension] = kExtensionVersion << 4;
  write_object(icmp, m, key.id);
  const SignalMac mac = mac_of(ip, v6, key);
  std::memcpy(icmp + kMac, mac.data(), mac.size());
  Sum extension;
  extension.add({icmp + kExtension, kEnd - kExtension});
  store(icmp + kExtensionChecksum, extension.checksum_field());
  store(icmp + kChecksum, icmp_sum(ip, v6).checksum_field());
  return ip.size();
}

}  // namespace surety
