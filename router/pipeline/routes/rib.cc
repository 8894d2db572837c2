// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/rib.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace surety {
namespace {

// A route may need more room than one neighbour's host route: several /32 share a table of 256. If this many
// do not help, another resource is exhausted.
constexpr std::size_t kNeighborsForRoute = 4;
constexpr std::uint32_t kPause = 256;
constexpr std::size_t kStepsOfChange = 32;  // a change in the FIB takes as long as looking at so many routes

Prefix shortened(const IpAddress& address, int length) {
  return Prefix{address, static_cast<std::uint8_t>(length)}.masked();
}

bool same_way(const RouteHop& a, const RouteHop& b) {
  return a.ifindex == b.ifindex && a.interface == b.interface && a.via == b.via;
}

}  // namespace

Rib::Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed)
    : sink_(sink), sets_(groups, std::move(resolve)), changed_(std::move(changed)) {}

void Rib::set(const Prefix& prefix, RouteCandidate candidate) {
  auto& candidates = table_.add(prefix).value.candidates;
  const auto* const known = candidates.find(candidate.source, candidate.metric);
  const HopSets::Id before = known != nullptr ? known->set : HopSets::kNone;
  const HopSets::Id set = sets_.hold(std::move(candidate.to));
  candidates.set({set, candidate.metric, candidate.generation, candidate.source});
  if (before != set) candidates_changed(prefix, candidate.source);
  if (before != HopSets::kNone) sets_.drop(before);
}

void Rib::remove(const Prefix& prefix, Source source, std::uint32_t metric) {
  remove_hops(prefix, source, metric, {});
}

void Rib::remove_hops(const Prefix& prefix, Source source, std::uint32_t metric,
                      const std::vector<RouteHop>& hops) {
  auto* const entry = table_.find(prefix);
  if (entry == nullptr) return;
  auto& candidates = entry->value.candidates;
  const auto* const known = candidates.find(source, metric);
  if (known == nullptr) return;
  RouteCandidate rest{source, metric, sets_.key(known->set), known->generation};
  const auto removed = std::erase_if(rest.to.hops, [&](const auto& h) {
    return std::ranges::any_of(hops, [&](const auto& gone) { return same_way(gone, h); });
  });
  if (removed > 0 && !rest.to.hops.empty()) return set(prefix, std::move(rest));
  const auto taken =
      candidates.take_if([&](const auto& c) { return c.source == source && c.metric == metric; });
  candidates_changed(prefix, source);
  for (const auto& c : taken) sets_.drop(c.set);
}

void Rib::candidates_changed(const Prefix& prefix, Source source) {
  program(prefix);
  // A neighbour's host route hides the others of its prefix from program().
  if (is_host(prefix) && source != Source::neighbor) changed_(prefix);
}

// --- selection, and programming of the sink ---

const RouteCandidates::Candidate* Rib::winner(const Route& route, bool neighbors) const {
  for (const auto& c : route.candidates.all())
    if ((c.source != Source::neighbor || neighbors) && sets_.active(c.set)) return &c;
  return nullptr;
}

HopSets::Id Rib::wanted(const Route& route, bool neighbors) const {
  const auto* const to = winner(route, neighbors);
  return to == nullptr ? HopSets::kNone : to->set;
}

void Rib::program(Prefix prefix) {
  auto* entry = table_.find(prefix);
  if (entry == nullptr) return;
  const Programmed before = entry->value.programmed;
  const auto* const best = winner(entry->value, true);
  const auto to = best == nullptr ? std::nullopt : std::optional(*best);
  const Programmed after = install(prefix, best, before);
  entry->value.programmed = after;
  const bool rejected = to && after.set == HopSets::kNone;
  set_rejected(*entry, rejected);
  if (after.value == 0 && before.value != 0) sink_.remove_route(prefix);
  if (before.set != HopSets::kNone) sets_.unuse(before.set);
  account(prefix, before, after);
  if (entry->value.candidates.all().empty()) table_.erase(prefix);
  if (rejected && !making_room_) make_room(prefix, *to);
  if (after == before) return;
  if (before.on_link || after.on_link || is_under_subnet(prefix)) changed_(prefix);
  if (before.value != 0 && after.value == 0) retry_rejected();
}

// Returns the new state of the sink, with a use of the set; empty if there is no room.
Rib::Programmed Rib::install(const Prefix& prefix, const RouteCandidates::Candidate* to,
                             const Programmed& before) {
  if (to == nullptr) return {};
  const HopSets::Id set = to->set;
  const auto target = sets_.use(set);
  if (!target) return {};
  const Programmed after{set, target->encode(), sets_.on_link(set), to->source == Source::neighbor};
  if (after.value == before.value || sink_.set_route(prefix, *target)) return after;
  sets_.unuse(set);
  return {};
}

void Rib::set_rejected(Table::Entry& entry, bool rejected) {
  rejected_ = rejected_ + rejected - entry.value.rejected;
  entry.value.rejected = rejected;
  if (!rejected || entry.value.waits) return;
  entry.value.waits = true;
  const auto* const to = winner(entry.value, true);
  if (to != nullptr && to->source == Source::neighbor)
    waiting_.push_front(entry.prefix);
  else
    waiting_.push_back(entry.prefix);
}

bool Rib::is_rejected(const Prefix& prefix) const {
  const auto* const entry = table_.find(prefix);
  return entry != nullptr && entry->value.rejected;
}

InterfaceIndex Rib::interface_of(HopSets::Id station) const {
  const auto& hops = sets_.key(station).hops;
  return hops.empty() ? 0 : hops.front().interface.value_or(0);
}

std::optional<Prefix> Rib::that_yields(const Prefix& prefix, const RouteCandidates::Candidate& to) const {
  const bool v6 = prefix.address.is_v6();
  const auto station = to.source == Source::neighbor ? stations_.for_station(v6, interface_of(to.set))
                                                     : stations_.for_route(v6, of_family_[v6]);
  return station ? std::optional(host_prefix(*station)) : std::nullopt;
}

// Host routes whose withdrawal did not help return, and so do those that fit into surplus room.
void Rib::make_room(const Prefix& prefix, const RouteCandidates::Candidate& to) {
  if (pause_ > 0) {
    --pause_;
    return;
  }
  making_room_ = true;
  std::vector<Prefix> gone;
  while (gone.size() < kNeighborsForRoute && is_rejected(prefix)) {
    const auto station = that_yields(prefix, to);
    if (!station) break;
    withdraw(gone.emplace_back(*station));
    program(prefix);
  }
  if (!gone.empty() && is_rejected(prefix)) pause_ = kPause;
  for (const Prefix& station : gone) program(station);
  making_room_ = false;
}

void Rib::withdraw(const Prefix& station) {
  auto* const entry = table_.find(station);
  const Programmed before = std::exchange(entry->value.programmed, {});
  set_rejected(*entry, true);
  sink_.remove_route(station);
  sets_.unuse(before.set);
  account(station, before, {});
}

// Retries one rejected route; called for each removed one, whose room is about that of one other.
void Rib::retry_rejected() {
  while (!waiting_.empty()) {
    const Prefix prefix = waiting_.back();
    waiting_.pop_back();
    auto* const entry = table_.find(prefix);
    if (entry == nullptr) continue;
    entry->value.waits = false;
    if (!entry->value.rejected) continue;
    return program(prefix);
  }
}

std::uint32_t& Rib::count(Lengths& lengths, const Prefix& p) {
  return lengths[p.address.is_v6()][p.length];
}

void Rib::account(const Prefix& prefix, const Programmed& before, const Programmed& after) {
  const auto change = [&](auto& n, bool was, bool is) { n = n + is - was; };
  change(programmed_, before.value != 0, after.value != 0);
  change(of_family_[prefix.address.is_v6()], before.value != 0, after.value != 0);
  if (before.station && before != after) stations_.remove(prefix.address);
  if (after.station && before != after) stations_.add(prefix.address, interface_of(after.set));
  change(count(all_, prefix), before.value != 0, after.value != 0);
  change(count(on_link_, prefix), before.on_link, after.on_link);
}

// --- work on all routes ---

void Rib::set_object(const NextHopEvent& event, std::uint32_t generation) {
  if (sets_.set_object(event, generation)) begin_walk();
}

void Rib::remove_object(std::uint32_t id) {
  if (sets_.remove_object(id)) begin_walk();
}

void Rib::remove_stale_objects(std::uint32_t generation) {
  for (const auto id : sets_.objects().stale(generation)) remove_object(id);
}

void Rib::program_all() {
  if (sets_.refresh_all()) begin_walk();
}

void Rib::remove_stale(Source source, std::uint32_t generation) {
  stale_[static_cast<std::size_t>(source)] = generation;
  begin_walk();
}

void Rib::begin_walk() {
  place_ = 0;
  walking_ = true;
  work();
}

bool Rib::work() {
  for (std::size_t steps = 0; walking_ && steps < steps_;) {
    if (place_ == table_.places()) {
      walking_ = false;
      stale_ = {};
      sets_.release_retired();
      break;
    }
    auto* const entry = table_.at(place_++);
    steps += entry == nullptr ? 1 : visit(*entry);
  }
  return walking_;
}

bool Rib::is_stale(const RouteCandidates::Candidate& c) const {
  const auto stays = stale_[static_cast<std::size_t>(c.source)];
  return (stays && c.generation != *stays) || sets_.dead(c.set);
}

std::size_t Rib::visit(Table::Entry& entry) {
  const auto& all = entry.value.candidates.all();
  const bool stale = std::ranges::any_of(all, [this](const auto& c) { return is_stale(c); });
  if (!stale && is_as_wanted(entry.value)) return 1;
  const Prefix prefix = entry.prefix;
  if (!stale) {
    program(prefix);
    return kStepsOfChange;
  }
  const auto taken = entry.value.candidates.take_if([this](const auto& c) { return is_stale(c); });
  candidates_changed(prefix, taken.front().source);
  for (const auto& c : taken) sets_.drop(c.set);
  return kStepsOfChange;
}

bool Rib::is_as_wanted(const Route& route) const {
  const Programmed& now = route.programmed;
  if (wanted(route, true) != now.set) return false;
  if (now.set == HopSets::kNone) return true;
  const auto target = sets_.target(now.set);
  return target && target->encode() == now.value && sets_.on_link(now.set) == now.on_link;
}

// --- longest match, for neighbours ---

HopSets::Id Rib::covering(const IpAddress& address) const {
  if (const auto* host = table_.find(host_prefix(address)))
    if (const auto set = wanted(host->value, false); set != HopSets::kNone) return set;
  for (int length = address.bits() - 1; length >= 0; --length) {
    if (all_[address.is_v6()][static_cast<std::size_t>(length)] == 0) continue;
    const auto* entry = table_.find(shortened(address, length));
    if (entry != nullptr && entry->value.programmed.value != 0) return entry->value.programmed.set;
  }
  return HopSets::kNone;
}

std::optional<Prefix> Rib::longest(const IpAddress& address) const {
  for (int length = address.bits(); length >= 0; --length) {
    if (all_[address.is_v6()][static_cast<std::size_t>(length)] == 0) continue;
    const Prefix prefix = shortened(address, length);
    const auto* entry = table_.find(prefix);
    if (entry != nullptr && entry->value.programmed.value != 0) return prefix;
  }
  return {};
}

bool Rib::is_on_link(const IpAddress& address, InterfaceIndex interface) const {
  const HopSets::Id set = covering(address);
  return set != HopSets::kNone && sets_.has(set, {interface, {}});
}

bool Rib::is_under_subnet(const Prefix& prefix) const {
  for (int length = prefix.length - 1; length >= 0; --length) {
    if (on_link_[prefix.address.is_v6()][static_cast<std::size_t>(length)] == 0) continue;
    const auto* entry = table_.find(shortened(prefix.address, length));
    if (entry != nullptr && entry->value.programmed.on_link) return true;
  }
  return false;
}

}  // namespace surety
