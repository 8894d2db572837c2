// SPDX-License-Identifier: BSD-3-Clause
// Strict priority, then weighted deficit round robin (Shreedhar and Varghese 1996), with rate caps.
//
// Strict classes are served in the order they are listed, each only while its cap (if any) has credit:
// a capped class beyond its rate waits, and does not starve the others. Weighted classes share what is
// left in proportion to their weights, in bytes of the wire; one with a cap gets the smaller of that share
// and the cap, and the others share the rest. Work conserving but for the caps; FIFO within a class. Weighted
// classes have their turns in the order they are listed, whichever was first to have packets: so it makes no
// difference in which order the packets of a moment come. Guarantees: a capped class sends at most cap * T +
// default_burst(cap) + one packet in any interval T. While two weighted classes stay backlogged, the bytes
// they sent divided by their weights differ by at most quantum_unit() + packet/weight of the one +
// packet/weight of the other, where a quantum is weight * quantum_unit().
//
// A weighted class whose cap has no credit is interrupted: it leaves its turn with the rest of its quantum,
// and sends that as soon as the cap has credit, before the class whose turn it is. So it needs no burst of a
// quantum to get its rate. It has one more quantum for each round that passes, and saves less than two.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aqm/active_queue.h"
#include "aqm/class_moves.h"
#include "aqm/params.h"
#include "aqm/port_shaper.h"

namespace surety {

// Queues of removed classes, until their packets have left.
//
// The heirs of such a class, which get its new packets, send the old ones in their own turns and at their own
// expense: first the heir's packets from before the change, then the retired queues, the oldest first, then
// later packets. So no packet is lost or moved, those of a flow stay in their order, and classes that inherit
// nothing are not affected.
class RetiredQueues {
 public:
  // `room`: queues that another object's take() may move from this one.
  explicit RetiredQueues(std::size_t room);

  // Classes that inherit packets.
  std::uint64_t heirs() const { return heirs_; }
  std::uint32_t depth() const;  // packets

  // The queue that the next packet of an heir leaves by, its own or a retired one; it is not empty. Of other
  // classes: their own.
  ActiveQueue& next(std::size_t heir, ActiveQueue& own);
  // A retired queue has become empty: some classes may be heirs no more.
  void settle();

  // A change of the classes, without allocation, in this order: follow() moves the present heirs; take() adds
  // the removed classes' queues, with memory of the update; mark() stores for each new heir where its own
  // packets end; leave_empty() moves empty queues to the update, which frees them.
  void follow(const ClassMoves& moves);
  void take(ActiveQueue& queue, std::uint64_t heirs, RetiredQueues& update);
  void mark(std::size_t heir, const ActiveQueue& own) { marks_[heir] = own.end_position(); }
  void leave_empty(RetiredQueues& update);

  // Any queue that holds packets, for the end of the process; null: there is none.
  ActiveQueue* any();

 private:
  struct Retired {
    ActiveQueue queue;
    std::uint64_t heirs = 0;
  };
  std::list<Retired> queues_;  // the oldest first
  std::uint64_t heirs_ = 0;
  std::array<std::uint32_t, 64>
      marks_{};  // indexed by heir: its own packets before this position leave first
};

class ClassScheduler {
 public:
  // The packet for which a quantum of the smallest weight is enough, bytes of the IP packet.
  // Larger ones wait for several rounds.
  static constexpr std::uint32_t kFullPacket = 1500;
  // The bytes of a quantum for each unit of weight: a full packet on the wire for the smallest weight. A
  // whole number, which keeps the quanta in the exact proportion of the weights.
  static std::uint32_t quantum_unit(std::span<const ClassParams> classes, WireOverhead overhead);

  // `gone`: number of classes that the scheduler which will adopt() this one has and this one lacks.
  ClassScheduler(const std::vector<ClassParams>& classes, WireOverhead overhead, Time now, std::uint64_t seed,
                 std::size_t gone = 0);

  // Takes over the parameters of a scheduler just made, without allocation. Its classes are the same (order,
  // strict or not), or `moves` maps the old ones to them. Packets stay in their queues (active_queue.h) and
  // weighted classes in their turn; the rest of each quantum is converted to the new weights, so that the
  // guarantee holds for them from here on. Packets of a removed class leave by its heirs (RetiredQueues).
  void adopt(ClassScheduler& fresh, const ClassMoves& moves, Time now);
  // Copies at most `packets` packets to larger rings; true: there are more to copy.
  bool grow(std::uint32_t packets);

  std::size_t classes() const { return classes_.size(); }
  // To read and to settle(); packets go through the scheduler.
  ActiveQueue& queue(std::size_t class_index) { return classes_[class_index].queue; }
  const ActiveQueue& queue(std::size_t class_index) const { return classes_[class_index].queue; }
  // True if the queue is congested at `now`; an idle one is not.
  bool congested(std::size_t class_index, Time now) {
    queue(class_index).settle(now);
    return queue(class_index).congested();
  }

  ActiveQueue::Result enqueue(std::size_t class_index, const Packet& packet, bool ecn_capable, Time now) {
    ActiveQueue::Notice notice;
    return enqueue(class_index, {&packet, 1}, {&ecn_capable, 1}, {&notice, 1}, now) > 0
               ? notice.result
               : ActiveQueue::Result{};
  }

  // enqueue() for a burst of one class; `notices` and the result are those of ActiveQueue::enqueue().
  std::size_t enqueue(std::size_t class_index, std::span<const Packet> packets,
                      std::span<const bool> ecn_capable, std::span<ActiveQueue::Notice> notices, Time now) {
    Class& c = classes_[class_index];
    const std::uint32_t before = c.queue.depth();
    const std::size_t noticed = c.queue.enqueue(packets, ecn_capable, notices, now);
    const std::uint32_t admitted = c.queue.depth() - before;
    depth_ += admitted;
    strict_depth_ += c.strict ? admitted : 0;
    if (!c.strict && before == 0 && admitted > 0) activate(class_index);
    return noticed;
  }

  // Fills `out` with packets to leave at `now` while `shaper` lets them (advanced to `now`; it is charged);
  // returns how many. Packets and order are those of dequeue() one by one, but a class that is alone needs no
  // rounds.
  std::size_t dequeue(Time now, PortShaper& shaper, std::span<Packet> out);

  // The next packet to leave at `now`; false when nothing may (empty, or capped).
  bool dequeue(Time now, Packet& out) {
    PortShaper unlimited({}, now);
    return dequeue_run(now, unlimited, {&out, 1}, true) == 1;
  }

  // Takes out any packet, in no order: for the end of the process.
  bool take_any(Packet& out, Time now);

  std::uint32_t quantum_unit() const { return quantum_unit_; }  // bytes per unit of weight and round
  std::uint32_t depth() const { return depth_; }                // packets, all classes
  Time next_event(Time now) const;  // now: something can leave; else when a cap has credit; kNever: empty

 private:
  struct Class {
    Class(const ClassParams& params, WireOverhead overhead, Time now, std::uint64_t seed);
    void adopt(Class& fresh, Time now);
    std::uint64_t deficit = 0, quantum = 0;  // bytes of the wire
    bool strict;
    PortShaper cap;
    ActiveQueue queue;
  };

  static std::size_t charge(PortShaper& cap, PortShaper& shaper, std::span<const Packet> packets,
                            std::uint64_t bytes);
  std::size_t take_run(Class& c, Time now, PortShaper& shaper, std::span<Packet> out);
  template <bool kCapped>
  std::size_t take_quantum(Class& c, Time now, PortShaper& shaper, std::span<Packet> out);
  std::size_t dequeue_run(Time now, PortShaper& shaper, std::span<Packet> out, bool rounds);
  std::size_t strict_run(Time now, PortShaper& shaper, std::span<Packet> out);
  std::size_t alone(Time now, PortShaper& shaper, std::span<Packet> out);
  std::size_t interrupted_run(Time now, PortShaper& shaper, std::span<Packet> out);
  std::size_t weighted_run(Time now, PortShaper& shaper, std::span<Packet> out);
  void move(ClassScheduler& fresh, const ClassMoves& moves, Time now);
  std::size_t moved_turn(const ClassMoves& moves, const ClassScheduler& fresh) const;
  void retire(ClassScheduler& fresh, const ClassMoves& moves);
  void recount(std::uint64_t known);
  void end_interruptions();

  // True if the class has packets of its own or inherited ones.
  bool has_packets(std::size_t class_index) const {
    return !classes_[class_index].queue.empty() || is_heir(class_index);
  }
  bool is_heir(std::size_t class_index) const { return (retired_.heirs() & bit(class_index)) != 0; }
  // The queue that the next packet of a class leaves by.
  ActiveQueue& source(Class& c) {
    if (retired_.heirs() == 0) [[likely]]
      return c.queue;
    return retired_.next(static_cast<std::size_t>(&c - classes_.data()), c.queue);
  }
  void remove(const Class& c, ActiveQueue& source, const PacketTally& t, Time now);
  void leave_retired(const Class& heir, const ActiveQueue& source);

  static std::uint64_t bit(std::size_t class_index) { return std::uint64_t{1} << class_index; }
  static std::size_t after(std::size_t class_index) { return (class_index + 1) % kMaxClasses; }
  void activate(std::size_t class_index) {
    if (((active_ | interrupted_) & bit(class_index)) != 0) return;  // an heir
    classes_[class_index].deficit = classes_[class_index].quantum;
    active_ |= bit(class_index);
  }
  void deactivate(std::size_t class_index) {
    active_ &= ~bit(class_index);
    turn_ = after(class_index);
  }
  void interrupt(std::size_t class_index) {
    deactivate(class_index);
    interrupted_ |= bit(class_index);
  }

  std::vector<Class> classes_;
  std::vector<std::uint32_t> strict_;  // in order of priority
  WireOverhead overhead_;
  std::uint32_t quantum_unit_;
  std::uint64_t active_ = 0;       // weighted classes that have packets and are in turns, one bit each
  std::uint64_t interrupted_ = 0;  // weighted classes that have packets, which their cap stopped
  std::size_t turn_ = 0;           // class whose turn it is; if idle, the next active one has it
  std::uint32_t depth_ = 0, strict_depth_ = 0;  // all; those of strict classes, and of retired ones
  RetiredQueues retired_;
};

}  // namespace surety
