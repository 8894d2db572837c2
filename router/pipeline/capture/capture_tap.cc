// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/capture_tap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "router/pipeline/capture/frame_fields.h"

namespace surety {
namespace {

// Ring of a worker: packets of a tenth of a second at the usual rate, and at most this memory.
constexpr std::uint32_t kMostPackets = 4096, kMostBytes = 8 << 20;

std::uint32_t packets_of(std::uint32_t snap) {
  return std::bit_floor(std::clamp(kMostBytes / (snap + 32), 64u, kMostPackets));
}

// A token is a packet.
TokenBucketParams rate_of(std::uint32_t packets_per_second) {
  return {Rate::bytes_per_second(packets_per_second), Depth::bytes(packets_per_second / 20 + 1)};
}

std::span<const std::uint8_t> frame_of(const rte_mbuf* m) {
  return {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len};
}

}  // namespace

CaptureTap::CaptureTap(std::shared_ptr<const CaptureWish> wish, Time now)
    : wish_(std::move(wish)),
      rate_(rate_of(wish_->rate)),
      ring_(packets_of(wish_->snap), wish_->snap),
      now_(now) {
  allowed_.reset(rate_, now);
}

void CaptureTap::frames(std::span<rte_mbuf* const> burst, std::uint8_t port, pcapng::Direction direction) {
  if (wish_->drops) return;
  for (const rte_mbuf* m : burst)
    if (is_wanted(frame_of(m), port)) copy(m, port, direction, DropReason::none);
}

void CaptureTap::dropped(const rte_mbuf* m, std::uint8_t port, DropReason reason) {
  if (!wish_->drops || !wish_->reasons[static_cast<std::size_t>(reason)]) return;
  if (wish_->matches_all || matches(wish_->match, fields_of(frame_of(m))))
    copy(m, port, pcapng::Direction::unknown, reason);
}

bool CaptureTap::is_wanted(std::span<const std::uint8_t> frame, std::uint8_t port) const {
  const bool all = (wish_->ports >> port & 1) != 0;
  if (all && wish_->matches_all) return true;
  if (!all && wish_->interfaces.empty()) return false;
  const FrameFields f = fields_of(frame);
  if (!all) {
    InterfaceIndex i = port;
    if (f.vlan != 0) i = wish_->known->find(port, f.tag_protocol, f.vlan, f.inner_vlan);
    if (i == kNoInterface && f.tag_protocol == kCustomerTag)  // some devices forget which it was
      i = wish_->known->find(port, kServiceTag, f.vlan, f.inner_vlan);
    if (i >= wish_->interfaces.size() || wish_->interfaces[i] == 0) return false;
  }
  return wish_->matches_all || matches(wish_->match, f);
}

void CaptureTap::copy(const rte_mbuf* m, std::uint8_t port, pcapng::Direction direction, DropReason reason) {
  allowed_.fill(rate_, now_);
  if (!allowed_.take(rate_, rate_.cost(1))) return add(beyond_rate_);
  CapturedPacket* const to = ring_.claim();
  if (to == nullptr) return add(no_room_);
  const std::uint32_t captured = std::min<std::uint32_t>(m->data_len, ring_.snap());
  *to = {now_.time_since_epoch().count(),  m->pkt_len, captured, port, direction,
         static_cast<std::uint8_t>(reason)};
  std::memcpy(PacketRing::bytes(to), rte_pktmbuf_mtod(m, const void*), captured);
  ring_.commit();
}

}  // namespace surety
