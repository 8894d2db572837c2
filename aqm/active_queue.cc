#include "aqm/active_queue.h"

#include <algorithm>

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : slots_(std::make_unique<Slot[]>(std::bit_ceil(params.limit + 1))),
      mask_(std::bit_ceil(params.limit + 1) - 1),
      limit_(params.limit) {
  if (params.rio) rio_.emplace(*params.rio, seed);
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
