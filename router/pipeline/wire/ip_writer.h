// SPDX-License-Identifier: BSD-3-Clause
// Writes the IP header of a flow's packets: everything that does not change is prepared once.
//
// IPv4: no options, DF set and identification zero (RFC 6864: atomic datagrams), TTL 64. IPv6: flow label
// from the addresses, the protocol and the ports (RFC 6437), never zero; hop limit 64. ECN is Not-ECT.
// 48 bytes per flow.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/ip.h"

namespace surety {

class IpWriter {
 public:
  // `protocol`: number in the IP header: 6, 17 or 33.
  IpWriter(const Tuple& tuple, std::uint8_t protocol);

  std::size_t header_length() const { return v6_ ? 40 : 20; }

  // Writes header_length() bytes at `to` for a packet of `payload` bytes behind the header;
  // all of it fits into 65535 bytes.
  void write(std::uint8_t* to, std::size_t payload, std::uint8_t dscp) const {
    if (v6_)
      write_v6(to, payload, dscp);
    else
      write_v4(to, payload, dscp);
  }

  // The pseudo header of that packet, for its transport checksum (RFC 9293 3.1, RFC 8200 8.1).
  Sum pseudo(std::size_t payload) const {
    Sum s(addresses_and_protocol_);
    s.add(static_cast<std::uint64_t>(__builtin_bswap32(static_cast<std::uint32_t>(payload))));
    return s;
  }

 private:
  void write_v4(std::uint8_t* to, std::size_t payload, std::uint8_t dscp) const {
    std::memcpy(to, header_.data(), 20);
    const auto length = swap16(static_cast<std::uint16_t>(20 + payload));
    to[1] = static_cast<std::uint8_t>(dscp << 2);
    store(to + 2, length);
    // The traffic class is the second byte of its word: the upper one as loaded.
    const Sum s(std::uint64_t{header_sum_} + length + (std::uint64_t{to[1]} << 8));
    store(to + 10, s.checksum_field());
  }
  void write_v6(std::uint8_t* to, std::size_t payload, std::uint8_t dscp) const {
    std::memcpy(to, header_.data(), 40);
    to[0] = static_cast<std::uint8_t>(0x60 | (dscp & 63) >> 2);
    to[1] = static_cast<std::uint8_t>(header_[1] | (dscp & 3) << 6);
    store(to + 4, swap16(static_cast<std::uint16_t>(payload)));
  }

  std::array<std::uint8_t, 40> header_{};
  std::uint32_t addresses_and_protocol_ = 0;  // one's complement sum, folded to 32 bits
  std::uint16_t header_sum_ = 0;  // IPv4: sum of the prepared header without length, DSCP and checksum
  bool v6_;
};
static_assert(sizeof(IpWriter) == 48);

}  // namespace surety
