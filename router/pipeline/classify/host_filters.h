// SPDX-License-Identifier: BSD-3-Clause
// The filter `in` of a packet: that of the host that it comes from, if its interface is known by addresses
// and has one, else that of the link by which it arrives.
//
// Immutable, part of a Snapshot.
#pragma once

#include <unordered_map>

#include "router/pipeline/interfaces/interfaces.h"
#include "router/pipeline/interfaces/prefix_map.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

class HostFilters {
 public:
  // `interfaces` must be those of `config`, and outlive this.
  HostFilters(const config::Config& config, const Interfaces& interfaces);

  // Index into Config::filters, or kNoFilter.
  std::uint16_t filter_in(const ParsedPacket& packet) const {
    const std::uint16_t of_link = (*interfaces_)[packet.interface].filter_in;
    const bool tag_of_port = packet.vlan != 0 && packet.interface < interfaces_->ports();
    if (links_.empty() || tag_of_port) [[likely]]
      return of_link;
    const auto link = links_.find(packet.interface);
    return link == links_.end() ? of_link
                                : static_cast<std::uint16_t>(link->second.of(source_of(packet.key)));
  }

 private:
  const Interfaces* interfaces_;
  std::unordered_map<InterfaceIndex, PrefixMap> links_;  // links with hosts that have a filter
};

}  // namespace surety
