// SPDX-License-Identifier: BSD-3-Clause
// One class's queue: a FIFO of packet descriptors, bounded in packets and in bytes (queue_measure.h), with
// RIO or tail drop, and its counters.
//
// Customers share the places beyond the limit in parts (CustomerQuota): one customer's burst gets eight
// ninths of them, and its lasting load of all places (packets that arrived within the limit do not count), so
// that a customer whose small packets fill the queue leaves places to others. A packet that arrives there has
// its customer in `flow`.
//
// Guarantees: arrivals = departures + early + forced + overflow + depth, per precedence, after every call.
// Never more packets than the limit's buffers, but for those there when adopt() lowered it. A refused packet
// is not touched; Result names the reason (queue_decision.h), and the caller frees it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "aqm/packet_tally.h"
#include "aqm/params.h"
#include "aqm/queue_decision.h"
#include "aqm/sojourn_histogram.h"
#include "conditioners/customer_limits.h"
#include "conditioners/packet.h"
#include "conditioners/units.h"

namespace surety {

// Packets in a ring, and when they came, by positions that run on and wrap at 2^32.
//
// Packets and times have an array each: packets are copied whole bursts at a time, and of a burst only one
// time is read. The ring's owner keeps the positions.
class QueueRing {
 public:
  QueueRing() = default;
  // A power of two of slots, more than `packets`.
  explicit QueueRing(std::uint32_t packets)
      : packets_(std::make_unique<Packet[]>(std::bit_ceil(packets + 1))),
        times_(std::make_unique<Time[]>(std::bit_ceil(packets + 1))),
        mask_(std::bit_ceil(packets + 1) - 1) {}

  std::uint32_t most() const { return mask_; }  // packets that the ring can hold
  const Packet& packet(std::uint32_t at) const { return packets_[at & mask_]; }
  Time time(std::uint32_t at) const { return times_[at & mask_]; }

  void put(std::uint32_t at, const Packet& packet, Time time) {
    packets_[at & mask_] = packet;
    times_[at & mask_] = time;
  }
  // At most most() of them.
  void put(std::uint32_t at, std::span<const Packet> packets, Time time) {
    const std::size_t before = before_end(at, packets.size());
    std::copy_n(packets.begin(), before, &packets_[at & mask_]);
    std::fill_n(&times_[at & mask_], before, time);
    if (before == packets.size()) [[likely]]
      return;
    std::copy_n(packets.begin() + static_cast<std::ptrdiff_t>(before), packets.size() - before,
                packets_.get());
    std::fill_n(times_.get(), packets.size() - before, time);
  }
  void get(std::uint32_t at, std::span<Packet> out) const {
    const std::size_t before = before_end(at, out.size());
    std::copy_n(&packets_[at & mask_], before, out.begin());
    if (before < out.size()) [[unlikely]]
      std::copy_n(packets_.get(), out.size() - before, out.begin() + static_cast<std::ptrdiff_t>(before));
  }

 private:
  std::size_t before_end(std::uint32_t at, std::size_t packets) const {
    return std::min<std::size_t>(packets, std::size_t{mask_} + 1 - (at & mask_));
  }

  std::unique_ptr<Packet[]> packets_;
  std::unique_ptr<Time[]> times_;
  std::uint32_t mask_ = 0;
};

class ActiveQueue {
 public:
  ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed);

  using Result = ArrivalResult;
  Result enqueue(const Packet& packet, bool ecn_capable, Time now) {
    const bool no_place = rules_.measure.beyond(depth()) && !has_place(packet);
    const Admission admission = decision_.arrive(
        rules_, content(), packet.precedence, ecn_capable, [no_place] { return no_place; }, now);
    // A packet that is not admitted is overwritten later.
    ring_.put(tail_, packet, now);
    tail_ += admission.admitted();
    const bool in = admission.admitted() & (packet.precedence == Precedence::in);
    in_depth_ += in;
    const std::uint32_t counts = QueueMeasure::counted(packet.length);
    counted_ += admission.admitted() ? counts : 0u;
    in_counted_ += in ? counts : 0u;
    large_ |= counts < packet.length;
    if (admission.admitted() & (packet.flow != kNoFlow)) [[unlikely]]
      share({&packet, 1});
    QueueCounters& counters = counters_[index(packet.precedence)];
    ++counters.arrivals;
    admission.count(counters);
    return admission.result();
  }

  using Notice = ArrivalNotice;
  // Does what enqueue() of one packet after the other would, for at most 64 packets. `notices` has room for
  // as many and gets those that there is something to do about, in order; returns how many.
  std::size_t enqueue(std::span<const Packet> packets, std::span<const bool> ecn_capable,
                      std::span<Notice> notices, Time now);

  // True if the packets of a burst of this size name their customers in `flow`, all of them; otherwise none
  // does.
  bool names_customers(std::size_t burst) const {
    return rules_.measure.beyond(depth() + static_cast<std::uint32_t>(burst));
  }
  // Customers of ports whose numbers differ by kPorts share their parts.
  static constexpr std::size_t kPorts = 16;

  bool empty() const { return head_ == tail_; }
  const Packet& peek(std::size_t i) const {  // i < depth()
    return ring_.packet(head_ + static_cast<std::uint32_t>(i));
  }
  Packet dequeue(Time now) {  // not when empty
    Packet packet;
    dequeue({&packet, 1}, now);
    return packet;
  }

  // The first ones, as many as `out` holds; at most depth(). They stay.
  void copy(std::span<Packet> out) const { ring_.get(head_, out); }
  // Takes off the first ones, whose tally is `t`.
  void remove(const PacketTally& t, Time now);
  // Does what out.size() calls of dequeue() would; at most depth().
  void dequeue(std::span<Packet> out, Time now) {
    copy(out);
    remove(PacketTally(out), now);
  }

  // Takes over the parameters of a queue just made, without allocation. Packets, counters, and the averages
  // of a RIO that stays are kept; a new RIO begins empty. A limit for which the ring is too small comes into
  // force when grow() is done; until then the ring's size is the limit. `fresh` is left with memory to be
  // freed.
  void adopt(ActiveQueue& fresh, Time now);
  // Copies at most `budget` packets to the larger ring and takes them off it; whether there are more.
  bool grow(std::uint32_t& budget);

  // Decays the averages of an idle queue up to `now`; for a caller that looks at congested() or rio() while
  // nothing arrives. Cheap unless the queue is idle and was busy.
  void settle(Time now) { decision_.settle(rules_, content(), now); }

  std::uint32_t depth() const { return tail_ - head_; }  // packets
  // Positions of packets run on and wrap: that of the first one, and that behind the last one.
  std::uint32_t front_position() const { return head_; }
  std::uint32_t end_position() const { return tail_; }
  std::uint32_t depth(Precedence precedence) const {  // packets
    return status().depth[index(precedence)];
  }
  std::uint32_t counted() const { return counted_; }  // bytes of all packets, at most 1500 of each
  // Packets, as the limit counts them.
  double level() const { return QueueDecision::level(rules_, content()); }
  // Probability that enqueue() would refuse or mark a packet that arrives now.
  double refusal(Precedence precedence, Time now) const {
    return decision_.refusal(rules_, content(), precedence, false, now);
  }
  // State at the last arrival or settle(); false without RIO.
  bool congested() const { return decision_.congested(rules_); }
  const RioState* rio() const { return rules_.rio ? &decision_.rio : nullptr; }  // nullptr: tail drop
  const QueueCounters& counters(Precedence precedence) const { return counters_[index(precedence)]; }
  QueueStatus status() const {
    return decision_.status(rules_, content(), counters_[0], counters_[1], counters_[2]);
  }
  const SojournHistogram& sojourn() const { return sojourn_; }

 private:
  // Takes a whole burst, where there is room and RIO accepts each of them without a question; else nothing.
  bool accept_all(std::span<const Packet> packets, Time now);
  // Takes the first packets of a burst as long as RIO accepts them without a question; returns how many.
  std::size_t accept(std::span<const Packet> packets, Time now);
  void arrived(std::uint32_t ins, std::uint32_t outs);
  void note_sojourn(std::uint32_t packets, Time now);
  void departed(Precedence precedence, std::uint64_t packets, std::uint64_t bytes, Time now);
  void count(const Packet& p) {
    const std::uint32_t counts = QueueMeasure::counted(p.length);
    counted_ += counts;
    in_counted_ += p.precedence == Precedence::in ? counts : 0u;
    large_ |= counts < p.length;
  }
  void correct(std::uint32_t packets);
  static Customer customer(const Packet& p) { return static_cast<Customer>(p.flow % (kPorts * kParts)); }
  // True if the customer of the packet may have one more place beyond the limit.
  [[gnu::noinline]] bool has_place(const Packet& p) const {
    const std::uint32_t places = rules_.measure.places();
    return p.flow == kNoFlow || (depth() < places && quota_->room(customer(p), places - depth()));
  }
  // Counts packets that name their customers.
  void share(std::span<const Packet> packets);

  QueueContent content() const { return {depth(), in_depth_, counted_, in_counted_}; }

  QueueRing ring_;  // the slot at tail_ is writable even when the queue is full
  std::uint32_t head_ = 0, tail_ = 0;
  std::uint32_t in_depth_ = 0;
  std::uint32_t counted_ = 0, in_counted_ = 0;  // bytes that wait, as queue_measure.h counts them
  bool large_ = false;                          // packets that count with less than their length may wait
  bool red_;                                    // red packets may wait
  std::uint32_t shared_ = 0;                    // packets that wait and count for their customers
  QueueDecision decision_;
  QueueRules rules_;
  std::array<QueueCounters, kDropPrecedences> counters_{};
  SojournHistogram sojourn_;
  std::unique_ptr<CustomerQuota> quota_;  // nullptr: there has been no place beyond the limit
  // The ring to come, with the packets before `copied` in it; or, not `to_come`, one that was left, to be
  // freed at the next change.
  struct NextRing {
    QueueRing ring;
    QueueMeasure measure;
    std::uint32_t copied = 0;
    bool to_come = false;
  };
  NextRing next_;
};

}  // namespace surety
