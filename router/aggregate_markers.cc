// SPDX-License-Identifier: BSD-3-Clause
#include "router/aggregate_markers.h"

#include <algorithm>
#include <array>

namespace surety {

namespace {
// Random streams of different owners must not be the same: a port's classes take seed, seed + 1, ...
constexpr std::uint64_t kSeedStride = 1 << 20;
}  // namespace

std::vector<AggregateMarkers::Aggregate> AggregateMarkers::configured(const Snapshot& snapshot,
                                                                      PortIndex port, Time now,
                                                                      std::uint64_t seed) {
  std::vector<Aggregate> aggregates;
  for (std::size_t i = 0; i < snapshot.config.aggregates.size(); ++i) {
    const config::Aggregate& a = snapshot.config.aggregates[i];
    if (a.port == port)
      aggregates.push_back(
          {i, a.class_index, a.out_dscp, ArdMarker(a.marker, now, seed + (i + 1) * kSeedStride), {}, a.name});
  }
  return aggregates;
}

AggregateMarkers::AggregateMarkers(std::vector<Aggregate> aggregates, std::size_t classes, PortIndex port,
                                   PacketDisposal& disposal)
    : aggregates_(std::move(aggregates)), of_class_(classes), port_(port), disposal_(disposal) {
  find_classes();
}

void AggregateMarkers::adopt(std::vector<Aggregate>& fresh, Time now) {
  for (Aggregate& a : fresh) {
    const auto same = [&](const Aggregate& old) { return old.name == a.name; };
    const auto old = std::find_if(aggregates_.begin(), aggregates_.end(), same);
    if (old == aggregates_.end()) continue;
    old->marker.adopt(a.marker, now);
    a.marker = old->marker;
    a.counters = old->counters;
  }
  aggregates_.swap(fresh);
  find_classes();
}

void AggregateMarkers::find_classes() {
  std::fill(of_class_.begin(), of_class_.end(), nullptr);
  for (Aggregate& a : aggregates_) of_class_[a.class_index] = &a;
}

// As a whole where every packet passes, as nearly always; else one by one.
void AggregateMarkers::mark(Aggregate& a, ClassRun& run, Time now) {
  std::array<BurstTally, kPrecedences> tally{};
  for (const Packet& p : run.packets) {
    const std::uint32_t in = p.precedence == Precedence::in;
    tally[0].packets += in;
    tally[0].bytes += in * p.length;
    tally[1].bytes += p.length;
  }
  tally[1].packets = static_cast<std::uint32_t>(run.packets.size()) - tally[0].packets;
  tally[1].bytes -= tally[0].bytes;
  if (a.marker.pass(tally[0], tally[1], now)) [[likely]] {
    a.counters.passed_in += tally[0].packets;
    a.counters.passed_out += tally[1].packets;
    return;
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < run.packets.size(); ++i) {
    Packet p = run.packets[i];
    if (!mark(a, p, now)) {
      disposal_.drop(static_cast<rte_mbuf*>(p.handle), port_, DropReason::ard);
      continue;
    }
    run.ecn_capable[left] = run.ecn_capable[i];
    run.packets[left++] = p;
  }
  run.packets = run.packets.first(left);
  run.ecn_capable = run.ecn_capable.first(left);
}

// false: it is to be dropped.
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
