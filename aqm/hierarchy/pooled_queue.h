// SPDX-License-Identifier: BSD-3-Clause
// One class's queue of an interface: a FIFO of chunks of a common pool, with RIO or tail drop, and its
// counters, in four cache lines.
//
// Guarantees those of ActiveQueue (active_queue.h), by the same decisions (queue_decision.h). A queue is full
// at its limit, or when the pool has no chunk for it (packet_pool.h); both are `overflow`. Parameters are not
// held here but handed to each call: they are shared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "aqm/hierarchy/packet_pool.h"
#include "aqm/hierarchy/share_params.h"
#include "aqm/queue_decision.h"
#include "aqm/sojourn_histogram.h"

namespace surety {

// Sojourn times of packets that leave at the same time: those that came together are counted together,
// whichever queues they come from. Ticks are 256 ns; 31 bits of them are 9 minutes.
class SojournRun {
 public:
  static constexpr int kTickShift = 8;
  static std::uint32_t ticks(Time now) {
    return static_cast<std::uint32_t>(now.time_since_epoch().count() >> kTickShift);
  }

  SojournRun(SojournHistogram& all, Time now) : all_(all), present_(ticks(now)), enqueued_(present_) {}
  ~SojournRun() { flush(); }
  SojournRun(const SojournRun&) = delete;
  SojournRun& operator=(const SojournRun&) = delete;

  void add(std::uint32_t enqueued) {
    if (enqueued != enqueued_) {
      flush();
      enqueued_ = enqueued;
    }
    ++packets_;
  }

 private:
  void flush() {
    if (packets_ == 0) return;
    const auto passed = static_cast<std::int32_t>(present_ - enqueued_);
    all_.add(Duration(std::int64_t{std::max(passed, 0)} << kTickShift), std::exchange(packets_, 0));
  }

  SojournHistogram& all_;
  std::uint32_t present_, enqueued_;
  std::uint64_t packets_ = 0;
};

class alignas(64) PooledQueue {
 public:
  static constexpr std::uint32_t kLines = 4;

  PooledQueue(const InterfaceParams::Class& params, std::uint64_t seed, Time now)
      : deficit(params.quantum), decision_(seed) {
    cap_.reset(params.cap, now);
  }

  // Inlined into the burst loop: the call, and its result through memory, cost 12 to 24 cycles.
  [[gnu::always_inline]] ArrivalResult enqueue(const InterfaceParams::Class& params, PacketPool& pool,
                                               const Packet& packet, bool ecn_capable, Time now) {
    const Admission admission = decision_.arrive(
        params, content(), packet.precedence, ecn_capable, [&] { return no_chunk(params, pool); }, now);
    if (admission.admitted()) {
      const std::size_t p = packet.precedence != Precedence::in;
      push(params, pool, packet, now);
      ++admitted_[p];
      ++waiting_[p].packets;
      waiting_[p].counted += QueueMeasure::counted(packet.length);
      if (!admission.marked() & (packet.precedence != Precedence::red)) [[likely]]
        return {DropReason::none, false, admission.event};
    }
    note(admission, packet.precedence);
    return admission.result();
  }

  // Takes out packets as long as there are some, `out` has room and `more` of the last one's length is true;
  // returns how many. Not when empty. `sojourn` gets the arrival time of each.
  template <class More>
  std::size_t dequeue(const InterfaceParams::Class& params, PacketPool& pool, std::span<Packet> out, Time now,
                      SojournRun& sojourn, More more);

  // Takes over other parameters: packets, counters, and the averages of a RIO that stays are kept; a new RIO
  // begins empty, with `seed`.
  void adopt(const InterfaceParams::Class& before, const InterfaceParams::Class& after, PacketPool& pool,
             std::uint64_t seed, Time now);
  void settle(const InterfaceParams::Class& params, Time now) { decision_.settle(params, content(), now); }

  // Probability that enqueue() would refuse or mark a packet that arrives now.
  double refusal(const InterfaceParams::Class& params, const PacketPool& pool, Precedence precedence,
                 Time now) const {
    return decision_.refusal(params, content(), precedence, no_chunk(params, pool), now);
  }

  bool empty() const { return front_ == kNone; }
  std::uint32_t depth() const {  // packets
    return waiting_[0].packets + waiting_[1].packets;
  }
  std::uint32_t counted() const {  // bytes of all packets, at most 1500 of each
    return waiting_[0].counted + waiting_[1].counted;
  }
  bool congested(const InterfaceParams::Class& params) const { return decision_.congested(params); }
  // Chunks that hold its packets: all but the first and the last of them are full.
  std::uint32_t chunks() const { return empty() ? 0 : chunks_of(slot(front_) + depth()); }
  // Counts like ActiveQueue.
  QueueCounters counters(Precedence p) const;
  QueueStatus status(const InterfaceParams::Class& params) const {
    return decision_.status(params, content(), counters(Precedence::in), counters(Precedence::out),
                            counters(Precedence::red));
  }

  // Address of the chunk that gets the next packet, as long as it has room; not when empty.
  const void* end_of(const PacketPool& pool) const { return &pool[chunk(end_)]; }
  SURETY_PREFETCHES void prefetch_front(const PacketPool& pool) const {
    if (!empty()) pool.prefetch(chunk(front_));
  }

  // State of the scheduler: the rest of a weighted class's quantum, bytes; the class's cap.
  std::int32_t deficit;
  TokenBucket& cap() { return cap_; }
  const TokenBucket& cap() const { return cap_; }

 private:
  // Position of a packet: its chunk, and the place in it in the last two bits. kPackets: after the chunk's
  // last one.
  using Place = std::uint32_t;
  static constexpr Place kNone = ~Place{0};  // kPackets of no chunk
  static ChunkNumber chunk(Place p) { return p >> 2; }
  static std::uint32_t slot(Place p) { return p & 3; }
  static Place first_of(ChunkNumber n) { return n << 2; }
  struct Waiting {
    std::uint32_t packets = 0;
    std::uint32_t counted = 0;  // bytes, as queue_measure.h counts them: of two million packets
  };
  struct Refusals {
    std::uint64_t early_drops = 0, forced_drops = 0, overflow_drops = 0, ecn_marks = 0;
  };

  static std::uint32_t chunks_of(std::uint32_t packets) {
    return (packets + Chunk::kPackets - 1) / Chunk::kPackets;
  }
  QueueContent content() const {
    const Waiting& in = waiting_[0];
    return {depth(), in.packets, counted(), in.counted};
  }
  // The next packet needs a chunk (an empty queue has none), and the pool has none for this queue.
  bool no_chunk(const InterfaceParams::Class& params, const PacketPool& pool) const {
    return slot(end_) == Chunk::kPackets && !pool.has_room(chunks(), params.share);
  }

  void push(const InterfaceParams::Class& params, PacketPool& pool, const Packet& packet, Time now) {
    if (slot(end_) == Chunk::kPackets) {
      const ChunkNumber fresh = pool.take(chunks(), params.share);
      if (empty())
        front_ = first_of(fresh);
      else
        pool[chunk(end_)].next = fresh;
      end_ = first_of(fresh);
    }
    Chunk& last = pool[chunk(end_)];
    last.packets[slot(end_)] = packet;
    last.enqueued[slot(end_)] = SojournRun::ticks(now);
    ++end_;
  }

  // All packets of the first chunk are out, and the others hold `packets`.
  void leave_chunk(const InterfaceParams::Class& params, PacketPool& pool, std::uint32_t packets) {
    const ChunkNumber left = chunk(front_);
    const bool last = left == chunk(end_);
    front_ = last ? kNone : first_of(pool[left].next);
    if (last) end_ = kNone;
    pool.give(left, 1 + chunks_of(packets), params.share);
  }
  // Not inlined: saving its registers would cost every arrival.
  [[gnu::noinline]] void note(Admission admission, Precedence precedence) {
    admission.count(refusals_[index(precedence)]);
    const bool red = admission.admitted() & (precedence == Precedence::red);
    red_admitted_ += red;
    red_waiting_ += red;
  }
  // `p`: IN, or OUT for all others.
  void departed(Precedence p, std::uint64_t packets, std::uint64_t bytes, std::uint64_t counted) {
    waiting_[index(p)].packets -= static_cast<std::uint32_t>(packets);
    waiting_[index(p)].counted -= static_cast<std::uint32_t>(counted);
    departed_bytes_[index(p)] += bytes;
  }

  // Fields that each packet touches:
  Place front_ = kNone, end_ = kNone;  // place of the first packet, and of the next arrival
  std::uint32_t red_waiting_ = 0;      // packets
  // IN, and all others:
  std::array<std::uint64_t, 2> admitted_{}, departed_bytes_{};
  std::array<Waiting, 2> waiting_{};
  // Fields that each arrival touches if there is RIO:
  QueueDecision decision_;
  std::array<Refusals, kDropPrecedences> refusals_{};
  std::uint64_t red_admitted_ = 0, red_departed_bytes_ = 0;
  TokenBucket cap_;
};
static_assert(sizeof(PooledQueue) == 64 * PooledQueue::kLines);

// Counted in registers, as ActiveQueue does.
template <class More>
std::size_t PooledQueue::dequeue(const InterfaceParams::Class& params, PacketPool& pool,
                                 std::span<Packet> out, Time now, SojournRun& sojourn, More more) {
  std::uint64_t ins = 0, in_bytes = 0, all_bytes = 0, in_counted = 0, all_counted = 0;
  std::size_t n = 0;
  for (bool go = true; go && n < out.size();) {
    const Chunk& first = pool[chunk(front_)];
    const bool last = chunk(front_) == chunk(end_);
    if (!last) pool.prefetch(first.next);
    std::uint32_t at = slot(front_);
    const std::uint32_t end = last ? slot(end_) : Chunk::kPackets;
    for (; at < end && go && n < out.size(); ++at) {
      const Packet& packet = out[n++] = first.packets[at];
      const std::uint64_t in = packet.precedence == Precedence::in, length = packet.length;
      ins += in;
      in_bytes += -in & length;
      all_bytes += length;
      const std::uint64_t counts = QueueMeasure::counted(packet.length);
      in_counted += -in & counts;
      all_counted += counts;
      sojourn.add(first.enqueued[at]);
      go = more(packet.length);
    }
    front_ = first_of(chunk(front_)) + at;
    if (at < end) break;
    leave_chunk(params, pool, depth() - static_cast<std::uint32_t>(n));
    if (last) break;
  }
  departed(Precedence::in, ins, in_bytes, in_counted);
  departed(Precedence::out, n - ins, all_bytes - in_bytes, all_counted - in_counted);
  decision_.depart(params, ins > 0 ? Precedence::in : Precedence::out, n, content(), now);
  if (red_waiting_ > 0) [[unlikely]] {
    for (const Packet& p : out.first(n)) {
      if (p.precedence != Precedence::red) continue;
      --red_waiting_;
      red_departed_bytes_ += p.length;
    }
  }
  return n;
}

}  // namespace surety
