// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/aggregate_markers.h"

#include <algorithm>

#include "aqm/packet_tally.h"

namespace surety {

namespace {
// Random streams of different owners must not be the same: a port's classes take seed, seed + 1, ...
constexpr std::uint64_t kSeedStride = 1 << 20;
}  // namespace

AggregateMarkers::Set AggregateMarkers::configured(const Snapshot& snapshot, PortIndex port, Time now,
                                                   std::uint64_t seed) {
  struct OfClass {
    std::vector<std::pair<Prefix, std::uint32_t>> prefixes;
    std::uint32_t rest = PrefixMap::kNone;
  };
  const PortTree* const tree = snapshot.queues[port].tree.get();
  std::vector<OfClass> classes(tree != nullptr ? tree->slots() : snapshot.queues[port].classes.size());
  Set set;
  for (std::size_t i = 0; i < snapshot.config.aggregates.size(); ++i) {
    const config::Aggregate& a = snapshot.config.aggregates[i];
    if (a.port != port) continue;
    std::size_t slot = a.class_index;
    if (a.interface) slot = *tree->slot(snapshot.interfaces->of_definition(*a.interface), a.class_index);
    const auto place = static_cast<std::uint32_t>(set.aggregates.size());
    set.aggregates.push_back(
        {i, slot, a.out_dscp, ArdMarker(a.marker, now, seed + (i + 1) * kSeedStride), {}, a.name});
    for (const Prefix& p : a.sources) classes[slot].prefixes.emplace_back(p, place);
    if (a.sources.empty()) classes[slot].rest = place;
  }
  for (OfClass& c : classes) set.sources.emplace_back(std::move(c.prefixes), c.rest);
  set.whole.resize(classes.size());
  return set;
}

AggregateMarkers::AggregateMarkers(Set set, PortIndex port, PacketDisposal& disposal)
    : set_(std::move(set)), port_(port), disposal_(disposal) {
  find_classes();
}

void AggregateMarkers::adopt(Set& fresh, Time now) {
  auto& known = set_.aggregates;
  auto next = known.begin();  // the order is usually the same
  for (Aggregate& a : fresh.aggregates) {
    const auto same = [&](const Aggregate& old) { return old.name == a.name; };
    auto old = std::find_if(next, known.end(), same);
    if (old == known.end()) old = std::find_if(known.begin(), next, same);
    if (old == known.end() || !same(*old)) continue;
    old->marker.adopt(a.marker, now);
    a.marker = old->marker;
    a.counters = old->counters;
    next = old + 1;
  }
  std::swap(set_, fresh);
  find_classes();
}

void AggregateMarkers::find_classes() {
  by_source_ = false;
  for (std::size_t c = 0; c < set_.whole.size(); ++c) {
    const PrefixMap& sources = set_.sources[c];
    const bool alone = sources.empty() && sources.rest() != PrefixMap::kNone;
    set_.whole[c] = alone ? &set_.aggregates[sources.rest()] : nullptr;
    by_source_ |= !sources.empty();
  }
  find_next();
}

void AggregateMarkers::find_next() {
  next_ = kNever;
  for (const Aggregate& a : set_.aggregates) next_ = std::min(next_, a.marker.next_event());
}

void AggregateMarkers::end_intervals(Time now) {
  for (Aggregate& a : set_.aggregates) a.marker.advance(now);
  find_next();
}

// Marks a run as a whole if every packet passes, as nearly always; else one by one.
void AggregateMarkers::mark(Aggregate& a, ClassRun& run, Time now) {
  const PacketTally t(run.packets);
  const BurstTally in{t.ins, static_cast<std::uint32_t>(t.in_bytes)},
      out{t.outs(), static_cast<std::uint32_t>(t.out_bytes())};
  if (a.marker.pass(in, out, now)) [[likely]] {
    a.counters.passed_in += in.packets;
    a.counters.passed_out += out.packets;
    return;
  }
  mark_each(
      run, [&](const Packet&) { return &a; }, now);
}

void AggregateMarkers::mark_by_source(ClassRun& run, Time now) {
  const PrefixMap& sources = set_.sources[run.class_index];
  if (sources.empty()) return;
  const auto aggregate_of = [&](const Packet& p) {
    const std::uint32_t place = sources.of(source_of(egress_ip(p)));
    return place == PrefixMap::kNone ? nullptr : &set_.aggregates[place];
  };
  mark_each(run, aggregate_of, now);
}

// Marks each packet by its aggregate; nullptr: it passes.
template <class AggregateOf>
void AggregateMarkers::mark_each(ClassRun& run, AggregateOf aggregate_of, Time now) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < run.packets.size(); ++i) {
    Packet p = run.packets[i];
    Aggregate* const a = aggregate_of(p);
    if (a != nullptr && !mark(*a, p, now)) {
      disposal_.drop_owned(static_cast<rte_mbuf*>(p.handle), port_, DropReason::ard);
      continue;
    }
    run.ecn_capable[left] = run.ecn_capable[i];
    run.packets[left++] = p;
  }
  run.packets = run.packets.first(left);
  run.ecn_capable = run.ecn_capable.first(left);
}

// Returns false if the packet is to be dropped.
bool AggregateMarkers::mark(Aggregate& a, Packet& p, Time now) {
  switch (a.marker.offer(p.precedence, p.length, now)) {
    case ArdVerdict::pass:
      ++(p.precedence == Precedence::in ? a.counters.passed_in : a.counters.passed_out);
      break;
    case ArdVerdict::remark: {
      ++a.counters.remarked;
      p.precedence = Precedence::out;
      std::uint8_t* const ip = egress_ip(p);
      set_dscp(ip, is_v6(ip), a.out_dscp);
      break;
    }
    case ArdVerdict::drop:
      ++a.counters.dropped;
      return false;
  }
  return true;
}

}  // namespace surety
