// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/frame_sender.h"

#include <algorithm>
#include <cstring>

#include "router/daemon/control/best_effort.h"
#include "router/daemon/control/neighbor_gate.h"
#include "router/pipeline/flows/mbuf_notes.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

void FrameSender::send(InterfaceIndex interface, std::span<const std::uint8_t> frame, ExceptionResult sent) {
  links_.count((*links_.interfaces())[interface].port, try_to_send(interface, frame, sent));
}

ExceptionResult FrameSender::try_to_send(InterfaceIndex interface, std::span<const std::uint8_t> frame,
                                         ExceptionResult sent) {
  const InterfaceRecord& r = (*links_.interfaces())[interface];
  const bool kernels = sent == ExceptionResult::from_kernel || sent == ExceptionResult::from_twin;
  if (pool_ == nullptr || !inject_) return ExceptionResult::no_buffer;
  rte_mbuf* m = rte_pktmbuf_alloc(pool_);
  if (m == nullptr) return ExceptionResult::no_buffer;
  char* const room =
      frame.size() <= UINT16_MAX ? rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size())) : nullptr;
  if (room != nullptr) {
    std::memcpy(room, frame.data(), frame.size());
    if (kernels && is_ip(frame)) set_own_dscp({reinterpret_cast<std::uint8_t*>(room), frame.size()});
    if (r.tags.any()) set_interface(m, interface, r.tags);
    if (inject_(r.port, m)) {
      gate_.sent(r.port);
      return sent;
    }
  }
  rte_pktmbuf_free(m);
  return room == nullptr ? ExceptionResult::oversized : ExceptionResult::ring_full;
}

void FrameSender::set_own_dscp(std::span<std::uint8_t> frame) const {
  const auto ip = frame.subspan(kEthernetHeader);
  if (!is_answer(ip)) return;
  const IpAddress to = destination_of(ip.data());
  const auto& fixed = links_.config().neighbors;
  if (std::ranges::find(fixed, to, &config::Neighbor::address) == fixed.end()) clear_dscp(ip);
}

}  // namespace surety
