// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/next_hop_groups.h"

#include <algorithm>
#include <utility>

namespace surety {
namespace {

int rank(const NextHopEntry& e) {
  if (e.state == NextHopEntry::State::ready) return 3;
  if (NextHopEntry::known(e.state)) return 2;  // soon
  return e.state == NextHopEntry::State::no_route ? 0 : 1;
}

}  // namespace

NextHopGroups::NextHopGroups(RouteSink& sink, std::uint32_t capacity, EntryOf entry)
    : sink_(sink), entry_(std::move(entry)), ids_(capacity) {}

std::optional<RouteTarget> NextHopGroups::acquire(const NextHopMembers& members) {
  const auto count = static_cast<std::uint32_t>(members.size());
  if (const auto known = first_.find(members); known != first_.end()) {
    ++groups_.at(known->second).references;
    return RouteTarget{known->second, count};
  }
  const auto first = ids_.allocate(count);
  if (!first) return {};
  first_.emplace(members, *first);
  Group& group = groups_[*first];
  group = {members, {}, 1};
  enter(members, *first);
  program(*first, group);
  return RouteTarget{*first, count};
}

void NextHopGroups::release(const NextHopMembers& members) {
  const auto known = first_.find(members);
  const std::uint32_t first = known->second;
  Group& group = groups_.at(first);
  if (--group.references > 0) return;
  leave(group.members, first);
  retire(first, group);
  ids_.release(first, static_cast<std::uint32_t>(group.members.size()));
  groups_.erase(first);
  first_.erase(known);
}

// Packets waiting for a next hop of the block would wait for ever.
void NextHopGroups::retire(std::uint32_t first, const Group& group) {
  using State = NextHopEntry::State;
  for (std::uint32_t i = 0; i < group.entries.size(); ++i) {
    NextHopEntry entry = group.entries[i];
    if (!NextHopEntry::known(entry.state) || entry.state == State::ready) continue;
    entry.state = State::unresolved;
    sink_.set_next_hop(first + i, entry);
  }
}

bool NextHopGroups::change(const NextHopMembers& from, const NextHopMembers& to) {
  const auto known = first_.find(from);
  const std::uint32_t first = known->second;
  Group& group = groups_.at(first);
  if (group.references > 1 || to.size() != from.size() || first_.contains(to)) return false;
  first_.erase(known);
  first_.emplace(to, first);
  leave(group.members, first);
  group.members = to;
  enter(to, first);
  program(first, group);
  return true;
}

void NextHopGroups::enter(const NextHopMembers& members, std::uint32_t first) {
  for (const auto& m : members) uses_[m].insert(first);
}

void NextHopGroups::leave(const NextHopMembers& members, std::uint32_t first) {
  for (const auto& m : members) {
    const auto use = uses_.find(m);
    if (use == uses_.end()) continue;  // occurred several times
    use->second.erase(first);
    if (use->second.empty()) uses_.erase(use);
  }
}

std::vector<std::size_t> NextHopGroups::choose(const std::vector<NextHopEntry>& entries) {
  int best = 0;
  for (const auto& e : entries) best = std::max(best, rank(e));
  std::vector<std::size_t> usable, chosen;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (rank(entries[i]) == best) usable.push_back(i);
  for (std::size_t i = 0; i < entries.size(); ++i)
    chosen.push_back(rank(entries[i]) == best ? i : usable[i % usable.size()]);
  return chosen;
}

void NextHopGroups::program(std::uint32_t first, Group& group) {
  std::vector<NextHopEntry> now;
  for (const auto& m : group.members) now.push_back(entry_(m));
  const auto chosen = choose(now);
  const bool first_time = group.entries.empty();  // the sink still has what was there before
  group.entries.resize(now.size());
  for (std::uint32_t i = 0; i < now.size(); ++i) {
    const NextHopEntry& entry = now[chosen[i]];
    if (!first_time && entry == group.entries[i]) continue;
    group.entries[i] = entry;
    sink_.set_next_hop(first + i, entry);
  }
}

void NextHopGroups::refresh(const NextHopMember& member) {
  for (auto use = uses_.lower_bound({member.interface, member.gateway});
       use != uses_.end() && same_way(use->first, member); ++use)
    for (const auto first : use->second) program(first, groups_.at(first));
}

void NextHopGroups::refresh_all() {
  for (auto& [first, group] : groups_) program(first, group);
}

std::optional<NextHopMember> NextHopGroups::member(std::uint32_t id) const {
  auto it = groups_.upper_bound(id);
  if (it == groups_.begin()) return {};
  const auto& [first, group] = *--it;
  if (id - first >= group.members.size()) return {};
  std::vector<NextHopEntry> now;
  for (const auto& m : group.members) now.push_back(entry_(m));
  return group.members[choose(now)[id - first]];
}

std::vector<NextHopMember> NextHopGroups::unresolved() const {
  std::vector<NextHopMember> out;
  for (const auto& [member, groups] : uses_)
    if ((out.empty() || !same_way(out.back(), member)) &&
        entry_(member).state == NextHopEntry::State::unresolved)
      out.push_back(member);
  return out;
}

}  // namespace surety
