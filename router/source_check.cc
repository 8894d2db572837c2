// SPDX-License-Identifier: BSD-3-Clause
#include "router/source_check.h"

#include "router/signal_path.h"

namespace surety {

bool SourceCheck::accepts(const ParsedPacket& packet, PortIndex port) const {
  const WayOut way = way_out(fib_, next_hops_, source_of(packet.key));
  const std::uint32_t wanted = mode(port) == config::Port::SourceCheck::strict ? 1u << port : ~0u;
  return !way.local && (way.ports & wanted) != 0;
}

void SourceCheck::run(Vector& v, PortIndex port, PacketDisposal& disposal) const {
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (accepts(v.header[i], port))
      v.keep(i, kept++);
    else
      disposal.drop(v.mbuf[i], port, DropReason::source_check);
  }
  v.size = kept;
}

}  // namespace surety
