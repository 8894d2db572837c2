// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/arp.h"

namespace surety::arp {

namespace {

// Hardware type 1, protocol 0x0800, lengths 6 and 4.
constexpr std::uint64_t kPrefix = 0x0001'0800'0604;

}  // namespace

std::optional<Message> read(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kLength || load_be64(bytes.data()) >> 16 != kPrefix) return std::nullopt;
  const std::uint8_t* const p = bytes.data();
  const auto operation = static_cast<Operation>(load_be16(p + 6));
  const bool group = (p[8] & 1) != 0;
  if (group || (operation != Operation::request && operation != Operation::reply)) return std::nullopt;
  return Message{operation, read_mac(p + 8), read_mac(p + 18), IpAddress::v4(load<std::uint32_t>(p + 14)),
                 IpAddress::v4(load<std::uint32_t>(p + 24))};
}

void write(std::uint8_t* frame, const MacAddress& to, const Message& m) {
  std::uint8_t* const p = write_ethernet(frame, to, m.sender_mac, kArpType);
  store(p, __builtin_bswap64(kPrefix << 16 | static_cast<std::uint64_t>(m.operation)));
  std::memcpy(p + 8, m.sender_mac.data(), 6);
  store(p + 14, m.sender.v4_as_loaded());
  std::memcpy(p + 18, m.target_mac.data(), 6);
  store(p + 24, m.target.v4_as_loaded());
}

}  // namespace surety::arp
