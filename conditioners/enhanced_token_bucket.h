// SPDX-License-Identifier: BSD-3-Clause
// The CSA paper's enhanced token bucket (Fig. 5 there): an input buffer, an in-bucket filled at r and an
// out-bucket filled at alpha*r.
//
// OUT from a backlog (ours, not the paper's; EnhancedTokenBucketParams::out_from_backlog()): a TCP that loses
// an OUT packet halves its window and sends less than r until the window is back, unless its backlog in the
// input buffer was as long as the round trip: then half of the window still fills the path. The bucket does
// not measure round trips. It counts the surplus, the tokens that the full in-bucket has no room for while
// the flow sends: each kSurplus of it (twice that at first) adds a unit to the `out_backlog`, each kForget
// removes one. Above kFree, packets leave OUT only from a backlog that r needs `out_backlog` units to serve,
// or from a full buffer. They always may at alpha >= 1, where half of the rate is still r, and when
// alpha has been at a lower maximum, where nothing is congested, for kHoldDown per unit. A buffer that is
// limited by a time grows to twice the `out_backlog`. A flow that uses its tokens has the paper's bucket.
//
// Guarantees: packets of a flow leave in the order they came; the head leaves IN if the in-bucket
// has its tokens, else OUT if the out-bucket has (and the backlog, as above), else it waits; a packet that
// finds the flow's buffer full is refused with `buffer`, one that finds the common pool full with
// `buffer_total`.
// No allocation after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/csa_controller.h"
#include "conditioners/packet.h"
#include "conditioners/params.h"
#include "conditioners/token_bucket.h"

namespace surety {

// Memory of held packets: a slab of list nodes, made at start, that bounds all flows together. Every
// operation is O(1); the last freed is the first reused, while it is in the cache.
class HoldingPool {
 public:
  using Queue = std::uint32_t;  // 1 .. capacity; 0: none
  static constexpr std::uint32_t kMost = (1 << 24) - 1;
  // Room for `packets` held packets in all, at most kMost (and so at most as many waiting flows).
  explicit HoldingPool(std::uint32_t packets);

  Queue open(FlowId flow);              // 0 when the pool is used up; a push() right after it succeeds
  void close(Queue q);                  // must be empty
  bool push(Queue q, const Packet& p);  // false: pool used up
  const Packet& head(Queue q) const { return nodes_[lists_[q].head].packet; }  // not when empty
  Packet pop(Queue q);                                                         // not when empty
  std::uint32_t size(Queue q) const { return lists_[q].size; }
  std::uint32_t bytes(Queue q) const { return lists_[q].bytes; }
  FlowId flow(Queue q) const { return lists_[q].flow; }
  std::uint32_t held() const { return held_; }  // packets, all flows
  std::uint32_t capacity() const {
    return static_cast<std::uint32_t>(nodes_.size()) - 1;
  }  // packets, all flows

 private:
  struct Node {
    Packet packet;
    std::uint32_t next = 0;
  };
  struct List {
    std::uint32_t head = 0, tail = 0, size = 0, bytes = 0;
    FlowId flow = kNoFlow;
  };
  // Index 0 means "none" in both slabs. The free ones are chained through Node::next and List::head.
  std::vector<Node> nodes_;
  std::vector<List> lists_;
  std::uint32_t free_node_ = 0, free_list_ = 0, held_ = 0;
};

// Per flow, in the flow's cache line.
struct EnhancedTokenBucketState {
  TokenBucket in, out;
  HoldingPool::Queue held : 24 = 0;
  std::uint32_t out_backlog : 8 = 0;  // in units of EnhancedTokenBucket::kUnit
  std::uint16_t domain = 0;           // the owner's note: which AlphaClock the out-bucket lives by
  std::uint16_t note = 0;             // the owner's, too: not of the bucket
};
static_assert(sizeof(EnhancedTokenBucketState) == 40);

enum class EtbVerdict : std::uint8_t { in, out, hold, drop_buffer, drop_buffer_total };

class EnhancedTokenBucket {
 public:
  // Powers of two: 2.1 ms, 8.4 ms and 4.3 s. A TCP with a backlog has a surplus below 0.2 % of r in the long
  // run.
  static constexpr Duration kUnit{1 << 21}, kSurplus{1 << 23}, kForget{std::int64_t{1} << 32};
  // For each unit: a flow with a long round trip loses the most in a trial of the maximum.
  static constexpr Duration kHoldDown = std::chrono::seconds(1);
  // Units without effect: with a round trip of 34 ms the window is soon back.
  static constexpr std::uint32_t kFree = 16;
  // A longer interval between two packets is a pause of the sender, and brings no surplus.
  static constexpr Duration kPause = std::chrono::seconds(1);

  static void reset(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, Time now,
                    Time alpha_now);

  // A packet arrived: true when it leaves IN at once. If not, call offer() for its verdict.
  static bool offer_in(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, std::uint32_t length,
                       Time now) {
    return s.held == 0 && take_in(s, p, length, now);
  }

  // The verdict on a packet of `length` that arrives; takes its tokens, and does not put it into the pool. On
  // a copy of `s`: what would become of such a packet. Not `may_wait`: for this one the pool is used up.
  static EtbVerdict decide(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                           std::uint32_t length, Time now, const AlphaClock& alpha, const HoldingPool& pool,
                           bool may_wait = true) {
    if (s.held == 0) [[likely]] {
      if (take_in(s, p, length, now)) [[likely]]
        return EtbVerdict::in;
      if (needs_no_backlog(s, alpha) && take_out(s, p, length, alpha)) return EtbVerdict::out;
    }
    const EtbVerdict verdict = room(s, p, length, alpha, pool, may_wait);
    // A packet that has no room to wait does not have to.
    if (verdict != EtbVerdict::hold && s.held == 0 && take_out(s, p, length, alpha)) return EtbVerdict::out;
    return verdict;
  }

  // A packet arrived: decide(). `hold`: the pool has taken it; schedule next_release() if the flow was not
  // waiting already.
  static EtbVerdict offer(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                          const Packet& packet, Time now, const AlphaClock& alpha, HoldingPool& pool,
                          bool may_wait = true) {
    const EtbVerdict verdict = decide(s, p, packet.length, now, alpha, pool, may_wait);
    if (verdict == EtbVerdict::hold) {
      if (s.held == 0) s.held = pool.open(packet.flow) & HoldingPool::kMost;
      pool.push(s.held, packet);
    }
    return verdict;
  }

  // Releases packets that have tokens: fills `out` (precedence set) from the head, in order, and returns how
  // many. When the flow's buffer runs empty it is closed and `held` is 0 again.
  static std::size_t release(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, Time now,
                             const AlphaClock& alpha, HoldingPool& pool, std::span<Packet> out);

  // Releases all held packets, as many as `out` has room for, in order and OUT, with or without tokens:
  // missing ones are a debt of the out-bucket. For a flow that must not be held here any more.
  static std::size_t flush(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, HoldingPool& pool,
                           std::span<Packet> out);

  // The first nanosecond at which the head can leave if alpha stays as it is (one part in 10^12 of the wait
  // later at worst), but not before `now` + 1 ns; kNever: not waiting, or no rate at all.
  static Time next_release(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, Time now,
                           const AlphaClock& alpha, const HoldingPool& pool);

  // True if packets may leave OUT whatever the flow's backlog is.
  static bool needs_no_backlog(const EnhancedTokenBucketState& s, const AlphaClock& alpha) {
    return s.out_backlog <= kFree || alpha.free(s.out_backlog * kHoldDown);
  }

 private:
  static bool take_in(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, std::uint32_t length,
                      Time now) {
    if (p.in.special()) [[unlikely]] {
      // Once per kSurplus is often enough: most packets cost a comparison.
      const auto ns = [](Time t) { return t.time_since_epoch().count(); };
      if ((ns(now) ^ ns(s.in.last())) >= kSurplus.count()) adapt(s, p, now);
      if (p.in.in_ticks()) s.in.fill_in_ticks(p.in, now);
    }
    s.in.add(p.in, now);
    return s.in.take(p.in, p.in.cost(length));
  }
  static bool take_out(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, std::uint32_t length,
                       const AlphaClock& alpha) {
    if (alpha.alpha() == Ratio::unlimited()) return true;
    s.out.fill(p.out, alpha.now());
    return s.out.take(p.out, p.out.cost(length));
  }
  // Counts the surplus up to `now`, before the in-bucket is filled.
  static void adapt(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p, Time now);
  // True if the head of the held packets may leave OUT, given its tokens.
  static bool may_out(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                      const AlphaClock& alpha, const HoldingPool& pool);
  static Packet pop(EnhancedTokenBucketState& s, HoldingPool& pool, Precedence precedence);
  // `hold`, or why the packet cannot wait.
  static EtbVerdict room(const EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                         std::uint32_t length, const AlphaClock& alpha, const HoldingPool& pool,
                         bool may_wait);
};

}  // namespace surety
