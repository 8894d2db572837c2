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

using Candidate = RouteCandidates::Candidate;
using Likeness = RouteCandidates::Likeness;

bool same_way(const RouteHop& a, const RouteHop& b) {
  return a.ifindex == b.ifindex && a.interface == b.interface && a.via == b.via;
}

bool has(const std::vector<RouteHop>& hops, const RouteHop& hop) {
  return std::ranges::any_of(hops, [&](const auto& h) { return same_way(h, hop); });
}

// True if each of `some` is one of `all`, and there is one.
bool are_part(const std::vector<RouteHop>& some, const std::vector<RouteHop>& all) {
  return !some.empty() && std::ranges::all_of(some, [&](const auto& h) { return has(all, h); });
}

bool same_key(const HopSets::Key& a, const HopSets::Key& b) {
  return a.special == b.special && a.object == b.object && a.unsupported == b.unsupported && a.mtu == b.mtu &&
         a.from == b.from && std::ranges::equal(a.hops, b.hops, [](const auto& x, const auto& y) {
           return same_way(x, y) && x.weight == y.weight;
         });
}

// True for a route that the kernel joins with others of its prefix and metric (IPv6: rt6_qualify_for_ecmp()).
bool joins_others(const HopSets::Key& key) {
  return key.special == kNextHopNone && key.object == 0 && !key.hops.empty() &&
         std::ranges::all_of(key.hops, [](const auto& h) { return h.via.has_value(); });
}

}  // namespace

Rib::Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed)
    : sink_(sink), sets_(groups, std::move(resolve)), changed_(std::move(changed)) {}

Likeness Rib::likeness(const Prefix& prefix, const Candidate& fresh, const Candidate& known) const {
  if (known.set == fresh.set && known.kind == fresh.kind) return Likeness::same;
  if (!prefix.address.is_v6()) return Likeness::similar;
  const HopSets::Key &a = sets_.key(fresh.set), &b = sets_.key(known.set);
  if (a.from != b.from) return Likeness::apart;
  // The kernel reports a multipath route as a whole, whichever of its next hops it adds or removes.
  const bool plain = a.special == kNextHopNone && b.special == kNextHopNone && a.object == 0 && b.object == 0;
  if (plain && (are_part(a.hops, b.hops) || are_part(b.hops, a.hops))) return Likeness::same;
  return joins_others(a) == joins_others(b) ? Likeness::similar : Likeness::other;
}

void Rib::set(const Prefix& prefix, RouteCandidate candidate) {
  auto& candidates = table_.add(prefix).value.candidates;
  const HopSets::Id set = sets_.hold(std::move(candidate.to));
  const Candidate fresh{
      set, candidate.metric, candidate.generation, candidate.source, candidate.selector, candidate.kind};
  const auto change =
      candidates.set(fresh, candidate.order, [&](const auto& c) { return likeness(prefix, fresh, c); });
  if (change.differs) candidates_changed(prefix, candidate.source);
  for (const auto& c : change.gone) sets_.drop(c.set);
  if (std::exchange(hiding_changed_, false)) work();
}

void Rib::remove(const Prefix& prefix, Source source, std::uint32_t metric) {
  remove(prefix, {.source = source, .metric = metric});
}

// The candidate of the group that a removal describes; nullptr: none of them.
const Candidate* Rib::described(std::span<const Candidate> group, const RouteCandidate& what) const {
  const HopSets::Key& to = what.to;
  const auto alike = [&](const Candidate& c) { return sets_.key(c.set).from == to.from; };
  const auto find = [&](auto&& fits) -> const Candidate* {
    const auto at = std::ranges::find_if(group, [&](const auto& c) { return alike(c) && fits(c); });
    return at == group.end() ? nullptr : &*at;
  };
  const auto equal = [&](const Candidate& c) { return same_key(sets_.key(c.set), to); };
  const auto of_kind = [&](const Candidate& c) { return c.kind == what.kind; };
  // Next hops that were dead when the route was reported are part of its removal.
  const auto part = [&](const Candidate& c) {
    const HopSets::Key& key = sets_.key(c.set);
    return !key.dead_hops && are_part(key.hops, to.hops);  // a dead route has all its next hops
  };
  const auto whole = [&](const Candidate& c) { return are_part(to.hops, sets_.key(c.set).hops); };
  const auto any = [&](const Candidate& c) {
    return std::ranges::any_of(to.hops, [&](const auto& h) { return has(sets_.key(c.set).hops, h); });
  };
  if (const auto* const c = find([&](const auto& k) { return equal(k) && of_kind(k); })) return c;
  if (const auto* const c = find(equal)) return c;
  if (const auto* const c = find([&](const auto& k) { return part(k) && of_kind(k); })) return c;
  if (const auto* const c = find(part)) return c;
  if (const auto* const c = find(whole)) return c;
  if (const auto* const c = find(any)) return c;
  // A candidate that refers to an object which the removal does not name.
  const auto other = [&](const Candidate& c) {
    const HopSets::Key& key = sets_.key(c.set);
    return of_kind(c) && key.special == to.special && key.hops.empty() && key.object != to.object;
  };
  if (const auto* const c = find(other)) return c;
  const bool whichever = to.hops.empty() && to.special == kNextHopNone;
  return whichever || std::ranges::count_if(group, alike) == 1 ? find(alike) : nullptr;
}

void Rib::remove(const Prefix& prefix, const RouteCandidate& what) {
  auto* const entry = table_.find(prefix);
  if (entry == nullptr) return;
  auto& candidates = entry->value.candidates;
  const Candidate group{HopSets::kNone, what.metric, 0, what.source, what.selector, 0};
  const auto [from, to] =
      std::equal_range(candidates.all().begin(), candidates.all().end(), group,
                       [](const auto& a, const auto& b) { return a.group() < b.group(); });
  if (from == to) return;
  const Candidate* const known = described({from, to}, what);
  if (known == nullptr) return;
  const Candidate gone = *known;
  HopSets::Key rest = sets_.key(gone.set);
  const auto removed = std::erase_if(rest.hops, [&](const auto& h) { return has(what.to.hops, h); });
  if (removed > 0 && !rest.hops.empty())
    candidates.change(known, sets_.hold(std::move(rest)));
  else
    candidates.take_if([known](const auto& c) { return &c == known; });  // there may be an equal one
  candidates_changed(prefix, gone.source);
  sets_.drop(gone.set);
  if (std::exchange(hiding_changed_, false)) work();
}

void Rib::candidates_changed(const Prefix& prefix, Source source) {
  if (source == Source::local && !is_host(prefix)) follow_local(prefix, table_.add(prefix).value.candidates);
  program(prefix);
  // A neighbour's host route hides the others of its prefix from program().
  if (is_host(prefix) && source != Source::neighbor) changed_(prefix);
}

// --- selection, and programming of the sink ---

// True if a candidate is preferred to one of YAML that precedes it. In YAML, the lowest metric with a port
// that is up is best. The kernel's metrics decide, too, before them a route for some packets of the prefix
// (TOS, source); except that YAML's default, 1, yields only to the subnet of an address, of metric 0.
bool Rib::replaces(const Candidate& best, const Candidate& next) const {
  if (next.source == Source::yaml) return !sets_.is_up(best.set) && sets_.is_up(next.set);
  if (next.selector == 0 && next.metric > 0) return next.metric < best.metric;
  return next.connected() || best.metric > config::Route::kDefaultMetric;
}

// Among equal metrics of the kernel the preference decides, then the order.
const Candidate* Rib::winner(const Prefix& prefix, const Route& route, bool neighbors) const {
  const Candidate* best = nullptr;
  bool thrown = false;
  for (const auto& c : route.candidates.all()) {
    if ((c.source == Source::neighbor && !neighbors) || !sets_.active(c.set)) continue;
    if (thrown && c.source == Source::local) continue;
    if (best != nullptr && c.source == Source::subscriber) return best;
    if (best == nullptr) {
      // Where the tables are separate, a `throw` makes this prefix of the table local void.
      thrown = is_throw(c) && are_separate(prefix) && !is_hidden(prefix);
      if (thrown) continue;
      // The kernel has own and broadcast addresses in the table local, too.
      const bool of_table_local = c.source == Source::local ||
                                  (c.source == Source::connected && sets_.key(c.set).special != kNextHopNone);
      if (!of_table_local && is_hidden(prefix)) return nullptr;
      best = &c;
      continue;
    }
    if (best->source == Source::yaml) {
      if (replaces(*best, c))
        best = &c;
      else if (c.source == Source::kernel)
        return best;
      continue;
    }
    if (!c.in_group_of(*best)) return best;
    if (c.preference() < best->preference()) best = &c;
  }
  return best;
}

std::vector<std::uint32_t> Rib::passed_over(const Prefix& prefix, std::uint32_t generation) const {
  std::vector<std::uint32_t> down;
  const auto* const entry = table_.find(prefix);
  if (entry == nullptr) return down;
  bool any = false;
  for (const auto& c : entry->value.candidates.all()) {
    if (c.source != Source::yaml || c.generation != generation) continue;
    if (sets_.is_up(c.set))
      any = true;
    else
      down.push_back(c.metric);
  }
  return any ? down : std::vector<std::uint32_t>{};
}

HopSets::Id Rib::wanted(const Prefix& prefix, const Route& route, bool neighbors) const {
  const auto* const to = winner(prefix, route, neighbors);
  return to == nullptr ? HopSets::kNone : to->set;
}

void Rib::separate_tables4() {
  if (!std::exchange(separate4_, true)) begin_walk();
}

// True for a `throw` route of the table `local`.
bool Rib::is_throw(const Candidate& c) const {
  return c.source == Source::local && sets_.key(c.set).special == kNextHopThrown;
}

bool Rib::is_hidden(const Prefix& prefix) const {
  if (!are_separate(prefix)) return false;
  return std::ranges::any_of(hiding_, [&](const Prefix& local) {
    return local.length < prefix.length && local.address.is_v6() == prefix.address.is_v6() &&
           local.contains(prefix.address);
  });
}

// Longer prefixes are programmed, or withdrawn, by a walk.
void Rib::follow_local(const Prefix& prefix, const RouteCandidates& candidates) {
  const auto all = candidates.all();
  const auto first = std::ranges::find_if(
      all, [&](const auto& c) { return c.source == Source::local && sets_.active(c.set); });
  const bool hides = first != all.end() && !is_throw(*first);
  const auto at = std::ranges::find(hiding_, prefix);
  if (hides == (at != hiding_.end())) return;
  if (hides)
    hiding_.push_back(prefix);
  else
    hiding_.erase(at);
  place_ = 0;
  walking_ = hiding_changed_ = true;
}

void Rib::program(Prefix prefix) {
  auto* entry = table_.find(prefix);
  if (entry == nullptr) return;
  const Programmed before = entry->value.programmed;
  const auto* const best = winner(prefix, entry->value, true);
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
  routes_around_changed(prefix);
  if (before.on_link || after.on_link || is_under_subnet(prefix)) changed_(prefix);
  if (before.value != 0 && after.value == 0) retry_rejected();
}

// Returns the new state of the sink, with a use of the set; empty if there is no room.
Rib::Programmed Rib::install(const Prefix& prefix, const Candidate* to, const Programmed& before) {
  if (to == nullptr) return {};
  HopSets::Id set = to->set;
  const auto hosts = hosts_.of(prefix);
  if (hosts) set = sets_.hold_for_hosts(set, *hosts);
  const auto target = sets_.use(set);
  if (hosts) sets_.drop(set);
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
  const auto* const to = winner(entry.prefix, entry.value, true);
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
  sets_changed(sets_.set_object(event, generation));
}

void Rib::remove_object(std::uint32_t id) {
  sets_changed(sets_.remove_object(id));
}

void Rib::remove_stale_objects(std::uint32_t generation) {
  for (const auto id : sets_.objects().stale(generation)) remove_object(id);
}

void Rib::program_all() {
  sets_changed(sets_.refresh_all());
}

// `anew`: routes must be programmed again.
void Rib::sets_changed(bool anew) {
  const bool links = sets_.take_on_link_changed();
  links_changed_ |= links;
  if (links) host_ = 0;
  if (anew || links) begin_walk();
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
  std::size_t steps = 0;
  for (; host_ < hosts_.all().size() && steps < steps_; steps += kStepsOfChange)
    follow_route_around(hosts_.all()[host_++].first);
  while (walking_ && steps < steps_) {
    if (place_ == table_.places()) {
      walking_ = links_changed_ = false;
      stale_ = {};
      sets_.release_retired();
      break;
    }
    auto* const entry = table_.at(place_++);
    steps += entry == nullptr ? 1 : visit(*entry);
  }
  return walking_ || host_ < hosts_.all().size();
}

bool Rib::is_stale(const RouteCandidates::Candidate& c) const {
  const auto stays = stale_[static_cast<std::size_t>(c.source)];
  return (stays && c.generation != *stays) || sets_.dead(c.set);
}

std::size_t Rib::visit(Table::Entry& entry) {
  const auto& all = entry.value.candidates.all();
  const bool stale = std::ranges::any_of(all, [this](const auto& c) { return is_stale(c); });
  const Prefix prefix = entry.prefix;
  if (!stale && is_as_wanted(entry)) {
    // A neighbour's host route may hide a route that was changed.
    const Programmed& now = entry.value.programmed;
    if (links_changed_ && (now.on_link || (now.station && all.size() > 1))) changed_(prefix);
    return 1;
  }
  if (!stale) {
    program(prefix);
    return kStepsOfChange;
  }
  const auto taken = entry.value.candidates.take_if([this](const auto& c) { return is_stale(c); });
  candidates_changed(prefix, taken.front().source);
  for (const auto& c : taken) sets_.drop(c.set);
  return kStepsOfChange;
}

bool Rib::is_as_wanted(const Table::Entry& entry) const {
  const Programmed& now = entry.value.programmed;
  const HopSets::Id set = wanted(entry.prefix, entry.value, true);
  if (set == HopSets::kNone || now.set == HopSets::kNone) return set == now.set;
  if (!sets_.is_for_hosts(now.set, set, hosts_.of(entry.prefix))) return false;
  const auto target = sets_.target(now.set);
  return target && target->encode() == now.value && sets_.on_link(now.set) == now.on_link;
}

}  // namespace surety
