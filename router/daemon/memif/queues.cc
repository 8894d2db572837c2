// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/queues.h"

#include <rte_memcpy.h>

#include <algorithm>

namespace surety::memif {

namespace {

constexpr Fault kIndex = "moved a ring's index by more than the ring's size";
constexpr Fault kOutside = "published a descriptor of bytes outside its regions";
constexpr Fault kUnfinished = "published an incomplete frame";
constexpr Fault kTooMany = "spread a frame over too many buffers";
constexpr Fault kTooSmall = "provided buffers that are too small for a frame";

// The bytes of a frame in order, over all its segments.
class Source {
 public:
  explicit Source(const rte_mbuf& frame) : segment_(&frame), left_(frame.pkt_len) {}
  std::uint32_t left() const { return left_; }

  // The next `n` bytes; n <= left().
  void copy(std::uint8_t* to, std::uint32_t n) {
    left_ -= n;
    while (n > segment_->data_len - at_) {
      const std::uint32_t part = segment_->data_len - at_;
      rte_memcpy(to, rte_pktmbuf_mtod_offset(segment_, const void*, at_), part);
      to += part;
      n -= part;
      at_ = 0;
      segment_ = segment_->next;
    }
    rte_memcpy(to, rte_pktmbuf_mtod_offset(segment_, const void*, at_), n);
    at_ += n;
  }

 private:
  const rte_mbuf* segment_;
  std::uint32_t at_ = 0, left_;
};

}  // namespace

ReceiveQueue::ReceiveQueue(const Memory& memory, const Lane& lane, rte_mempool& pool)
    : Queue(memory, lane),
      pool_(&pool),
      room_(static_cast<std::uint32_t>(rte_pktmbuf_data_room_size(&pool)) - RTE_PKTMBUF_HEADROOM),
      given_back_(static_cast<std::uint16_t>(-lane.ring.lead())) {
  give_back();
}

std::size_t ReceiveQueue::receive(std::span<rte_mbuf*> room) {
  if (!ring() || fault_ != nullptr) return 0;
  std::uint32_t slots = static_cast<std::uint16_t>(ring().peer() - next_);
  if (slots == 0) return 0;
  if (slots > ring().size()) return fail(kIndex);
  const auto most = static_cast<unsigned>(std::min<std::size_t>(room.size(), slots));
  if (rte_pktmbuf_alloc_bulk(pool_, room.data(), most) != 0) return 0;
  unsigned n = 0;
  // Frames that are too long count, too: they cost as much.
  for (unsigned frames = 0; frames < most && slots > 0 && fault_ == nullptr; ++frames) {
    const std::uint32_t used = take(*room[n], slots);
    slots -= used;
    n += used > 0 && room[n]->pkt_len <= room_ ? 1 : 0;
  }
  give_back();
  if (n < most) rte_pktmbuf_free_bulk(room.data() + n, most - n);
  return n;
}

// A frame of at most so many slots; how many it has, 0: the peer is at fault. One that is too long for the
// buffer has a length that is.
std::uint32_t ReceiveQueue::take(rte_mbuf& into, std::uint32_t slots) {
  auto* const to = rte_pktmbuf_mtod(&into, std::uint8_t*);
  std::uint32_t length = 0, used = 0;
  for (Descriptor d{.flags = Descriptor::kNext}; (d.flags & Descriptor::kNext) != 0;) {
    if (used == kMostSlots) return fail(kTooMany);
    if (used == slots) return fail(kUnfinished);
    d = ring().read(static_cast<std::uint16_t>(next_ + used++));
    const std::uint8_t* const from = memory_->at(d.region, d.offset, d.length);
    if (from == nullptr) return fail(kOutside);
    if (length > room_ || d.length > room_ - length) {
      length = room_ + 1;
    } else {
      rte_memcpy(to + length, from, d.length);
      length += d.length;
    }
  }
  oversized_ += length > room_ ? 1 : 0;
  into.pkt_len = length;
  into.data_len = static_cast<std::uint16_t>(length);
  next_ = static_cast<std::uint16_t>(next_ + used);
  return used;
}

// A client offers consumed buffers again, with descriptors of its own.
void ReceiveQueue::give_back() {
  if (ring().lead() != 0)
    for (; given_back_ != next_; ++given_back_) ring().write(given_back_, lane_.own_buffer(given_back_));
  ring().publish(static_cast<std::uint16_t>(next_ + ring().lead()));
}

std::size_t TransmitQueue::transmit(std::span<rte_mbuf*> burst) {
  if (!ring() || fault_ != nullptr) return 0;
  std::uint32_t slots = static_cast<std::uint16_t>(ring().peer() + ring().lead() - next_);
  if (slots > ring().size()) return fail(kIndex);
  unsigned n = 0;
  while (n < burst.size()) {
    const std::uint32_t used = put(*burst[n], slots);
    if (used == 0) break;
    slots -= used;
    ++n;
  }
  if (n == 0) return 0;
  ring().publish(next_);
  rte_pktmbuf_free_bulk(burst.data(), n);
  return n;
}

// Into at most so many slots; how many it takes, 0: it does not fit, for now or, by the peer's fault, for
// ever.
std::uint32_t TransmitQueue::put(const rte_mbuf& frame, std::uint32_t slots) {
  Source source(frame);
  std::uint32_t used = 0;
  do {
    if (used == kMostSlots) return fail(kTooSmall);
    if (used == slots) return slots == ring().size() ? fail(kTooSmall) : 0;
    const auto slot = static_cast<std::uint16_t>(next_ + used++);
    Descriptor d = lane_.buffer_size != 0 ? lane_.own_buffer(slot) : ring().read(slot);
    std::uint8_t* const to = memory_->at(d.region, d.offset, d.length);
    if (to == nullptr) return fail(kOutside);
    d.length = std::min(d.length, source.left());
    source.copy(to, d.length);
    d.flags = source.left() > 0 ? Descriptor::kNext : std::uint16_t{0};
    ring().write(slot, d);
  } while (source.left() > 0);
  next_ = static_cast<std::uint16_t>(next_ + used);
  return used;
}

}  // namespace surety::memif
