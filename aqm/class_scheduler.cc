// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/class_scheduler.h"

#include <algorithm>
#include <cassert>

namespace surety {

ClassScheduler::Class::Class(const ClassParams& params, WireOverhead overhead, Time now, std::uint64_t seed)
    : strict(params.strict),
      cap({.rate = params.cap, .burst = default_burst(params.cap.value_or(Rate{})), .overhead = overhead},
          now),
      queue(params.queue, seed) {}

ClassScheduler::ClassScheduler(const std::vector<ClassParams>& classes, WireOverhead overhead, Time now,
                               std::uint64_t seed)
    : overhead_(overhead) {
  assert(classes.size() <= kMaxClasses);
  // A whole number of bytes per unit of weight keeps the quanta in the exact proportion of the weights.
  std::uint32_t smallest = kFullPacket;
  for (const ClassParams& c : classes) {
    if (!c.strict) smallest = std::min(smallest, c.weight);
  }
  quantum_unit_ = (overhead.wire_bytes(kFullPacket) + smallest - 1) / smallest;
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

void ClassScheduler::adopt(ClassScheduler& fresh, Time now) {
  overhead_ = fresh.overhead_;
  quantum_unit_ = fresh.quantum_unit_;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    Class &c = classes_[i], &f = fresh.classes_[i];
    // One that waits for its turn has a quantum, and what was left of the one before;
    // the one whose turn it is has less.
    const bool waits = c.deficit >= c.quantum;
    c.deficit = waits ? c.deficit - c.quantum + f.quantum : std::min(c.deficit, f.quantum);
    c.quantum = f.quantum;
    c.cap.adopt(f.cap, now);
    c.queue.adopt(f.queue, now);
  }
}

bool ClassScheduler::grow(std::uint32_t packets) {
  bool more = false;
  for (Class& c : classes_) more |= c.queue.grow(packets);
  return more;
}

std::size_t ClassScheduler::dequeue(Time now, PortShaper& shaper, std::span<Packet> out) {
  std::size_t n = 0;
  while (n < out.size() && shaper.ready()) {
    if (strict_depth_ == 0 && std::has_single_bit(active_))
      return n + dequeue_alone(now, shaper, out.subspan(n));
    if (!dequeue(now, out[n])) break;
    shaper.sent(out[n++].length);
  }
  return n;
}

// For the first `n` packets of the queue, or as many of them as the shaper lets go; returns how many.
std::size_t ClassScheduler::charge(const ActiveQueue& queue, std::size_t n, PortShaper& shaper) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < n; ++i) bytes += shaper.overhead().wire_bytes(queue.peek(i).length);
  if (shaper.send_all(bytes)) return n;
  std::size_t allowed = 0;
  while (allowed < n && shaper.ready()) shaper.sent(queue.peek(allowed++).length);
  return allowed;
}

std::size_t ClassScheduler::dequeue_alone(Time now, PortShaper& shaper, std::span<Packet> out) {
  turn_ = first_active();
  Class& c = classes_[turn_];
  std::size_t n = std::min<std::size_t>(out.size(), c.queue.depth());
  if (shaper.limited()) n = charge(c.queue, n, shaper);
  c.queue.dequeue(out.first(n), now);
  depth_ -= static_cast<std::uint32_t>(n);
  if (c.queue.empty()) deactivate(turn_);
  return n;
}

Time ClassScheduler::next_event(Time now) const {
  if (depth_ == 0) return kNever;
  if (active_ != 0) return now;
  Time next = kNever;
  for (const std::uint32_t i : strict_) {
    if (!classes_[i].queue.empty()) next = std::min(next, classes_[i].cap.next_event(now));
  }
  return next;
}

}  // namespace surety
