// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/class_scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace surety {

namespace {
// Bytes on the wire of `packets`, whose IP bytes are `bytes` in total.
std::uint64_t wire_bytes(const WireOverhead& overhead, std::span<const Packet> packets, std::uint64_t bytes) {
  if (overhead.kind == WireOverhead::Kind::bytes) return bytes + packets.size() * overhead.per_packet;
  std::uint64_t all = 0;
  for (const Packet& p : packets) all += overhead.wire_bytes(p.length);
  return all;
}
}  // namespace

ClassScheduler::Class::Class(const ClassParams& params, WireOverhead overhead, Time now, std::uint64_t seed)
    : strict(params.strict),
      cap({.rate = params.cap, .burst = default_burst(params.cap.value_or(Rate{})), .overhead = overhead},
          now),
      queue(params.queue, seed) {}

std::uint32_t ClassScheduler::quantum_unit(std::span<const ClassParams> classes, WireOverhead overhead) {
  std::uint32_t smallest = kFullPacket;
  for (const ClassParams& c : classes)
    if (!c.strict) smallest = std::min(smallest, c.weight);
  return (overhead.wire_bytes(kFullPacket) + smallest - 1) / smallest;
}

ClassScheduler::ClassScheduler(const std::vector<ClassParams>& classes, WireOverhead overhead, Time now,
                               std::uint64_t seed, std::size_t gone)
    : overhead_(overhead), quantum_unit_(quantum_unit(classes, overhead)), retired_(gone) {
  assert(classes.size() <= kMaxClasses);
  classes_.reserve(classes.size());
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    Class& c = classes_.emplace_back(classes[i], overhead, now, seed + i);
    if (c.strict) {
      strict_.push_back(i);
    } else {
      c.quantum = std::uint64_t{quantum_unit_} * classes[i].weight;
    }
  }
}

void ClassScheduler::Class::adopt(Class& fresh, Time now) {
  // A class that waits for its turn has a quantum and the rest of its previous one; the class whose turn it
  // is has less.
  const bool waits = deficit >= quantum;
  deficit = waits ? deficit - quantum + fresh.quantum : std::min(deficit, fresh.quantum);
  quantum = fresh.quantum;
  strict = fresh.strict;
  cap.adopt(fresh.cap, now);
  queue.adopt(fresh.queue, now);
}

void ClassScheduler::adopt(ClassScheduler& fresh, const ClassMoves& moves, Time now) {
  end_interruptions();
  overhead_ = fresh.overhead_;
  quantum_unit_ = fresh.quantum_unit_;
  if (!moves.none()) return move(fresh, moves, now);
  for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i].adopt(fresh.classes_[i], now);
  retired_.leave_empty(fresh.retired_);
}

// Each remaining class changes places with the one made for it; `fresh` is left with the removed classes and
// with queues to be freed.
void ClassScheduler::move(ClassScheduler& fresh, const ClassMoves& moves, Time now) {
  turn_ = moved_turn(moves, fresh);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    if (moves.to[c] == ClassMoves::kGone) continue;
    Class& place = fresh.classes_[moves.to[c]];
    classes_[c].adopt(place, now);
    std::swap(classes_[c], place);
  }
  classes_.swap(fresh.classes_);
  strict_.swap(fresh.strict_);
  retire(fresh, moves);
  recount(moves.image(active_));
}

// The first one in turn that still is there, and weighted.
std::size_t ClassScheduler::moved_turn(const ClassMoves& moves, const ClassScheduler& fresh) const {
  for (std::size_t ahead = 0; ahead < kMaxClasses; ++ahead) {
    const std::size_t c = (turn_ + ahead) % kMaxClasses;
    if ((active_ & bit(c)) == 0 || moves.to[c] == ClassMoves::kGone) continue;
    if (!fresh.classes_[moves.to[c]].strict) return moves.to[c];
  }
  return 0;
}

void ClassScheduler::retire(ClassScheduler& fresh, const ClassMoves& moves) {
  const std::uint64_t marked = moves.image(retired_.heirs());
  retired_.follow(moves);
  for (std::size_t c = 0; c < fresh.classes_.size(); ++c) {
    ActiveQueue& queue = fresh.classes_[c].queue;
    if (!queue.empty()) retired_.take(queue, moves.heirs[c], fresh.retired_);
  }
  for (std::uint64_t left = retired_.heirs() & ~marked; left != 0; left &= left - 1) {
    const auto heir = static_cast<std::size_t>(std::countr_zero(left));
    retired_.mark(heir, classes_[heir].queue);
  }
  retired_.leave_empty(fresh.retired_);
}

// `known`: the classes that were active; the newly active ones begin with a quantum.
void ClassScheduler::recount(std::uint64_t known) {
  active_ = 0;
  strict_depth_ = retired_.depth();
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    Class& c = classes_[i];
    if (c.strict) strict_depth_ += c.queue.depth();
    if (c.strict || !has_packets(i)) continue;
    if ((known & bit(i)) == 0) c.deficit = c.quantum;
    active_ |= bit(i);
  }
}

// Removes the first packets of `source`, which the class sends.
void ClassScheduler::remove(const Class& c, ActiveQueue& source, const PacketTally& t, Time now) {
  source.remove(t, now);
  depth_ -= t.packets;
  strict_depth_ -= c.strict ? t.packets : 0;
  if (&source != &c.queue && t.packets > 0) [[unlikely]]
    leave_retired(c, source);
}

// An heir has sent a packet of a retired queue, which strict_depth_ counts, also if the heir is weighted.
[[gnu::noinline]] void ClassScheduler::leave_retired(const Class& heir, const ActiveQueue& source) {
  if (!heir.strict) --strict_depth_;
  if (!source.empty()) return;
  retired_.settle();
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (!has_packets(i)) active_ &= ~bit(i), interrupted_ &= ~bit(i);
}

bool ClassScheduler::take_any(Packet& out, Time now) {
  ActiveQueue* queue = retired_.any();
  for (Class& c : classes_)
    if (!c.queue.empty()) queue = &c.queue;
  if (queue == nullptr) return false;
  out = queue->dequeue(now);
  return true;
}

bool ClassScheduler::grow(std::uint32_t packets) {
  bool more = false;
  for (Class& c : classes_) more |= c.queue.grow(packets);
  return more;
}

std::size_t ClassScheduler::dequeue(Time now, PortShaper& shaper, std::span<Packet> out) {
  std::size_t n = 0;
  while (n < out.size() && shaper.ready()) {
    const std::size_t run = dequeue_run(now, shaper, out.subspan(n), false);
    if (run == 0) break;
    n += run;
  }
  return n;
}

// Packets of one class that leave before those of another. `rounds`: a class that is alone has them, too, as
// it has while there are retired queues or interrupted classes.
std::size_t ClassScheduler::dequeue_run(Time now, PortShaper& shaper, std::span<Packet> out, bool rounds) {
  if ((retired_.heirs() | interrupted_) != 0) [[unlikely]] {
    if (retired_.heirs() != 0) out = out.first(1);  // one by one: the source may change with each packet
    rounds = true;
  }
  if (strict_depth_ > 0)
    if (const std::size_t n = strict_run(now, shaper, out)) return n;
  if (interrupted_ != 0) [[unlikely]]
    if (const std::size_t n = interrupted_run(now, shaper, out)) return n;
  if (active_ == 0) return 0;
  const bool one = strict_depth_ == 0 && std::has_single_bit(active_) && !rounds;
  return one ? alone(now, shaper, out) : weighted_run(now, shaper, out);
}

std::size_t ClassScheduler::strict_run(Time now, PortShaper& shaper, std::span<Packet> out) {
  for (const std::uint32_t i : strict_) {
    if (!has_packets(i)) continue;
    classes_[i].cap.advance(now);
    if (const std::size_t n = take_run(classes_[i], now, shaper, out)) return n;
  }
  return 0;
}

// Without rounds, which it does not need.
std::size_t ClassScheduler::alone(Time now, PortShaper& shaper, std::span<Packet> out) {
  turn_ = first_from(active_, turn_);
  Class& c = classes_[turn_];
  c.cap.advance(now);
  const std::size_t n = take_run(c, now, shaper, out);
  if (c.queue.empty())
    deactivate(turn_);
  else if (!c.cap.ready())
    interrupt(turn_);
  return n;
}

// Takes the first packets of a class, as many as `out`, the cap and the shaper allow.
std::size_t ClassScheduler::take_run(Class& c, Time now, PortShaper& shaper, std::span<Packet> out) {
  ActiveQueue& queue = source(c);
  out = out.first(std::min<std::size_t>(out.size(), queue.depth()));
  queue.copy(out);
  PacketTally t(out);
  if (const std::size_t n = charge(c.cap, shaper, out, t.bytes); n < out.size())
    t = PacketTally(out.first(n));
  remove(c, queue, t, now);
  return t.packets;
}

// Charges both shapers for as many of the first packets as both allow; returns how many. `bytes`: IP bytes of
// all.
std::size_t ClassScheduler::charge(PortShaper& cap, PortShaper& shaper, std::span<const Packet> packets,
                                   std::uint64_t bytes) {
  if (!shaper.limited() && !cap.limited()) return packets.size();
  const std::uint64_t of_port = wire_bytes(shaper.overhead(), packets, bytes),
                      of_cap = wire_bytes(cap.overhead(), packets, bytes);
  if (shaper.affords(of_port) && cap.affords(of_cap)) {
    shaper.sent_all(of_port);
    cap.sent_all(of_cap);
    return packets.size();
  }
  std::size_t n = 0;
  for (; n < packets.size() && shaper.ready() && cap.ready(); ++n) {
    shaper.sent(packets[n].length);
    cap.sent(packets[n].length);
  }
  return n;
}

// Takes the first packets of a weighted class, as many as its deficit, its cap and the shaper allow.
template <bool kCapped>
std::size_t ClassScheduler::take_quantum(Class& c, Time now, PortShaper& shaper, std::span<Packet> out) {
  ActiveQueue& queue = source(c);
  const std::size_t most = std::min<std::size_t>(out.size(), queue.depth());
  if constexpr (kCapped) c.cap.advance(now);
  std::uint64_t deficit = c.deficit;
  std::size_t n = 0;
  for (; n < most && shaper.ready() && (!kCapped || c.cap.ready()); ++n) {
    const std::uint32_t length = queue.peek(n).length;
    const std::uint64_t cost = overhead_.wire_bytes(length);
    if (deficit < cost) break;
    deficit -= cost;
    shaper.sent(length);
    if constexpr (kCapped) c.cap.sent(length);
  }
  c.deficit = deficit;
  if (n == 0) return 0;
  queue.copy(out.first(n));
  remove(c, queue, PacketTally(out.first(n)), now);
  return n;
}

std::size_t ClassScheduler::weighted_run(Time now, PortShaper& shaper, std::span<Packet> out) {
  while (active_ != 0) {
    turn_ = first_from(active_ | interrupted_, turn_);
    Class& c = classes_[turn_];
    if ((interrupted_ & bit(turn_)) != 0) [[unlikely]] {
      if (c.deficit < c.quantum) c.deficit += c.quantum;
      turn_ = after(turn_);
      continue;
    }
    const std::size_t n =
        c.cap.limited() ? take_quantum<true>(c, now, shaper, out) : take_quantum<false>(c, now, shaper, out);
    if (n > 0 && !has_packets(turn_)) {
      deactivate(turn_);
    } else if (!c.cap.ready()) [[unlikely]] {
      interrupt(turn_);
    } else if (n == 0) {
      c.deficit += c.quantum;
      turn_ = after(turn_);
    }
    if (n > 0) return n;
  }
  return 0;
}

// Packets of interrupted classes whose caps have credit. A class that has sent its quantum waits for its turn
// again.
[[gnu::noinline]] std::size_t ClassScheduler::interrupted_run(Time now, PortShaper& shaper,
                                                              std::span<Packet> out) {
  for (std::uint64_t left = interrupted_; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    Class& c = classes_[i];
    const std::size_t n = take_quantum<true>(c, now, shaper, out);
    if (n > 0) {
      if (!has_packets(i)) interrupted_ &= ~bit(i);
      return n;
    }
    if (!c.cap.ready()) continue;
    c.deficit += c.quantum;
    interrupted_ &= ~bit(i);
    active_ |= bit(i);
  }
  return 0;
}

// All classes with packets wait for their turn, with at most a quantum.
void ClassScheduler::end_interruptions() {
  for (std::uint64_t left = interrupted_; left != 0; left &= left - 1) {
    Class& c = classes_[static_cast<std::size_t>(std::countr_zero(left))];
    c.deficit = std::min(c.deficit, c.quantum);
  }
  active_ |= std::exchange(interrupted_, 0);
}

Time ClassScheduler::next_event(Time now) const {
  Time next = kNever;
  for (std::uint64_t left = active_ | interrupted_; left != 0 && next > now; left &= left - 1)
    next = std::min(next, classes_[static_cast<std::size_t>(std::countr_zero(left))].cap.next_event(now));
  for (const std::uint32_t i : strict_) {
    if (next > now && has_packets(i)) next = std::min(next, classes_[i].cap.next_event(now));
  }
  return next;
}

RetiredQueues::RetiredQueues(std::size_t room) {
  for (; room > 0; --room) queues_.push_back({ActiveQueue({.limit = 0, .rio = {}}, 0), 0});
}

std::uint32_t RetiredQueues::depth() const {
  std::uint32_t n = 0;
  for (const Retired& r : queues_) n += r.queue.depth();
  return n;
}

// Positions run on and wrap: only their differences mean anything.
ActiveQueue& RetiredQueues::next(std::size_t heir, ActiveQueue& own) {
  if (static_cast<std::int32_t>(marks_[heir] - own.front_position()) > 0) return own;
  for (Retired& r : queues_)
    if ((r.heirs >> heir & 1) != 0 && !r.queue.empty()) return r.queue;
  return own;
}

void RetiredQueues::settle() {
  heirs_ = 0;
  for (const Retired& r : queues_)
    if (!r.queue.empty()) heirs_ |= r.heirs;
}

void RetiredQueues::follow(const ClassMoves& moves) {
  const std::array<std::uint32_t, 64> before = marks_;
  for (std::size_t c = 0; c < moves.to.size(); ++c)
    if (moves.to[c] != ClassMoves::kGone) marks_[moves.to[c]] = before[c];
  for (Retired& r : queues_) r.heirs = moves.successors(r.heirs);
  settle();
}

void RetiredQueues::take(ActiveQueue& queue, std::uint64_t heirs, RetiredQueues& update) {
  queues_.splice(queues_.end(), update.queues_, update.queues_.begin());
  std::swap(queues_.back().queue, queue);
  queues_.back().heirs = heirs;
  heirs_ |= heirs;
}

void RetiredQueues::leave_empty(RetiredQueues& update) {
  for (auto r = queues_.begin(); r != queues_.end();) {
    const auto here = r++;
    if (here->queue.empty()) update.queues_.splice(update.queues_.end(), queues_, here);
  }
}

ActiveQueue* RetiredQueues::any() {
  const auto waits = [](const Retired& r) { return !r.queue.empty(); };
  const auto at = std::ranges::find_if(queues_, waits);
  return at == queues_.end() ? nullptr : &at->queue;
}

}  // namespace surety
