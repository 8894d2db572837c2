// SPDX-License-Identifier: BSD-3-Clause
// Path of a packet: its queue, its interface's turn, its group's turn, and the shapers of all of them.
#include "aqm/hierarchy/hierarchy.h"

#include <algorithm>

namespace surety {

[[gnu::always_inline]] inline ArrivalResult Hierarchy::admit(const Arrival& arrival, LineNumber line,
                                                             Time now) {
  InterfaceNode& node = interface_at(line);
  PooledQueue& queue = node.queue(arrival.class_index);
  const bool first = queue.empty();
  const ArrivalResult result =
      queue.enqueue(node.bought().of(arrival.class_index), pool_, arrival.packet, arrival.ecn_capable, now);
  if (result.drop != DropReason::none) return result;
  ++depth_;
  if (first) {
    node.activate(arrival.class_index);
    const Plane plane = node.plane_of(arrival.class_index);
    if (!node.blocked && !node.turn(plane).waits && node.ready(plane) != 0) {
      siblings(node.parent).wheel(plane).insert(line);
      if (node.parent != 0 && !group_at(node.parent).turn(plane).waits) attach(node.parent, plane);
    }
  }
  return result;
}

ArrivalResult Hierarchy::enqueue(const Arrival& arrival, Time now) {
  return admit(arrival, line_of(arrival.interface), now);
}

// Thousands of queues are in no cache: they are prefetched in three steps, each of which needs the lines of
// the previous one, and the misses of a burst overlap.
std::size_t Hierarchy::enqueue(std::span<const Arrival> arrivals, std::span<ArrivalNotice> notices,
                               Time now) {
  std::array<LineNumber, kBurst> lines;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const LineNumber line = lines[i] = line_of(arrivals[i].interface);
    const LineNumber queue = InterfaceNode::queue_line(line, arrivals[i].class_index);
    arena_.prefetch(line + 1);
    arena_.prefetch(queue);
    arena_.prefetch(queue + 1);
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const LineNumber line = lines[i];
    const auto& queue = arena_.at<PooledQueue>(InterfaceNode::queue_line(line, arrivals[i].class_index));
    // Into an empty one a packet comes by another way: it may need its place among its siblings.
    prefetch_line(queue.empty() ? arena_.address(line) : queue.end_of(pool_));
  }
  std::size_t noticed = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const ArrivalNotice notice{static_cast<std::uint8_t>(i), admit(arrivals[i], lines[i], now)};
    if (notice.needed()) [[unlikely]]
      notices[noticed++] = notice;
  }
  return noticed;
}

// Prefetches while the front of a wheel sends: the first packet of the next interface, whose own lines were
// prefetched in this wheel's previous turn, and the lines of the interface after it.
SURETY_PREFETCHES void Hierarchy::prefetch_behind(const InterfaceNode& front, Plane plane) {
  const LineNumber next = front.turns[index(plane)].next;
  if (next == 0 || arena_.at<ShareNode>(next).is_group) return;
  InterfaceNode& node = interface_at(next);
  node.likely_queue(plane).prefetch_front(pool_);
  const LineNumber line = node.turn(plane).next;
  if (line == 0) return;
  arena_.prefetch(line);
  arena_.prefetch(line + 1);
  arena_.prefetch(InterfaceNode::queue_line(line, 0));
  arena_.prefetch(InterfaceNode::queue_line(line, 1));
}

std::size_t Hierarchy::dequeue(Time now, PortShaper& shaper, std::span<Packet> out) {
  wake(now);
  SojournRun strict(sojourn_[index(Plane::strict)], now), data(sojourn_[index(Plane::data)], now);
  std::size_t n = 0;
  while (n < out.size() && shaper.ready()) {
    const Plane plane = root_.wheel(Plane::strict).empty() ? Plane::data : Plane::strict;
    if (root_.wheel(plane).empty()) break;
    SojournRun& sojourn = plane == Plane::strict ? strict : data;
    const LineNumber top = root_.wheel(plane).front();
    if (arena_.at<ShareNode>(top).is_group)
      n += dequeue_group(top, plane, now, shaper, out.subspan(n), sojourn);
    else
      n += dequeue_interface(top, plane, now, out.subspan(n), sojourn,
                             [&](std::uint32_t length, std::uint32_t) {
                               shaper.sent(length);
                               return shaper.ready();
                             });
  }
  depth_ -= static_cast<std::uint32_t>(n);
  return n;
}

// Interfaces one after the other as long as the group's turn lasts: it would be the front again.
std::size_t Hierarchy::dequeue_group(LineNumber line, Plane plane, Time now, PortShaper& shaper,
                                     std::span<Packet> out, SojournRun& sojourn) {
  GroupNode& group = group_at(line);
  SiblingWheel& wheel = group.siblings.wheel(plane);
  Spending spending(group, root_, plane, now);
  std::size_t n = 0;
  for (bool more = true; more && n < out.size() && !wheel.empty();)
    n += dequeue_interface(wheel.front(), plane, now, out.subspan(n), sojourn,
                           [&](std::uint32_t length, std::uint32_t bytes) {
                             shaper.sent(length);
                             return more = spending.spend(length, bytes) && shaper.ready();
                           });
  settle(group, line, plane, spending.pay(group));
  return n;
}

// A run of packets of one class: as long as each level lets them, in the order in which they would leave one
// by one. No packet that precedes them becomes ready meanwhile.
template <class More>
std::size_t Hierarchy::dequeue_interface(LineNumber line, Plane plane, Time now, std::span<Packet> out,
                                         SojournRun& sojourn, More more) {
  InterfaceNode& node = interface_at(line);
  if (depth_ > kCached) prefetch_behind(node, plane);
  Spending spending(node, siblings(node.parent), plane, now);
  const std::size_t c = node.next_class(plane);
  PooledQueue& queue = node.queue(c);
  const InterfaceParams::Class& params = node.bought().of(c);
  std::int64_t allowance = node.class_allowance(plane, c);
  CreditAllowance cap(queue.cap(), params.cap, params.capped, node.params->overhead(), now);
  const std::size_t n = queue.dequeue(params, pool_, out, now, sojourn, [&](std::uint32_t length) {
    const std::uint32_t bytes = overhead_.wire_bytes(length);
    allowance -= bytes;
    const bool above = more(length, bytes), here = spending.spend(length, bytes);
    return cap.spend(length) && above && here && allowance > 0;
  });
  node.keep_allowance(c, allowance);
  if (params.capped) [[unlikely]] {
    cap.settle(queue.cap());
    if (cap.spent()) {
      node.stop(c);
      wait_for_caps(node);
    }
  }
  if (queue.empty()) node.deactivate(c);
  settle(node, line, plane, spending.pay(node));
  return n;
}

// A child that was in the wheel has sent packets: its shaper, and its place.
void Hierarchy::settle(ShareNode& node, LineNumber line, Plane plane, std::uint64_t tag) {
  SiblingWheel& wheel = siblings(node.parent).wheel(plane);
  if (!node.blocked && has_ready(line, plane)) [[likely]]
    return wheel.keep(line, tag);
  wheel.dismiss(line, tag);
  if (!node.blocked) return;
  withdraw(line, plane == Plane::strict ? Plane::data : Plane::strict);
  start_timer(node.key, node.bucket.ready(node.params->bucket(), 1));
}

// For the first of the classes that are out of credit; there are no more than an interface has.
void Hierarchy::wait_for_caps(InterfaceNode& node) {
  Time first = kNever;
  for (std::uint64_t left = node.capped; left != 0; left &= left - 1) {
    const auto c = static_cast<std::size_t>(std::countr_zero(left));
    first = std::min(first, node.queue(c).cap().ready(node.bought().of(c).cap, 1));
  }
  start_timer(cap_key(node.key), first);
}

void Hierarchy::start_timer(std::uint32_t key, Time when) {
  if (when == kNever) return timers_.remove(key);  // a rate of zero, until it changes
  timers_.insert(key, when);
  // The wheel fires at the time rounded up to a slot.
  const Duration since = when.time_since_epoch(), beyond = since % kTimerSlot;
  next_timer_ = std::min(next_timer_, beyond.count() == 0 ? when : when - beyond + kTimerSlot);
}

// Timers may come early, from beyond the wheel's horizon.
void Hierarchy::wake(Time now) {
  if (now < next_timer_) return;
  std::array<std::uint32_t, 64> due;
  for (std::size_t woken = 0, n = due.size(); n == due.size() && woken < kWakes; woken += n) {
    n = timers_.expire(now, due);
    for (const std::uint32_t key : std::span(due).first(n)) {
      if (key < key_of_interface(0))
        wake_node(groups_[key - key_of(0)], now);
      else if (key < cap_key(key_of_interface(0)))
        wake_node(line_of(key - key_of_interface(0)), now);
      else
        wake_caps(line_of(key - cap_key(key_of_interface(0))), now);
    }
  }
  next_timer_ = timers_.next_event();
}

void Hierarchy::wake_node(LineNumber line, Time now) {
  ShareNode& node = arena_.at<ShareNode>(line);
  const TokenBucketParams& params = node.params->bucket();
  node.bucket.fill(params, now);
  node.blocked = node.params->limited() && node.bucket.credit() <= 0;
  if (node.blocked) return start_timer(node.key, node.bucket.ready(params, 1));
  attach(line);
}

void Hierarchy::wake_caps(LineNumber line, Time now) {
  InterfaceNode& node = interface_at(line);
  for (std::uint64_t left = node.capped; left != 0; left &= left - 1) {
    const auto c = static_cast<std::size_t>(std::countr_zero(left));
    TokenBucket& cap = node.queue(c).cap();
    cap.fill(node.bought().of(c).cap, now);
    if (cap.credit() > 0 || !node.bought().of(c).capped) node.capped &= ~(std::uint64_t{1} << c);
  }
  if (node.capped != 0) wait_for_caps(node);
  if (!node.blocked) attach(line);
}

bool Hierarchy::has_ready(LineNumber child, Plane plane) {
  if (arena_.at<ShareNode>(child).is_group) return !group_at(child).siblings.wheel(plane).empty();
  return interface_at(child).ready(plane) != 0;
}

void Hierarchy::attach(LineNumber child) {
  attach(child, Plane::strict);
  attach(child, Plane::data);
}

// A child that is not blocked takes its place, if it has something, and its group does.
void Hierarchy::attach(LineNumber child, Plane plane) {
  while (child != 0) {
    ShareNode& node = arena_.at<ShareNode>(child);
    if (node.blocked || node.turn(plane).waits || !has_ready(child, plane)) return;
    siblings(node.parent).wheel(plane).insert(child);
    child = node.parent;
  }
}

// Takes a child out of its wheel, and its group, too, if that has no other child waiting.
void Hierarchy::withdraw(LineNumber child, Plane plane) {
  while (child != 0 && arena_.at<ShareNode>(child).turn(plane).waits) {
    const LineNumber parent = arena_.at<ShareNode>(child).parent;
    siblings(parent).wheel(plane).remove(child);
    if (parent == 0 || !siblings(parent).wheel(plane).empty()) return;
    child = parent;
  }
}

Time Hierarchy::next_event(Time now) const {
  if (!root_.wheels[0].empty() || !root_.wheels[1].empty()) return now;
  return depth_ == 0 || next_timer_ == kNever ? kNever : std::max(now, next_timer_);
}

bool Hierarchy::congested(Interface interface, std::size_t class_index) const {
  return queue(interface, class_index).congested(params(interface).of(class_index));
}

void Hierarchy::settle(Interface interface, std::size_t class_index, Time now) {
  InterfaceNode& node = this->node(interface);
  node.queue(class_index).settle(node.bought().of(class_index), now);
}

}  // namespace surety
