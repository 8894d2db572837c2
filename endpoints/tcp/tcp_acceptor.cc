// SPDX-License-Identifier: BSD-3-Clause
#include <new>

#include "endpoints/tcp/tcp_receiver.h"

namespace surety::endpoints {

Refusal TcpAcceptor::check_syn(const IpPacket& first) {
  tcp::Segment s;
  if (const Refusal r = tcp::read(first, s); r != Refusal::none) return r;
  return s.has(tcp::kSyn) && !s.has(tcp::kAck) ? Refusal::none : Refusal::state;
}

Engine* TcpAcceptor::accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                            Refusal& refusal) {
  refusal = check_syn(first);
  if (refusal != Refusal::none) return nullptr;
  const std::uint64_t seed = std::uint64_t{rng_.next()} << 32 | rng_.next();
  return new (room) TcpReceiver(*params_, tuple, first, now, seed);
}

}  // namespace surety::endpoints
