// SPDX-License-Identifier: BSD-3-Clause
// Congestion signals for tests: a message, its key, and its bytes to damage.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "router/pipeline/signals/signal_message.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::signals {

using frames::Octets;
using frames::operator+;

inline constexpr UnixTime kWall(std::chrono::milliseconds(1'700'000'000'123));

inline SignalKey key(std::uint8_t id, std::uint8_t first = 0) {
  HiddenKey::Plain secret;
  std::iota(secret.begin(), secret.end(), first);
  return {id, HiddenKey(secret)};
}

inline IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return IpAddress::v4(a, b, c, d);
}
inline IpAddress v6(std::uint8_t net, std::uint8_t host) {
  return {0xb80d'0120 | std::uint64_t{net} << 40, std::uint64_t{host} << 56};
}

// Of queue 5 of port 3 of router 10.9.0.1: a packet from 10.1.0.1 to 10.2.0.1 with AF12.
inline SignalMessage message(bool ipv6 = false) {
  SignalMessage m;
  m.from = ipv6 ? v6(9, 1) : v4(10, 9, 0, 1);
  m.to = m.source = ipv6 ? v6(1, 1) : v4(10, 1, 0, 1);
  m.destination = ipv6 ? v6(2, 1) : v4(10, 2, 0, 1);
  m.router = 0x0a090001;
  m.port = 3;
  m.queue = 5;
  m.sequence = 0x0123456789abcdef;
  m.sent = kWall;
  m.dscp = 12;
  return m;
}

inline Octets packet(const SignalMessage& m, const SignalKey& k) {
  Octets ip(kMaxSignalBytes);
  ip.resize(write_signal(m, k, ip));
  return ip;
}

inline std::size_t header_of(const Octets& ip) {
  return ip[0] >> 4 == 6 ? 40 : 20;
}
inline std::span<const std::uint8_t> icmp_of(const Octets& ip) {
  return std::span(ip).subspan(header_of(ip));
}

// Makes the checksums of the ICMP message and of its extension right again, as a forger would.
inline void repair(Octets& ip) {
  const std::size_t header = header_of(ip);
  std::uint8_t* const icmp = &ip[header];
  const std::size_t size = ip.size() - header;
  const auto put = [](std::uint8_t* at, std::uint16_t sum) {
    at[0] = frames::high(sum);
    at[1] = frames::low(sum);
  };
  put(icmp + 138, 0);
  put(icmp + 138, frames::checksum(icmp + 136, size - 136));
  put(icmp + 2, 0);
  Octets covered(icmp, icmp + size);
  if (header == 40)
    covered =
        Octets(&ip[8], &ip[40]) + frames::be32(static_cast<std::uint32_t>(size)) + frames::be32(58) + covered;
  put(icmp + 2, frames::checksum(covered.data(), covered.size()));
}

// A copy that ends where its allocation ends: AddressSanitizer sees one byte more.
class Tight {
 public:
  explicit Tight(std::span<const std::uint8_t> bytes) : size_(bytes.size()), bytes_(new std::uint8_t[size_]) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  operator std::span<const std::uint8_t>() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::uint8_t[]> bytes_;
};

}  // namespace surety::signals
