// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/enhanced_token_bucket.h"

#include <algorithm>
#include <limits>

namespace surety {

HoldingPool::HoldingPool(std::uint32_t packets) : nodes_(packets + 1), lists_(packets + 1) {
  for (std::uint32_t i = packets; i > 0; --i) {
    nodes_[i].next = free_node_;
    lists_[i].head = free_list_;
    free_node_ = free_list_ = i;
  }
}

HoldingPool::Queue HoldingPool::open(FlowId flow) {
  if (free_node_ == 0 || free_list_ == 0) return 0;
  const Queue q = free_list_;
  free_list_ = lists_[q].head;
  lists_[q] = {0, 0, 0, 0, flow};
  return q;
}

void HoldingPool::close(Queue q) {
  lists_[q] = {free_list_, 0, 0, 0, kNoFlow};
  free_list_ = q;
}

bool HoldingPool::push(Queue q, const Packet& p) {
  const std::uint32_t node = free_node_;
  if (node == 0) return false;
  free_node_ = nodes_[node].next;
  nodes_[node] = {p, 0};
  List& list = lists_[q];
  (list.size == 0 ? list.head : nodes_[list.tail].next) = node;
  list.tail = node;
  ++list.size;
  list.bytes += p.length;
  ++held_;
  return true;
}

Packet HoldingPool::pop(Queue q) {
  List& list = lists_[q];
  const std::uint32_t node = list.head;
  list.head = nodes_[node].next;
  --list.size;
  list.bytes -= nodes_[node].packet.length;
  --held_;
  nodes_[node].next = free_node_;
  free_node_ = node;
  return nodes_[node].packet;
}

void EnhancedTokenBucket::reset(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, Time now,
                                Time alpha_now) {
  s.in.reset(p.in, now);
  s.out.reset(p.out, alpha_now);
  s.held = 0;
  s.out_backlog = 0;
}

namespace {
constexpr std::uint64_t kUsualPacket = 500;  // bytes; so many packets, if they are small

// The backlog without which no packet leaves OUT; zero: none is needed.
Duration needed_backlog(const EnhancedTokenBucketState& s) {
  return s.out_backlog * EnhancedTokenBucket::kUnit;
}

// The limit of a buffer, in bytes and packets.
struct Limit {
  std::uint64_t bytes;
  std::uint32_t packets;
  bool full(std::uint64_t b, std::uint32_t n) const { return n >= packets || b > bytes; }
};

// A limit by time is the bytes that the buckets bring while the buffer may delay a packet, and at least four
// full packets, since TCP detects a loss by the three that follow it.
Limit limit(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, const AlphaClock& alpha) {
  constexpr std::uint64_t kLeast = 4 * kDefaultNominalPacket.count();
  if (p.buffer_bytes == 0) return {std::numeric_limits<std::uint64_t>::max(), p.buffer};
  const std::uint64_t out = std::uint64_t{p.buffer_bytes} * alpha.alpha().millionths() / 1'000'000;
  Limit l{std::max(kLeast, p.buffer_bytes + out), p.buffer};
  if (!EnhancedTokenBucket::needs_no_backlog(s, alpha)) {
    const double seconds = 2e-9 * static_cast<double>(needed_backlog(s).count());
    const auto bytes =
        static_cast<std::uint64_t>(seconds * static_cast<double>(p.in.rate().bits_per_second()) / 8);
    l.bytes = std::max(l.bytes, bytes);
    l.packets = std::max(l.packets, static_cast<std::uint32_t>(bytes / kUsualPacket));
  }
  return l;
}
}  // namespace

// The surplus of a packet's interval counts by the multiples of kSurplus that lie in it: exact in the long
// run, without a remainder to store.
[[gnu::noinline]] void EnhancedTokenBucket::adapt(EnhancedTokenBucketState& s,
                                                  const EnhancedTokenBucketParams& p, Time now) {
  const Time last = s.in.last();
  if (!p.out_from_backlog() || now <= last) return;
  const auto multiples = [](Time from, Time to, Duration of) {
    return to.time_since_epoch() / of - from.time_since_epoch() / of;
  };
  std::int64_t units = s.out_backlog;
  // A long round trip has to be learnt before it has cost much: from some units on they come twice as fast.
  const Duration surplus = units < 2 * kFree ? 2 * kSurplus : kSurplus;
  if (now - last <= kPause) units += multiples(now - s.in.surplus(p.in, now), now, surplus);
  units -= multiples(last, now, kForget);
  s.out_backlog = static_cast<std::uint32_t>(std::clamp<std::int64_t>(units, 0, 255)) & 255;
}

bool EnhancedTokenBucket::may_out(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                  const AlphaClock& alpha, const HoldingPool& pool) {
  if (needs_no_backlog(s, alpha) || pool.held() >= pool.capacity()) return true;
  const std::uint32_t packets = pool.size(s.held), bytes = pool.bytes(s.held);
  // A buffer that was full has lost its head when release() looks.
  return limit(s, p, alpha).full(bytes + 2 * kDefaultNominalPacket.count(), packets + 1) ||
         p.in.time_of(p.in.cost(bytes, packets)) >= needed_backlog(s);
}

EtbVerdict EnhancedTokenBucket::room(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                     std::uint32_t length, const AlphaClock& alpha, const HoldingPool& pool,
                                     bool may_wait) {
  const std::uint32_t packets = s.held != 0 ? pool.size(s.held) : 0;
  const std::uint64_t bytes = (s.held != 0 ? pool.bytes(s.held) : 0) + std::uint64_t{length};
  if (limit(s, p, alpha).full(bytes, packets)) return EtbVerdict::drop_buffer;
  return may_wait && pool.held() < pool.capacity() ? EtbVerdict::hold : EtbVerdict::drop_buffer_total;
}

std::size_t EnhancedTokenBucket::release(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                         Time now, const AlphaClock& alpha, HoldingPool& pool,
                                         std::span<Packet> out) {
  std::size_t n = 0;
  while (s.held != 0 && n < out.size()) {
    const std::uint32_t length = pool.head(s.held).length;
    const bool in = take_in(s, p, length, now);
    const bool out_next = !in && may_out(s, p, alpha, pool) && take_out(s, p, length, alpha);
    if (!in && !out_next) break;
    out[n++] = pop(s, pool, in ? Precedence::in : Precedence::out);
  }
  return n;
}

std::size_t EnhancedTokenBucket::flush(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                       HoldingPool& pool, std::span<Packet> out) {
  std::size_t n = 0;
  while (s.held != 0 && n < out.size()) {
    s.out.charge(p.out.cost(pool.head(s.held).length));
    out[n++] = pop(s, pool, Precedence::out);
  }
  return n;
}

Packet EnhancedTokenBucket::pop(EnhancedTokenBucketState& s, HoldingPool& pool, Precedence precedence) {
  Packet packet = pool.pop(s.held);
  packet.precedence = precedence;
  if (pool.size(s.held) == 0) {
    pool.close(s.held);
    s.held = 0;
  }
  return packet;
}

Time EnhancedTokenBucket::next_release(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                       Time now, const AlphaClock& alpha, const HoldingPool& pool) {
  if (s.held == 0) return kNever;
  const std::uint32_t length = pool.head(s.held).length;
  const Time in = s.in.ready(p.in, p.in.cost(length));
  const Time out = may_out(s, p, alpha, pool) ? alpha.when(s.out.ready(p.out, p.out.cost(length))) : kNever;
  return std::max(std::min(in, out), now + Duration(1));
}

}  // namespace surety
