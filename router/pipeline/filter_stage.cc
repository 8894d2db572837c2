// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/filter_stage.h"

#include <bit>

#include "router/pipeline/signal_path.h"

namespace surety {

namespace {

constexpr std::uint64_t bit(std::size_t i) {
  return std::uint64_t{1} << i;
}
std::uint64_t all_of(const Burst& v) {
  return v.size == kBurst ? ~std::uint64_t{0} : bit(v.size) - 1;
}

}  // namespace

FilterStage::FilterStage(const Snapshot& snapshot, const NextHopTable& next_hops, PacketDisposal& disposal)
    : snapshot_(&snapshot), next_hops_(next_hops), disposal_(disposal), counts_(snapshot.filters.counters()) {
  asked_.resize(snapshot.config.ports.size());
  find_asked();
}

void FilterStage::adopt(const Snapshot& snapshot, std::vector<std::uint64_t>& counts) {
  snapshot.filters.carry_over(counts_, counts);
  counts_.swap(counts);
  snapshot_ = &snapshot;
  find_asked();
}

// Runs in a turn of the worker: its time depends on ports and filters, not on interfaces.
void FilterStage::find_asked() {
  asks_out_ = false;
  bool each_packet = false;
  for (std::size_t f = 0; f < snapshot_->filters.size(); ++f)
    each_packet |= snapshot_->filters[f].each_packet();
  for (std::size_t p = 0; p < asked_.size(); ++p) {
    const auto port = static_cast<PortIndex>(p);
    const bool in = snapshot_->interfaces->filters_in(port);
    asked_[p] = {in, in && each_packet};
    asks_out_ |= snapshot_->interfaces->filters_out(port);
  }
}

std::uint64_t FilterStage::asked_always(const Burst& v, PortIndex port) const {
  bool some = asked_[port].each_packet;
  for (std::size_t i = 0; i < v.size; ++i) some |= v.header[i].fragment;
  if (!some) [[likely]]
    return 0;
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    const std::uint16_t filter = snapshot_->host_filters.filter_in(v.header[i]);
    if (filter == kNoFilter) continue;
    if (v.header[i].fragment || snapshot_->filters[filter].each_packet()) asked |= bit(i);
  }
  return asked;
}

std::uint64_t FilterStage::refused(const Burst& v, std::uint64_t asked) {
  Choice filters;
  for (std::size_t i = 0; i < v.size; ++i) filters[i] = snapshot_->host_filters.filter_in(v.header[i]);
  return judge(v, filters, asked);
}

void FilterStage::run_in(Burst& v, PortIndex port) {
  drop(v, refused(v, all_of(v)), port);
}

void FilterStage::run_out(Burst& v, PortIndex port) {
  Choice filters;
  for (std::size_t i = 0; i < v.size; ++i) filters[i] = filter_out(v, i);
  drop(v, judge(v, filters, all_of(v)), port);
}

bool FilterStage::refuses_out(const Burst& v, std::size_t i) {
  Choice filters;
  filters[i] = filter_out(v, i);
  std::uint64_t asked = bit(i);
  return filters[i] != kNoFilter && judge_same(v, filters, asked) != 0;
}

// Evaluates the packets of one filter together, at a fraction of the cost of single ones.
std::uint64_t FilterStage::judge(const Burst& v, const Choice& filters, std::uint64_t asked) {
  for (std::size_t i = 0; i < v.size; ++i)
    if (filters[i] == kNoFilter) asked &= ~bit(i);
  std::uint64_t refused = 0;
  while (asked != 0) refused |= judge_same(v, filters, asked);
  return refused;
}

// Evaluates the packets of the first one's filter, and removes them from `asked`.
std::uint64_t FilterStage::judge_same(const Burst& v, const Choice& filters, std::uint64_t& asked) {
  std::array<FilteredPacket, kBurst> packets;
  std::array<std::uint8_t, kBurst> which;
  const std::uint16_t filter = filters[static_cast<std::size_t>(std::countr_zero(asked))];
  std::size_t n = 0;
  for (std::uint64_t left = asked; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (filters[i] != filter) continue;
    asked &= ~bit(i);
    packets[n] = {&v.header[i], rte_pktmbuf_mtod(v.mbuf[i], const std::uint8_t*)};
    which[n++] = static_cast<std::uint8_t>(i);
  }
  std::uint64_t refused = 0;
  for (std::uint64_t left = snapshot_->filters.judge(filter, {packets.data(), n}, counts_); left != 0;
       left &= left - 1)
    refused |= bit(which[static_cast<std::size_t>(std::countr_zero(left))]);
  return refused;
}

void FilterStage::drop(Burst& v, std::uint64_t refused, PortIndex port) {
  if (refused == 0) return;
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if ((refused & bit(i)) != 0)
      refuse(v, i, port);
    else
      v.keep(i, kept++);
  }
  v.size = kept;
}

bool SourceCheck::accepts(const ParsedPacket& packet) const {
  const InterfaceIndex from = packet.interface;
  const Mode mode = (*snapshot_->interfaces)[from].source_check;
  if (mode == Mode::off) return true;
  const RouteTarget target = route_of(fib_, source_of(packet.key));
  if (next_hops_.get(target.first).state == NextHopEntry::State::local) return false;
  return any_way(target, next_hops_, [&](InterfaceIndex i) {
    return mode == Mode::loose || i == from || (*snapshot_->interfaces)[i].within == from;
  });
}

void SourceCheck::run(Burst& v, PortIndex port, PacketDisposal& disposal) const {
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (accepts(v.header[i]))
      v.keep(i, kept++);
    else
      disposal.drop_and_report(v.mbuf[i], port, DropReason::source_check, Refusal::source, v.header[i]);
  }
  v.size = kept;
}

}  // namespace surety
