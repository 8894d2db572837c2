// SPDX-License-Identifier: BSD-3-Clause
// Parses ordinary packets in a loop over a burst: parse() without its calls, which cost as much as the work.
#pragma once

#include "config/vlan_protocol.h"
#include "router/pipeline/wire/parse_ipv4.h"
#include "router/pipeline/wire/parse_ipv6.h"

namespace surety {

// A parser for one port; valid for a burst, with constants in registers.
class OrdinaryParser {
 public:
  explicit OrdinaryParser(const ParseContext& context)
      : station_(detail::own_mac(context) << 16), terms_(context) {}

  // Untagged, to the port's own MAC, TCP or UDP right behind an IP header without options, ordinary
  // addresses: true, and `out` is parse()'s, which forwards. false: use parse(); `out` is unspecified.
  [[gnu::always_inline]] bool operator()(const std::uint8_t* frame, std::size_t size,
                                         ParsedPacket& out) const {
    if (size < detail::kEthernetHeader + 20 || load<std::uint64_t>(frame) << 16 != station_) [[unlikely]]
      return false;
    const detail::Frame f{frame, size, detail::kEthernetHeader};
    const std::uint16_t type = load<std::uint16_t>(frame + 12);
    if (type == swap16(detail::kIpv4)) return detail::ordinary_ipv4(f, terms_, out);
    return type == swap16(detail::kIpv6) && detail::ordinary_ipv6(f, terms_, out);
  }

  // operator() behind one tag or two, the inner one of 802.1Q. `whose(protocol, outer id, inner id)`, 0 for
  // no inner tag, returns the packet's interface, or kNobody: false. It is called before anything is written,
  // since a half word stored after a whole one delays the next load of the whole.
  static constexpr std::uint16_t kNobody = 0xffff;
  template <class Whose>
  [[gnu::always_inline]] bool tagged(const std::uint8_t* frame, std::size_t size, ParsedPacket& out,
                                     const Whose& whose) const {
    constexpr std::size_t kTwoTags = detail::kEthernetHeader + 8;
    constexpr std::uint16_t kVlanId = 0x0fff;
    if (size < kTwoTags + 20 || load<std::uint64_t>(frame) << 16 != station_) [[unlikely]]
      return false;
    const std::uint16_t outer = load_be16(frame + 12);
    if (!is_vlan_tag(outer)) [[unlikely]]
      return false;
    const auto vlan = static_cast<std::uint16_t>(load_be16(frame + 14) & kVlanId);
    const bool two = load_be16(frame + 16) == kCustomerTag;
    const auto inner = static_cast<std::uint16_t>(two ? load_be16(frame + 18) & kVlanId : 0);
    const std::size_t l3 = two ? kTwoTags : detail::kEthernetHeader + 4;
    const std::uint16_t type = load_be16(frame + l3 - 2);
    const std::uint16_t interface = whose(outer, vlan, inner);
    if (interface == kNobody) [[unlikely]]
      return false;
    const detail::Frame f{frame, size, l3, vlan, inner};
    detail::KeyTerms terms = terms_;
    terms.interface = static_cast<std::uint64_t>(interface) << 48;
    if (type == detail::kIpv4) return detail::ordinary_ipv4(f, terms, out);
    return type == detail::kIpv6 && detail::ordinary_ipv6(f, terms, out);
  }

 private:
  std::uint64_t station_;
  detail::KeyTerms terms_;
};

}  // namespace surety
