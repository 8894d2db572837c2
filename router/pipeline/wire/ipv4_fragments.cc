// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/ipv4_fragments.h"

#include <algorithm>

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/checksum.h"

namespace surety {

namespace {

constexpr std::uint16_t kMoreFragments = 0x2000, kOffset = 0x1fff;

std::size_t header_length(const std::uint8_t* ip) {
  return (ip[0] & 0xfu) * std::size_t{4};
}

// The options of `ip` that every fragment carries, from `out` on, padded; how many bytes.
std::size_t copy_options(const std::uint8_t* ip, std::uint8_t* out) {
  constexpr std::uint8_t kEnd = 0, kNop = 1, kCopied = 0x80;
  const std::size_t end = header_length(ip);
  std::size_t n = 0;
  for (std::size_t i = 20; i < end && ip[i] != kEnd;) {
    const std::size_t length = ip[i] == kNop ? 1 : i + 1 < end ? ip[i + 1] : 0;
    if (length == 0 || i + length > end) break;  // parse() passes none
    if ((ip[i] & kCopied) != 0) n = static_cast<std::size_t>(std::copy_n(ip + i, length, out + n) - out);
    i += length;
  }
  const std::size_t padded = (n + 3) / 4 * 4;
  std::fill(out + n, out + padded, kEnd);
  return padded;
}

}  // namespace

Ipv4Fragments::Ipv4Fragments(std::span<const std::uint8_t> packet, std::uint16_t mtu)
    : payload_(packet.subspan(header_length(packet.data()))),
      first_length_(header_length(packet.data())),
      mtu_(mtu),
      place_(load_be16(packet.data() + 6)) {
  std::copy_n(packet.data(), first_length_, first_.begin());
  std::copy_n(packet.data(), 20, others_.begin());
  others_length_ = 20 + copy_options(packet.data(), others_.data() + 20);
  others_[0] = static_cast<std::uint8_t>(0x40 | others_length_ / 4);
}

std::size_t Ipv4Fragments::write_next(std::uint8_t* room) {
  const bool first = sent_ == 0;
  const std::size_t header = first ? first_length_ : others_length_, left = payload_.size() - sent_;
  std::size_t length = left;
  if (header + left > mtu_) length = (mtu_ - header) / 8 * 8;
  const std::size_t total = header + length;
  std::copy_n(first ? first_.data() : others_.data(), header, room);
  std::copy_n(payload_.data() + sent_, length, room + header);
  const bool last = length == left && (place_ & kMoreFragments) == 0;
  const std::size_t offset = (place_ & kOffset) + sent_ / 8;
  store(room + 2, swap16(static_cast<std::uint16_t>(total)));
  store(room + 6, swap16(static_cast<std::uint16_t>(offset | (last ? 0 : kMoreFragments))));
  store(room + 10, std::uint16_t{0});
  Sum sum;
  sum.add({room, header});
  store(room + 10, sum.checksum_field());
  sent_ += length;
  return total;
}

}  // namespace surety
