// SPDX-License-Identifier: BSD-3-Clause
// An IPv4 packet in pieces that fit (RFC 791 3.2).
//
// What rte_ip_frag gives lies in chains of buffers, or its function is experimental; what leaves a port here
// lies in one.
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
      others_;  // their headers: only copied options are in all (RFC 791 3.1)
  std::size_t first_length_, others_length_, sent_ = 0;
  std::uint16_t mtu_, place_;
};

}  // namespace surety
