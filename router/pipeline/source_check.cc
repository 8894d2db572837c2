// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/source_check.h"

#include "router/pipeline/signal_path.h"

namespace surety {

bool SourceCheck::accepts(const ParsedPacket& packet) const {
  const InterfaceIndex from = packet.interface;
  const Mode mode = (*snapshot_->interfaces)[from].source_check;
  if (mode == Mode::off) return true;
  const RouteTarget target = route_of(fib_, source_of(packet.key));
  if (next_hops_.get(target.first).state == NextHopEntry::State::local) return false;
  return any_way(target, next_hops_, [&](InterfaceIndex i) { return mode == Mode::loose || i == from; });
}

void SourceCheck::run(Burst& v, PortIndex port, PacketDisposal& disposal) const {
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (accepts(v.header[i]))
      v.keep(i, kept++);
    else
      disposal.drop_and_report(v.mbuf[i], port, DropReason::source_check, Refusal::source, v.header[i]);
  }
  v.size = kept;
}

}  // namespace surety
