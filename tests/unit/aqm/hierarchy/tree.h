// SPDX-License-Identifier: BSD-3-Clause
// A Hierarchy for tests: parameters in few words, packets that say whose they are, a sink that counts.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "aqm/hierarchy/hierarchy.h"

namespace surety {

inline ClassParams strict_class(std::optional<Rate> cap = {}, std::uint32_t limit = 1000) {
  return {.name = "voice", .strict = true, .cap = cap, .weight = 1, .queue = {.limit = limit, .rio = {}}};
}
inline ClassParams data_class(std::uint32_t weight = 1, std::uint32_t limit = 1000) {
  return {.name = "data", .strict = false, .cap = {}, .weight = weight, .queue = {.limit = limit, .rio = {}}};
}

inline PortShaperParams shaped(std::optional<Rate> rate, WireOverhead overhead = {}) {
  return {.rate = rate, .burst = default_burst(rate.value_or(Rate{})), .overhead = overhead};
}

// The flow of a packet is interface * 64 + class; its handle the number of the packet in its queue.
struct Tree {
  static constexpr Time kStart{};
  explicit Tree(std::optional<Rate> rate = {},
                const HierarchyRoom& room = {.interfaces = 70'000,
                                             .groups = 300,
                                             .queues = 140'000,
                                             .packets = 1'000'000},
                WireOverhead overhead = {})
      : h(room, overhead, kStart), shaper(shaped(rate, overhead), kStart) {}

  void group(Hierarchy::Group g, std::uint32_t weight = 1, std::optional<Rate> rate = {}) {
    groups.emplace_back(shaped(rate), weight);
    ASSERT_TRUE(h.add_group(g, groups.back(), now));
  }
  void interface(Hierarchy::Interface i, Hierarchy::Group parent, const InterfaceParams& params) {
    ASSERT_TRUE(h.add(i, parent, params, now, i));
  }
  const InterfaceParams& bought(std::vector<ClassParams> classes, std::uint32_t weight = 1,
                                std::optional<Rate> rate = {}, std::uint32_t part = 3) {
    return params.emplace_back(shaped(rate), weight, classes, part);
  }

  ArrivalResult put(Hierarchy::Interface i, std::size_t class_index, std::uint16_t length,
                    Precedence precedence = Precedence::out, bool ecn_capable = false) {
    const FlowId flow = i * 64 + static_cast<FlowId>(class_index);
    Packet p{.flow = flow, .length = length, .precedence = precedence};
    p.handle = reinterpret_cast<void*>(entered[flow] + 1);
    const ArrivalResult r = h.enqueue({p, i, static_cast<std::uint8_t>(class_index), ecn_capable}, now);
    if (r.drop == DropReason::none) ++entered[flow];
    return r;
  }
  void fill(Hierarchy::Interface i, std::size_t class_index, std::uint16_t length, std::size_t n) {
    while (n-- > 0) put(i, class_index, length);
  }
  // One packet, if something may leave; checks the order within its queue.
  bool take(Packet& p) {
    shaper.advance(now);
    if (h.dequeue(now, shaper, {&p, 1}) == 0) return false;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.handle), ++left[p.flow]) << "order of flow " << p.flow;
    bytes[p.flow] += p.length;
    return true;
  }
  // The interface of the next one; -1: nothing may leave.
  int next() {
    Packet p;
    return take(p) ? static_cast<int>(p.flow / 64) : -1;
  }
  std::uint64_t bytes_of(Hierarchy::Interface i) const {
    std::uint64_t sum = 0;
    for (FlowId flow = i * 64; flow < i * 64 + 64; ++flow)
      if (const auto at = bytes.find(flow); at != bytes.end()) sum += at->second;
    return sum;
  }
  // Lets time go on to where something may leave, at most to `end`; false: nothing until then.
  bool wait(Time end) {
    const Time next = std::max(h.next_event(now), h.depth() == 0 ? kNever : shaper.next_event(now));
    if (next > end) return false;
    now = std::max(now, next);
    return true;
  }

  std::deque<GroupParams> groups;
  std::deque<InterfaceParams> params;
  Hierarchy h;
  PortShaper shaper;
  Time now = kStart;
  std::map<FlowId, std::uintptr_t> entered, left;
  std::map<FlowId, std::uint64_t> bytes;
};

}  // namespace surety
