// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/hop_sets.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace surety {
namespace {

auto order_of(const RouteHop& h) {
  return std::tie(h.ifindex, h.interface, h.weight, h.via);
}

RouteHop hop_of(const RouteNextHop& h) {
  return {.via = h.via, .interface = {}, .ifindex = h.ifindex, .weight = h.weight};
}

}  // namespace

bool HopSets::KeyLess::operator()(const Key& a, const Key& b) const {
  const auto fixed = [](const Key& k) {
    return std::tie(k.special, k.object, k.unsupported, k.mtu, k.from, k.dead_hops, k.hosts);
  };
  if (fixed(a) != fixed(b)) return fixed(a) < fixed(b);
  return std::ranges::lexicographical_compare(
      a.hops, b.hops, [](const auto& x, const auto& y) { return order_of(x) < order_of(y); });
}

bool HopSets::Set::on_link() const {
  return std::ranges::any_of(members, [](const auto& m) { return !m.gateway; });
}

HopSets::HopSets(NextHopGroups& groups, Resolve resolve)
    : groups_(groups), resolve_(std::move(resolve)), sets_(1) {}

HopSets::Id HopSets::hold(Key key) {
  if (const auto known = ids_.find(key); known != ids_.end()) {
    ++sets_[known->second].held;
    return known->second;
  }
  Id id = static_cast<Id>(sets_.size());
  if (free_.empty()) {
    sets_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Set& set = sets_[id];
  ids_.emplace(key, id);
  set.key = std::move(key);
  set.held = 1;
  resolve(set);
  return id;
}

void HopSets::drop(Id id) {
  if (--sets_[id].held == 0) forget(id);
}

std::optional<RouteTarget> HopSets::use(Id id) {
  Set& set = sets_[id];
  if (set.special == kNextHopNone && !set.target) take_block(set);
  const auto now = target(id);
  if (now) ++set.used;
  return now;
}

void HopSets::unuse(Id id) {
  Set& set = sets_[id];
  if (--set.used > 0) return;
  if (set.target) groups_.release(set.block);
  set.target.reset();
  forget(id);
}

void HopSets::forget(Id id) {
  Set& set = sets_[id];
  if (set.held > 0 || set.used > 0) return;
  if (!set.dead) ids_.erase(set.key);
  set = {};
  free_.push_back(id);
}

HopSets::Id HopSets::hold_for_hosts(Id id, InterfaceIndex hosts) {
  Key key = sets_[id].key;
  key.hosts = hosts;
  return hold(std::move(key));
}

bool HopSets::is_for_hosts(Id id, Id other, std::optional<InterfaceIndex> hosts) const {
  if (!hosts) return id == other;
  if (sets_[id].dead) return false;
  Key key = sets_[other].key;
  key.hosts = hosts;
  const auto at = ids_.find(key);
  return at != ids_.end() && at->second == id;
}

bool HopSets::has(Id id, InterfaceIndex on_link) const {
  return std::ranges::any_of(sets_[id].members,
                             [&](const auto& m) { return !m.gateway && m.interface == on_link; });
}

bool HopSets::is_up(Id id) const {
  const Key& key = sets_[id].key;
  return key.special != kNextHopNone || std::ranges::any_of(key.hops, [&](const RouteHop& hop) {
           const Resolved r = resolve_(hop);
           return r.member && r.up;
         });
}

std::optional<RouteTarget> HopSets::target(Id id) const {
  const Set& set = sets_[id];
  if (set.special != kNextHopNone) return RouteTarget{set.special};
  return set.target;
}

// --- resolution of a set ---

void HopSets::resolve(Set& set) const {
  set.special = set.key.special;
  set.unsupported = set.key.unsupported;
  set.members.clear();
  std::vector<RouteHop> hops;
  if (!set.key.dead_hops) hops = set.key.hops;
  if (set.key.object != 0) {
    const auto meaning = objects_.meaning(set.key.object);
    if (meaning.blackhole) set.special = kNextHopBlackhole;
    for (const auto& h : meaning.hops) hops.push_back(hop_of(h));
    if (set.unsupported == Unsupported::none) set.unsupported = meaning.unsupported;
  }
  bool foreign = false;
  std::vector<WeightedMember> members;
  for (const auto& hop : hops) {
    const Resolved resolved = resolve_(hop);
    foreign |= resolved.foreign;
    if (!resolved.member) continue;
    members.push_back({*resolved.member, hop.weight});
    members.back().member.mtu = set.key.mtu;
    members.back().member.hosts = set.key.hosts;
  }
  set.members = places_of(std::move(members));
  if (set.members.empty() && foreign) set.special = kNextHopForeign;
  const bool leads = set.special != kNextHopNone || !set.members.empty();
  if (set.unsupported == Unsupported::none || !leads) return;
  // The kernel encapsulates what it forwards; but a route for some packets of its prefix says nothing about
  // the others.
  const bool of_some = set.unsupported == Unsupported::tos || set.unsupported == Unsupported::source;
  if (set.special == kNextHopForeign && !of_some) return;
  set.special = kNextHopUnsupported;
  set.members.clear();
}

bool HopSets::refresh(Set& set) {
  const bool was_active = set.active(), was_on_link = set.on_link();
  const auto before = std::tuple(set.special, set.unsupported, set.members);
  resolve(set);
  if (set.dead) set.special = kNextHopNone, set.members.clear();
  if (before == std::tuple(set.special, set.unsupported, set.members)) return false;
  on_link_changed_ |= was_on_link || set.on_link();
  if (set.used == 0) return was_active != set.active();
  if (change_block(set)) return was_on_link != set.on_link();
  if (set.target) retired_.push_back(set.block);
  set.target.reset();
  take_block(set);
  return true;
}

// Shares stay equal only if the old number of places is a multiple of the new one.
bool HopSets::change_block(Set& set) {
  const std::size_t places = set.target ? set.target->count : 0;
  if (set.special != kNextHopNone || set.members.empty() || places % set.members.size() != 0 || places == 0)
    return false;
  NextHopMembers spread;
  for (const auto& m : set.members) spread.insert(spread.end(), places / set.members.size(), m);
  if (spread == set.block) return true;
  if (!groups_.change(set.block, spread)) return false;
  set.block = std::move(spread);
  return true;
}

void HopSets::take_block(Set& set) {
  if (set.special != kNextHopNone || set.members.empty()) return;
  set.target = groups_.acquire(set.members);
  if (set.target) set.block = set.members;
}

bool HopSets::refresh_all() {
  bool anew = false;
  for (auto& set : sets_)
    if (set.held > 0 || set.used > 0) anew |= refresh(set);
  return anew;
}

bool HopSets::refresh_object(std::uint32_t id) {
  bool anew = false;
  for (const auto affected : objects_.affected(id))
    for (const Id set : sets_of_object(affected)) anew |= refresh(sets_[set]);
  return anew;
}

std::vector<HopSets::Id> HopSets::sets_of_object(std::uint32_t id) const {
  std::vector<Id> sets;
  for (auto at = ids_.lower_bound(Key{.object = id});
       at != ids_.end() && at->first.special == kNextHopNone && at->first.object == id; ++at)
    sets.push_back(at->second);
  return sets;
}

bool HopSets::set_object(const NextHopEvent& event, std::uint32_t generation) {
  objects_.set(event, generation);
  return refresh_object(event.id);
}

bool HopSets::remove_object(std::uint32_t id) {
  objects_.remove(id);
  bool anew = refresh_object(id);
  // The object's id is not a key afterwards: a new object with this id has other routes.
  for (const Id set : sets_of_object(id)) {
    ids_.erase(sets_[set].key);
    sets_[set].dead = true;
    anew = true;
  }
  return anew;
}

void HopSets::release_retired() {
  for (const auto& block : retired_) groups_.release(block);
  retired_.clear();
}

namespace {

constexpr std::uint64_t kMost = RouteTarget::kMaxCount;

std::uint64_t total(const std::vector<std::uint64_t>& places) {
  return std::accumulate(places.begin(), places.end(), std::uint64_t{0});
}

std::vector<std::uint64_t> reduced(const std::vector<WeightedMember>& members) {
  std::uint64_t common = 0;
  for (const auto& m : members) common = std::gcd(common, std::uint64_t{m.weight});
  std::vector<std::uint64_t> places;
  places.reserve(members.size());
  for (const auto& m : members) places.push_back(m.weight / common);
  const std::uint64_t sum = total(places);
  if (sum <= kMost) return places;
  for (auto& p : places) p = std::max<std::uint64_t>(1, p * kMost / sum);
  for (auto over = total(places); over > kMost; --over) --*std::ranges::max_element(places);
  return places;
}

}  // namespace

NextHopMembers places_of(std::vector<WeightedMember> members) {
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.member < b.member; });
  const auto same = [](const auto& a, const auto& b) { return a.member == b.member; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  if (members.size() > kMost) members.resize(kMost);
  NextHopMembers out;
  if (members.empty()) return out;
  const auto places = reduced(members);
  for (std::size_t i = 0; i < members.size(); ++i) out.insert(out.end(), places[i], members[i].member);
  return out;
}

void NextHopObjects::set(const NextHopEvent& event, std::uint32_t generation) {
  objects_[event.id] = {event, generation};
}

NextHopObjects::Meaning NextHopObjects::meaning(std::uint32_t id) const {
  const auto object = objects_.find(id);
  if (object == objects_.end()) return {};
  const NextHopEvent& what = object->second.what;
  if (what.blackhole) return {.blackhole = true, .hops = {}};
  if (what.group.empty()) return {.blackhole = false, .hops = {what.hop}, .unsupported = what.unsupported};
  Meaning m;
  for (const auto& member : what.group) {
    const auto known = objects_.find(member.id);
    // The kernel has no groups of groups, and a blackhole only as a group's sole member.
    if (known == objects_.end() || !known->second.what.group.empty()) continue;
    m.blackhole |= known->second.what.blackhole;
    if (known->second.what.unsupported != Unsupported::none) m.unsupported = known->second.what.unsupported;
    m.hops.push_back(known->second.what.hop);
    m.hops.back().weight = member.weight;
  }
  if (m.blackhole) m.hops.clear();
  return m;
}

std::vector<std::uint32_t> NextHopObjects::affected(std::uint32_t id) const {
  std::vector<std::uint32_t> out{id};
  for (const auto& [group, object] : objects_)
    if (std::ranges::any_of(object.what.group, [id](const auto& m) { return m.id == id; }))
      out.push_back(group);
  return out;
}

std::vector<std::uint32_t> NextHopObjects::stale(std::uint32_t generation) const {
  std::vector<std::uint32_t> out;
  for (const auto& [id, object] : objects_)
    if (object.generation != generation) out.push_back(id);
  return out;
}

}  // namespace surety
