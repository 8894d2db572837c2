// SPDX-License-Identifier: BSD-3-Clause
// Sends frames of the kernel and of the router itself: hands each to the worker that owns the port, so that
// it passes the port's queues and shaper. Every frame is counted once, by its result.
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstdint>
#include <functional>
#include <span>

#include "router/daemon/control/control_links.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/exception_counters.h"

namespace surety {

class NeighborGate;

class FrameSender {
 public:
  // Hands a frame to the worker that owns the port. False: no room; the caller keeps the frame.
  using Inject = std::function<bool(PortIndex, rte_mbuf*)>;

  // `pool`: of packet buffers. nullptr, or an empty `inject`: no frame can be sent.
  FrameSender(ControlLinks& links, NeighborGate& gate, rte_mempool* pool, Inject inject)
      : links_(links), gate_(gate), pool_(pool), inject_(std::move(inject)) {}

  // Sends an untagged frame by an interface, and counts it as `sent`, or as the reason for its drop.
  void send(InterfaceIndex interface, std::span<const std::uint8_t> frame, ExceptionResult sent);

  // Makes answers of the kernel, and ICMP errors, best effort, except to addresses in `neighbors:`.
  void set_own_dscp(std::span<std::uint8_t> frame) const;

 private:
  ExceptionResult try_to_send(InterfaceIndex interface, std::span<const std::uint8_t> frame,
                              ExceptionResult sent);

  ControlLinks& links_;
  NeighborGate& gate_;
  rte_mempool* pool_;
  Inject inject_;
};

}  // namespace surety
