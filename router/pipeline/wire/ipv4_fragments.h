// SPDX-License-Identifier: BSD-3-Clause
// Fragments an IPv4 packet (RFC 791 3.2).
//
// rte_ip_frag's fragments are chains of buffers, or its function is experimental; ports here send single
// buffers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace surety {

class Ipv4Fragments {
 public:
  // `packet`: whole, as parse() passes it, without DF; a fragment may be cut further. `mtu` >= 68 (RFC
  // 791 3.2).
  Ipv4Fragments(std::span<const std::uint8_t> packet, std::uint16_t mtu);

  bool more() const { return sent_ < payload_.size(); }
  // The next fragment, its checksum right: at most `mtu` bytes into `room`. Returns how many.
  std::size_t write_next(std::uint8_t* room);

 private:
  std::span<const std::uint8_t> payload_;
  std::array<std::uint8_t, 60> first_,
      others_;  // headers of the fragments: only copied options are in all (RFC 791 3.1)
  std::size_t first_length_, others_length_, sent_ = 0;
  std::uint16_t mtu_, place_;
};

}  // namespace surety
