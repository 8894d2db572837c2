// SPDX-License-Identifier: BSD-3-Clause
// Random trees, traffic and changes, beside a witness that has a token bucket of its own for each shaper and
// cap: what leaves may leave, what stays may not, nothing is lost, and strict traffic goes first.
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "aqm/hierarchy/hierarchy.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;
constexpr std::uint32_t kGroups = 4, kInterfaces = 12;

struct Meter {
  TokenBucketParams params;
  TokenBucket bucket;
  WireOverhead overhead;
  bool limited = false;

  void set(const PortShaperParams& p, Time now, bool fresh) {
    const TokenBucketParams next{p.rate.value_or(Rate{}), Depth::bytes(p.burst.count())};
    bucket.fill(params, now);
    if (fresh || !limited) bucket.reset(next, now);
    bucket.charge(std::max<Credit>(bucket.credit() - next.depth(), 0));
    params = next;
    limited = p.rate.has_value();
    overhead = p.overhead;
  }
  bool ready(Time at) const {
    TokenBucket then = bucket;
    then.fill(params, at);
    return !limited || then.credit() > 0;
  }
  void sent(std::uint32_t length, Time now) {
    bucket.fill(params, now);
    if (limited) bucket.charge(params.cost(overhead.wire_bytes(length)));
  }
};

struct Offer {
  PortShaperParams shaper;
  std::uint32_t weight;
};

class Witness {
 public:
  explicit Witness(std::uint64_t seed)
      : rng_(seed),
        t_({}, {.interfaces = kInterfaces, .groups = kGroups, .queues = 16 * kInterfaces, .packets = 300}) {
    for (std::uint32_t g = 0; g < kGroups; ++g) set_group(g, true);
    for (std::uint32_t i = 0; i < kInterfaces; ++i) add(i);
  }

  void run(int steps) {
    while (steps-- > 0 && !::testing::Test::HasFailure()) {
      const std::uint32_t what = rng_.next() % 100;
      if (what < 50)
        arrive();
      else if (what < 85)
        depart();
      else if (what < 95)
        t_.now += Duration(rng_.next() % (rng_.next() % 4 == 0 ? 50'000'000 : 1'000'000));
      else
        reconfigure();
    }
  }

  // What came, left, was refused, taken away, or is there.
  void account() {
    std::uint64_t there = 0;
    for (std::uint32_t i = 0; i < kInterfaces; ++i) {
      if (!t_.h.has(i)) continue;
      for (std::size_t c = 0; c < children_[i].classes.size(); ++c) {
        const PooledQueue& q = t_.h.queue(i, c);
        const QueueCounters n = q.counters(Precedence::out);
        EXPECT_EQ(n.arrivals, n.departures + n.overflow_drops + q.depth());
        there += q.depth();
      }
    }
    EXPECT_EQ(there, t_.h.depth());
    EXPECT_EQ(entered_, left_ + removed_ + there + t_.h.removed_depth());
    for (Packet p; t_.h.take_any(p, t_.now);) ++removed_;
    EXPECT_EQ(entered_, left_ + removed_);
    EXPECT_EQ(t_.h.depth() + t_.h.removed_depth(), 0u);
    for (std::uint32_t i = 0; i < kInterfaces; ++i)
      if (t_.h.has(i)) remove(i);
    EXPECT_EQ(t_.h.pool().in_use(), 0u);
    EXPECT_EQ(t_.h.pool().common_free(), t_.h.pool().size());
  }
  std::uint64_t left() const { return left_; }

 private:
  struct Child {
    Hierarchy::Group parent = kPort;
    Meter meter;
    std::vector<ClassParams> classes;
    std::vector<Meter> caps;
  };

  std::uint32_t any(std::uint32_t n) { return rng_.next() % n; }
  PortShaperParams any_shaper() {
    constexpr std::array<std::uint64_t, 6> kRates{64'000,      1'000'000,     10'000'000,
                                                  100'000'000, 1'000'000'000, 800};
    PortShaperParams p;
    if (any(3) > 0) p.rate = Rate::bits_per_second(kRates[any(kRates.size())]);
    p.burst = Bytes(1 + any(5000));
    p.overhead = {any(4) == 0 ? WireOverhead::Kind::atm : WireOverhead::Kind::bytes, any(50)};
    return p;
  }
  std::uint32_t any_weight() { return any(4) == 0 ? 1 + any(10'000) : 1 + any(4); }
  Hierarchy::Group any_parent() {
    const std::uint32_t g = any(kGroups + 1);
    return g == kGroups ? kPort : g;
  }

  void set_group(Hierarchy::Group g, bool fresh) {
    const PortShaperParams shaper = any_shaper();
    const GroupParams& p = t_.groups.emplace_back(shaper, any_weight());
    if (fresh)
      ASSERT_TRUE(t_.h.add_group(g, p, t_.now));
    else
      t_.h.change_group(g, p, t_.now);
    groups_[g].set(shaper, t_.now, fresh);
  }
  void set_caps(Child& child, const PortShaperParams& shaper, bool fresh) {
    child.caps.resize(child.classes.size());
    for (std::size_t c = 0; c < child.classes.size(); ++c) {
      std::optional<Rate>& cap = child.classes[c].cap;
      cap.reset();
      if (any(2) == 0) cap = Rate::bits_per_second(8000 + any(5'000'000));
      PortShaperParams p{
          .rate = cap, .burst = default_burst(cap.value_or(Rate{})), .overhead = shaper.overhead};
      child.caps[c].set(p, t_.now, fresh);
    }
  }
  void add(Hierarchy::Interface i) {
    Child& child = children_[i];
    child.parent = any_parent();
    child.classes.clear();
    for (std::uint32_t n = 1 + any(4); n > 0; --n)
      child.classes.push_back(any(3) == 0 ? strict_class({}, 1 + any(40))
                                          : data_class(1 + any(9), 1 + any(40)));
    const PortShaperParams shaper = any_shaper();
    set_caps(child, shaper, true);
    const InterfaceParams& p = t_.params.emplace_back(shaper, any_weight(), child.classes, any(9));
    ASSERT_TRUE(t_.h.add(i, child.parent, p, t_.now, i));
    child.meter.set(shaper, t_.now, true);
    for (FlowId c = 0; c < 64; ++c) t_.entered[i * 64 + c] = t_.left[i * 64 + c] = 0;
  }
  void change(Hierarchy::Interface i) {
    Child& child = children_[i];
    if (any(2) == 0) child.parent = any_parent();
    for (ClassParams& c : child.classes) c.queue.limit = 1 + any(40);
    const PortShaperParams shaper = any_shaper();
    set_caps(child, shaper, false);
    const InterfaceParams& p = t_.params.emplace_back(shaper, any_weight(), child.classes, any(9));
    t_.h.change(i, child.parent, p, t_.now, i);
    child.meter.set(shaper, t_.now, false);
  }
  void remove(Hierarchy::Interface i) {
    t_.h.remove(i);
    std::array<Packet, 7> out;
    for (std::size_t n = out.size(); n == out.size(); removed_ += n) n = t_.h.take_removed(out, t_.now);
    EXPECT_EQ(t_.h.removed_depth(), 0u);
  }
  void reconfigure() {
    const Hierarchy::Interface i = any(kInterfaces);
    if (any(4) == 0)
      set_group(any(kGroups), false);
    else if (!t_.h.has(i))
      add(i);
    else if (any(3) == 0)
      remove(i);
    else
      change(i);
  }

  void arrive() {
    const Hierarchy::Interface i = any(kInterfaces);
    if (!t_.h.has(i)) return;
    const std::size_t c = any(static_cast<std::uint32_t>(children_[i].classes.size()));
    for (std::uint32_t n = 1 + any(12); n > 0; --n)
      entered_ += t_.put(i, c, static_cast<std::uint16_t>(40 + any(1461))).drop == DropReason::none;
  }

  bool may_leave(Hierarchy::Interface i, std::size_t c, Time at) const {
    const Child& child = children_[i];
    return child.meter.ready(at) && child.caps[c].ready(at) &&
           (child.parent == kPort || groups_[child.parent].ready(at));
  }
  // Whatever has waited for a slot of the timers, and may leave.
  bool something_may_leave(bool strict) const {
    const Time since = t_.now - Hierarchy::kTimerSlot;
    for (std::uint32_t i = 0; i < kInterfaces; ++i)
      if (t_.h.has(i))
        for (std::size_t c = 0; c < children_[i].classes.size(); ++c)
          if (children_[i].classes[c].strict >= strict && t_.h.queue(i, c).depth() > 0 &&
              may_leave(i, c, since))
            return true;
    return false;
  }
  void depart() {
    for (std::uint32_t n = 1 + any(20); n > 0; --n) {
      const bool strict_waits = something_may_leave(true);
      Packet p;
      if (!t_.take(p)) {  // which checks the order
        EXPECT_FALSE(something_may_leave(false)) << "not work conserving";
        EXPECT_EQ(t_.h.next_event(t_.now) == kNever, t_.h.next_event(t_.now) > t_.now + 1000s);
        return;
      }
      ++left_;
      const Hierarchy::Interface i = p.flow / 64;
      const std::size_t c = p.flow % 64;
      Child& child = children_[i];
      ASSERT_TRUE(may_leave(i, c, t_.now)) << "above a shaper or a cap: interface " << i << " class " << c;
      ASSERT_TRUE(child.classes[c].strict || !strict_waits) << "data before strict traffic";
      child.meter.sent(p.length, t_.now);
      child.caps[c].sent(p.length, t_.now);
      if (child.parent != kPort) groups_[child.parent].sent(p.length, t_.now);
    }
  }

  Rng rng_;
  Tree t_;
  std::array<Meter, kGroups> groups_;
  std::array<Child, kInterfaces> children_;
  std::uint64_t entered_ = 0, left_ = 0, removed_ = 0;
};

TEST(HierarchyProperties, HoldForAnyTreeTrafficAndChange) {
  std::uint64_t left = 0;
  for (std::uint64_t seed = 1; seed <= 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Witness w(seed);
    w.run(600);
    w.account();
    left += w.left();
  }
  EXPECT_GT(left, 150'000u);
}

}  // namespace
}  // namespace surety
