// SPDX-License-Identifier: BSD-3-Clause
// The data plane's record of an interface, half a cache line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/config.h"
#include "config/vlan_protocol.h"

namespace surety {

// An index below the number of ports is the port itself, i.e. its untagged frames. An index means the same in
// all snapshots that have the interface.
using InterfaceIndex = std::uint16_t;
inline constexpr InterfaceIndex kNoInterface = 0xffff;
inline constexpr std::size_t kMostInterfaces = 0xffff;  // ports, templates and their members together
inline constexpr std::uint16_t kNoFilter = 0xffff;

// The tags of an interface in one word, which packets and next hops carry, so that they mean the same after
// any reload.
class VlanTags {
 public:
  constexpr VlanTags() = default;  // none
  // `outer` is not 0; `inner` is 0 for one tag. `protocol`: the outer tag's, one of kTagProtocols; the inner
  // tag's is 802.1Q.
  constexpr VlanTags(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner)
      : word_(std::uint32_t{outer} | std::uint32_t{inner} << 12 |
              static_cast<std::uint32_t>(std::ranges::find(kTagProtocols, protocol) - kTagProtocols.begin())
                  << 24) {}
  static constexpr VlanTags of_word(std::uint32_t word) {
    VlanTags t;
    t.word_ = word;
    return t;
  }
  constexpr std::uint32_t word() const { return word_; }

  constexpr bool any() const { return word_ != 0; }
  constexpr std::uint16_t outer() const { return word_ & 0xfff; }
  constexpr std::uint16_t inner() const { return word_ >> 12 & 0xfff; }
  constexpr std::uint16_t protocol() const {
    return static_cast<std::uint16_t>(kProtocols >> (word_ >> 20 & 0x30));
  }
  constexpr std::uint8_t bytes() const { return static_cast<std::uint8_t>(4 * (any() + (inner() != 0))); }
  // The tags as in a frame, read as a little-endian word; with one tag, or none, the rest is undefined.
  constexpr std::uint64_t in_frame(std::uint8_t priority) const {
    const auto tag = [priority](std::uint16_t protocol, std::uint16_t id) {
      return std::uint64_t{
          __builtin_bswap32(std::uint32_t{protocol} << 16 | std::uint32_t{priority} << 13 | id)};
    };
    return tag(protocol(), outer()) | tag(kCustomerTag, inner()) << 32;
  }
  friend constexpr bool operator==(const VlanTags&, const VlanTags&) = default;

 private:
  // kTagProtocols in a register.
  static constexpr std::uint64_t kProtocols = std::uint64_t{kTagProtocols[3]} << 48 |
                                              std::uint64_t{kTagProtocols[2]} << 32 |
                                              std::uint64_t{kTagProtocols[1]} << 16 | kTagProtocols[0];
  std::uint32_t word_ = 0;
};

struct InterfaceRecord {
  VlanTags tags;
  std::uint8_t port = 0;
  std::uint16_t mtu = 0;         // bytes of the IP packet
  InterfaceIndex link = 0;       // interface with its addresses and device: a member's template, else itself
  std::uint16_t definition = 0;  // index into Config::interfaces; kNoInterface: a port itself
  std::uint16_t filter_in = kNoFilter, filter_out = kNoFilter;
  InterfaceIndex within = kNoInterface;  // where its frames arrive, if it is known by addresses
  config::Port::Trust trust = config::Port::Trust::customer;
  config::Port::SourceCheck source_check = config::Port::SourceCheck::strict;
  bool live = false;         // in the configuration; false: removed
  bool is_template = false;  // frames belong to its members only
  bool leased = false;       // trusted, without an IPv4 address: a DHCP client of the kernel may get one
  bool customer() const { return trust == config::Port::Trust::customer; }
};
static_assert(sizeof(InterfaceRecord) <= 32);

}  // namespace surety
