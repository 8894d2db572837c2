// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/derived_mac.h"

#include <algorithm>
#include <cstdint>

namespace surety {

namespace {

// FNV-1a (draft-eastlake-fnv), 64 bits.
constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;

std::uint64_t hash(std::uint64_t h, std::string_view text) {
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * kPrime;
  return h;
}

bool has_address(config::Device::Kind kind) {
  using Kind = config::Device::Kind;
  return kind != Kind::memif && kind != Kind::virtio_user && kind != Kind::vhost && kind != Kind::tap;
}

}  // namespace

MacAddress derived_mac(std::string_view router, std::string_view port) {
  std::uint64_t h = hash(hash(hash(kBasis, router), std::string_view("\0", 1)), port);
  h ^= h >> 48;  // the address takes the low 48 bits
  MacAddress mac{};
  std::generate(mac.rbegin(), mac.rend(), [&h] {
    const auto byte = static_cast<std::uint8_t>(h);
    h >>= 8;
    return byte;
  });
  mac[0] = static_cast<std::uint8_t>((mac[0] & 0xfc) | 0x02);
  return mac;
}

void derive_mac(config::Port& port, std::string_view router) {
  if (!port.mac && !has_address(port.device.kind)) port.mac = derived_mac(router, port.name);
}

void derive_macs(config::Config& config) {
  for (auto& port : config.ports) derive_mac(port, config.router.name);
}

}  // namespace surety
