// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_hash.h"

#include "conditioners/rng.h"
#include "config/vlan_protocol.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

FlowHasher::FlowHasher(std::uint64_t seed) {
  Rng rng(seed);
  for (auto& s : s_) {
    const std::uint64_t high = rng.next();
    s = high << 32 | rng.next();
  }
}

Customer CustomerHasher::operator()(const std::uint8_t* frame, std::size_t l3_offset,
                                    std::uint8_t port) const {
  constexpr std::size_t kEthernet = 14, kTag = 4;
  constexpr std::uint32_t kVlanId = 0x0fff;
  std::uint64_t tags = 0;
  if (is_vlan_tag(load_be16(frame + kEthernet - 2))) {
    tags = std::uint64_t{load_be16(frame + kEthernet)} << 12 & kVlanId << 12;
    if (l3_offset == kEthernet + 2 * kTag) tags |= load_be16(frame + kEthernet + kTag) & kVlanId;
  }
  if (tags != 0 || l3_offset == 0) return of(tags, 0, false, port);
  const std::uint8_t* ip = frame + l3_offset;
  if (is_v6(ip)) return of(0, load<std::uint64_t>(ip + 8), true, port);
  return of(0, load<std::uint32_t>(ip + 12), false, port);
}

}  // namespace surety
