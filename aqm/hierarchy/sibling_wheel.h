// SPDX-License-Identifier: BSD-3-Clause
// Selects the next child of one parent: deficit round robin whose rounds are a wheel.
//
// Each child has a tag, the virtual time at which its next turn is: what it sent, divided by its weight, as
// in start-time fair queueing (Goyal, Vin and Cheng 1996). Tags are kept by rounds of kRound bytes of the
// reference weight, as Eiffel keeps its buckets (Saeed and others 2019): a child sends while its tag is
// within the round, may exceed it by its last packet, and sits out the rounds that pay for that. So the
// length of the next packet is not read, through all levels, before it is certain that it leaves. A child
// that was idle comes in at the present round; it has saved nothing.
//
// Constant time for each call, whatever the number of children and their weights: the next round that has a
// child is found by a bitmap. Guarantees, in any interval in which two children have packets: what they sent,
// divided by their weights, differs by at most 2 kRound/reference + packet/weight of the one + packet/weight
// of the other; by kRound/reference less if both came in at its beginning. The reference is the largest
// weight, but at most kWidest times the smallest: so a full packet of any child is within the wheel. A larger
// one waits in the last round, and is examined again: 17 times for 64 kB.
//
// A child's places and its shaper are in its ShareNode. TurnAllowance and CreditAllowance have the amount
// that a run of packets of one queue may spend of them, in registers while the run lasts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "aqm/hierarchy/line_arena.h"
#include "aqm/hierarchy/share_params.h"
#include "conditioners/token_bucket.h"

namespace surety {

// Strict and weighted classes have their turns apart: strict packets of all children leave before all data,
// and are not charged to a child's data. So a child has two places.
enum class Plane : std::uint8_t { strict, data };
inline constexpr std::size_t kPlanes = 2;
constexpr std::size_t index(Plane plane) {
  return static_cast<std::size_t>(plane);
}

// Position of a child within a SiblingWheel.
struct Turn {
  std::uint64_t tag = 0;              // start of its next turn, in the wheel's virtual time
  LineNumber next = 0, previous = 0;  // in its round; 0: it is the last, the first
  std::uint32_t round = 0;            // round of the wheel, modulo its size
  bool waits = false;                 // child is in the wheel
};

// A child of a port or of a group, as its parent sees it: its places among its siblings, and its shaper.
struct alignas(64) ShareNode {
  std::array<Turn, kPlanes> turns;
  TokenBucket bucket;  // the shaper's
  // The second line:
  const ShareParams* params;
  LineNumber parent = 0;  // a group; 0: the port
  std::uint32_t key = 0;  // the timer's key
  bool is_group = false;
  bool blocked = false;  // the shaper has no credit; a timer runs, or it has no rate

  Turn& turn(Plane plane) { return turns[index(plane)]; }
};

// Weights that the children of one parent have or had; the last one that goes takes the memory with it.
class SiblingWeights {
 public:
  static constexpr std::uint32_t kWidest = 128;

  void include(std::uint32_t weight) {
    smallest_ = std::min(smallest_, weight);
    largest_ = std::max(largest_, weight);
    reference_ = std::min<std::uint64_t>(largest_, std::uint64_t{kWidest} * smallest_);
  }
  std::uint64_t reference() const { return reference_; }

 private:
  std::uint32_t smallest_ = ShareParams::kMaxWeight, largest_ = 0;
  std::uint64_t reference_ = 1;
};

class SiblingWheel {
 public:
  static constexpr std::uint32_t kRounds = 256;
  static constexpr int kFraction = 16;  // bits of a tag for parts of a byte
  static constexpr int kRoundShift = 11;
  static constexpr std::uint32_t kRound = 1u << kRoundShift;  // bytes of the reference weight

  SiblingWheel(Plane plane, LineArena& arena) : arena_(&arena), plane_(plane) {}

  bool empty() const { return waiting_ == 0; }
  bool alone() const { return waiting_ == 1; }

  // A child that has something to send and may; it is not in the wheel.
  void insert(LineNumber child) {
    Turn& turn = this->turn(child);
    turn.tag = std::max(turn.tag, round_ << kShift);
    turn.waits = true;
    ++waiting_;
    link(child, turn);
  }
  // Takes out a child of the wheel that has nothing more, or must wait.
  void remove(LineNumber child) {
    Turn& turn = this->turn(child);
    unlink(child, turn);
    turn.waits = false;
    --waiting_;
  }

  // The child whose turn it is; not when empty.
  LineNumber front() {
    for (;;) {
      const std::uint32_t here = slot(round_);
      const LineNumber child = rounds_[here].head;
      if (child == 0) {
        round_ += next_round(here);
        continue;
      }
      Turn& turn = this->turn(child);
      if (turn.tag >> kShift <= round_) [[likely]]
        return child;
      unlink(child, turn);
      link(child, turn);
    }
  }
  // Where the turn of the front ends, unless it is alone: its tag may come up to there, and its last packet
  // beyond.
  std::uint64_t end_of_turn() const { return alone() ? ~std::uint64_t{0} : (round_ + 1) << kShift; }
  // Increase of a tag per byte, shifted by kPriceShift, at 1/weight as `inverse` (share_params.h) has it.
  static constexpr int kPriceShift = 31 - kFraction;
  static std::uint64_t price(std::uint32_t inverse, const SiblingWeights& weights) {
    return weights.reference() * inverse;
  }
  // The front has sent; it has more.
  void keep(LineNumber front, std::uint64_t tag) {
    Turn& turn = this->turn(front);
    turn.tag = tag;
    if (tag >> kShift <= round_) return;
    unlink(front, turn);
    if (waiting_ == 1) round_ = tag >> kShift;  // the next child to come begins here
    link(front, turn);
  }
  // The front has sent; it has nothing more, or must wait.
  void dismiss(LineNumber front, std::uint64_t tag) {
    turn(front).tag = tag;
    if (waiting_ == 1) round_ = std::max(round_, tag >> kShift);
    remove(front);
  }

 private:
  static constexpr int kShift = kFraction + kRoundShift;
  static std::uint32_t slot(std::uint64_t round) { return static_cast<std::uint32_t>(round) % kRounds; }
  Turn& turn(LineNumber child) { return arena_->at<ShareNode>(child).turn(plane_); }

  // Rounds from that of `here` to the next one that has a child; one exists.
  std::uint64_t next_round(std::uint32_t here) const {
    std::uint32_t word = here / 64;
    std::uint64_t bits = bitmap_[word] & ~std::uint64_t{0} << here % 64;
    while (bits == 0) {  // comes round to those before `here` in its own word at last
      word = (word + 1) % (kRounds / 64);
      bits = bitmap_[word];
    }
    return (word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)) - here) % kRounds;
  }

  // Touches no other child but the last one of the round, which came a moment ago.
  void link(LineNumber child, Turn& turn) {
    const std::uint32_t at = slot(std::clamp(turn.tag >> kShift, round_, round_ + kRounds - 1));
    Round& round = rounds_[at];
    const LineNumber last = std::exchange(round.last, child);
    (last == 0 ? round.head : this->turn(last).next) = child;
    turn.next = 0;
    turn.previous = last;
    turn.round = at;
    bitmap_[at / 64] |= std::uint64_t{1} << at % 64;
  }
  // Does not touch the line of another child for the first one: its `previous` means nothing.
  void unlink(LineNumber child, const Turn& turn) {
    const LineNumber next = turn.next;
    const std::uint32_t at = turn.round;
    Round& round = rounds_[at];
    if (round.head == child) [[likely]] {
      round.head = next;
      if (next != 0) return;
      round.last = 0;
      bitmap_[at / 64] &= ~(std::uint64_t{1} << at % 64);
      return;
    }
    this->turn(turn.previous).next = next;
    (next == 0 ? round.last : this->turn(next).previous) = turn.previous;
  }

  LineArena* arena_;
  std::uint64_t round_ = 0;
  std::uint32_t waiting_ = 0;
  Plane plane_;
  std::array<std::uint64_t, kRounds / 64> bitmap_{};
  struct Round {
    LineNumber head = 0, last = 0;
  };
  std::array<Round, kRounds> rounds_{};
};

// The credit of a shaper or of a cap.
class CreditAllowance {
 public:
  // `limited`: else there is no end of it.
  CreditAllowance(TokenBucket& bucket, const TokenBucketParams& params, bool limited, WireOverhead overhead,
                  Time now)
      : params_(params), overhead_(overhead), limited_(limited) {
    if (!limited) return;
    bucket.fill(params, now);
    before_ = left_ = bucket.credit();
  }
  // A packet leaves, whether it is all there or not; whether one more may.
  bool spend(std::uint32_t length) {
    if (!limited_) return true;
    left_ -= params_.cost(overhead_.wire_bytes(length));
    return left_ > 0;
  }
  bool spent() const { return limited_ && left_ <= 0; }
  void settle(TokenBucket& bucket) const {
    if (limited_) bucket.charge(before_ - left_);
  }

 private:
  const TokenBucketParams& params_;
  WireOverhead overhead_;
  bool limited_;
  Credit before_ = 0, left_ = 0;
};

// The rest of a child's round among its siblings.
class TurnAllowance {
 public:
  TurnAllowance(const Turn& turn, const SiblingWheel& wheel, std::uint32_t inverse,
                const SiblingWeights& weights)
      : tag_(turn.tag), end_(wheel.end_of_turn()), price_(SiblingWheel::price(inverse, weights)) {}
  // See CreditAllowance::spend(); `bytes` of the port's wire.
  bool spend(std::uint32_t bytes) {
    tag_ += bytes * price_ >> SiblingWheel::kPriceShift;
    return tag_ < end_;
  }
  std::uint64_t tag() const { return tag_; }

 private:
  std::uint64_t tag_, end_, price_;
};

}  // namespace surety
