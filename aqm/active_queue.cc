#include "aqm/active_queue.h"

#include <algorithm>
#include <cstring>

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : slots_(std::make_unique<Slot[]>(std::bit_ceil(params.limit + 1))),
      mask_(std::bit_ceil(params.limit + 1) - 1),
      limit_(params.limit) {
  if (params.rio) rio_.emplace(*params.rio, seed);
}

// What each arrival changes, in a local copy: members would be read back by each packet from where the one
// before it has just written them, which is as slow as all the rest.
[[gnu::noinline]] std::size_t ActiveQueue::enqueue(std::span<const Packet> packets,
                                                   std::span<const bool> ecn_capable,
                                                   std::span<Notice> notices, Time now) {
  std::size_t noticed = 0;
  if (!rio_) {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], false, now)};
      noticed += notices[noticed].result.drop != DropReason::none;
    }
    return noticed;
  }
  std::size_t i = 0;
  while ((i += accept(packets.subspan(i), now)) < packets.size()) {
    notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], ecn_capable[i], now)};
    const Result& result = notices[noticed].result;
    noticed += (result.drop != DropReason::none) | result.mark | (result.event != CongestionEvent::none);
    ++i;
  }
  return noticed;
}

std::size_t ActiveQueue::accept(std::span<const Packet> packets, Time now) {
  Rio rio = *rio_;
  std::uint32_t depth = this->depth(), in_depth = in_depth_, ins = 0;
  const std::uint32_t head = head_, mask = mask_, limit = limit_;
  Slot* const slots = slots_.get();
  std::size_t n = 0;
  for (const Packet& packet : packets) {
    if (depth >= limit || !rio.accept(packet.precedence, in_depth, depth)) break;
    Slot& slot = slots[(head + depth++) & mask];
    std::memcpy(&slot.packet, &packet, sizeof packet);  // whole, as dequeue() reads it
    slot.enqueued = now;
    const bool in = packet.precedence == Precedence::in;
    in_depth += in;
    ins += in;
    ++n;
  }
  if (n == 0) return 0;
  *rio_ = rio;
  if (ins < n) detector_.out_arrival(false);  // an OUT packet that RIO accepts found no congestion
  tail_ = head + depth;
  in_depth_ = in_depth;
  counters_[index(Precedence::in)].arrivals += ins;
  counters_[index(Precedence::out)].arrivals += n - ins;
  return n;
}

void ActiveQueue::dequeue(std::span<Packet> out, Time now) {
  // Counted in registers: memory that each packet would read back just after the last one wrote it is slow.
  std::array<std::uint64_t, kPrecedences> packets{}, bytes{};
  Time enqueued = now;
  std::uint64_t run = 0;  // packets that came at `enqueued`
  for (Packet& p : out) {
    const Slot& slot = slots_[head_++ & mask_];
    p = slot.packet;
    const std::uint64_t is_in = p.precedence == Precedence::in;
    packets[index(Precedence::in)] += is_in;
    bytes[index(Precedence::in)] += is_in * p.length;
    bytes[index(Precedence::out)] += p.length;
    if (slot.enqueued != enqueued) {
      if (run > 0) sojourn_.add(now - enqueued, run);
      enqueued = slot.enqueued;
      run = 0;
    }
    ++run;
  }
  if (run > 0) sojourn_.add(now - enqueued, run);
  packets[index(Precedence::out)] = out.size() - packets[index(Precedence::in)];
  bytes[index(Precedence::out)] -= bytes[index(Precedence::in)];
  in_depth_ -= static_cast<std::uint32_t>(packets[index(Precedence::in)]);
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    counters_[index(p)].departures += packets[index(p)];
    counters_[index(p)].departed_bytes += bytes[index(p)];
    if (rio_ && packets[index(p)] > 0) rio_->depart(p, in_depth_, depth(), now);
  }
}

}  // namespace surety
