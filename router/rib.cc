#include "router/rib.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace surety {
namespace {

bool better(const RouteCandidate& a, const RouteCandidate& b) {
  return std::tie(a.source, a.metric) < std::tie(b.source, b.metric);
}

config::Prefix shortened(const config::Address& address, int length) {
  return config::Prefix{address, static_cast<std::uint8_t>(length)}.masked();
}

}  // namespace

Rib::Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed)
    : sink_(sink), groups_(groups), resolve_(std::move(resolve)), changed_(std::move(changed)) {}

void Rib::set(const config::Prefix& prefix, RouteCandidate candidate) {
  const Source source = candidate.source;
  auto& all = entries_[prefix].candidates;
  const auto at = std::lower_bound(all.begin(), all.end(), candidate, better);
  if (at != all.end() && !better(candidate, *at))
    *at = std::move(candidate);
  else
    all.insert(at, std::move(candidate));
  candidates_changed(prefix, source);
}

void Rib::remove(const config::Prefix& prefix, Source source, std::uint32_t metric) {
  remove_hops(prefix, source, metric, {});
}

void Rib::remove_hops(const config::Prefix& prefix, Source source, std::uint32_t metric,
                      const std::vector<RouteHop>& hops) {
  const auto entry = entries_.find(prefix);
  if (entry == entries_.end()) return;
  auto& all = entry->second.candidates;
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const auto& c) { return c.source == source && c.metric == metric; });
  if (at == all.end()) return;
  const auto removed = std::erase_if(
      at->hops, [&](const auto& h) { return std::find(hops.begin(), hops.end(), h) != hops.end(); });
  if (removed == 0 || at->hops.empty()) all.erase(at);
  candidates_changed(prefix, source);
}

void Rib::remove_stale(Source source, std::uint32_t generation) {
  std::vector<config::Prefix> touched;
  for (auto& [prefix, entry] : entries_)
    if (std::erase_if(entry.candidates,
                      [&](const auto& c) { return c.source == source && c.generation != generation; }) > 0)
      touched.push_back(prefix);
  for (const auto& prefix : touched) candidates_changed(prefix, source);
}

void Rib::candidates_changed(const config::Prefix& prefix, Source source) {
  program(prefix);
  // A neighbour's host route hides the others of its prefix from program().
  if (is_host(prefix) && source != Source::neighbor) changed_(prefix);
}

void Rib::program_all() {
  // By changed_, program() adds and removes neighbours' entries on the way.
  for (auto it = entries_.begin(); it != entries_.end();) {
    const config::Prefix prefix = it->first;
    program(prefix);
    it = entries_.upper_bound(prefix);
  }
}

Rib::Forwarding Rib::forwarding(const RouteCandidate& candidate) const {
  Forwarding f{candidate.special, {}};
  bool foreign = false;
  for (const auto& hop : candidate.hops) {
    const Resolved resolved = resolve_(hop);
    foreign |= resolved.foreign;
    if (resolved.member) f.members.push_back(*resolved.member);
  }
  std::sort(f.members.begin(), f.members.end());
  f.members.erase(std::unique(f.members.begin(), f.members.end()), f.members.end());
  if (f.members.size() > RouteTarget::kMaxCount) f.members.resize(RouteTarget::kMaxCount);
  if (f.members.empty() && foreign) f.special = kNextHopLocal;
  return f;
}

Rib::Forwarding Rib::wanted(const Entry& entry, bool neighbors) const {
  for (const auto& candidate : entry.candidates) {
    if (candidate.source == Source::neighbor && !neighbors) continue;
    if (auto f = forwarding(candidate); f.active()) return f;
  }
  return {};
}

void Rib::program(config::Prefix prefix) {
  const auto it = entries_.find(prefix);
  if (it == entries_.end()) return;
  Entry& entry = it->second;
  const Forwarding before = entry.programmed;
  const Forwarding now = wanted(entry, true);
  if (now == before) {
    rejected_.erase(prefix);
    if (entry.candidates.empty()) entries_.erase(it);
    return;
  }
  if (install(prefix, now)) {
    entry.programmed = now;
    rejected_.erase(prefix);
  } else {
    if (before.active()) sink_.remove_route(prefix);
    entry.programmed = {};
    if (now.active())
      rejected_.insert(prefix);
    else
      rejected_.erase(prefix);
  }
  if (!before.members.empty()) groups_.release(before.members);
  const Forwarding after = entry.programmed;
  account(prefix, before, after);
  if (entry.candidates.empty()) entries_.erase(it);
  if (before.on_link() || after.on_link() || is_under_subnet(prefix)) changed_(prefix);
  if (before.active() && !after.active()) retry_rejected();
}

bool Rib::install(const config::Prefix& prefix, const Forwarding& forwarding) {
  if (!forwarding.active()) return false;
  if (forwarding.members.empty()) return sink_.set_route(prefix, RouteTarget{forwarding.special});
  const auto target = groups_.acquire(forwarding.members);
  if (!target) return false;
  if (sink_.set_route(prefix, *target)) return true;
  groups_.release(forwarding.members);
  return false;
}

// One for one that goes: the room that a route leaves is that of about one other.
void Rib::retry_rejected() {
  if (!rejected_.empty()) program(*rejected_.begin());
}

bool Rib::Forwarding::on_link() const {
  return std::any_of(members.begin(), members.end(), [](const auto& m) { return !m.gateway; });
}

std::uint32_t& Rib::count(Lengths& lengths, const config::Prefix& p) {
  return lengths[p.address.v6][p.length];
}

void Rib::account(const config::Prefix& prefix, const Forwarding& before, const Forwarding& after) {
  programmed_ = programmed_ + after.active() - before.active();
  auto& all = count(all_, prefix);
  all = all + after.active() - before.active();
  auto& on_link = count(on_link_, prefix);
  on_link = on_link + after.on_link() - before.on_link();
}

Rib::Forwarding Rib::covering(const config::Address& address) const {
  const auto host = entries_.find(host_prefix(address));
  if (host != entries_.end())
    if (auto f = wanted(host->second, false); f.active()) return f;
  for (int length = host_length(address) - 1; length >= 0; --length) {
    if (all_[address.v6][static_cast<std::size_t>(length)] == 0) continue;
    const auto it = entries_.find(shortened(address, length));
    if (it != entries_.end() && it->second.programmed.active()) return it->second.programmed;
  }
  return {};
}

bool Rib::is_on_link(const config::Address& address, std::uint8_t port) const {
  const auto f = covering(address);
  return std::find(f.members.begin(), f.members.end(), NextHopMember{port, {}}) != f.members.end();
}

bool Rib::is_under_subnet(const config::Prefix& prefix) const {
  for (int length = prefix.length - 1; length >= 0; --length) {
    if (on_link_[prefix.address.v6][static_cast<std::size_t>(length)] == 0) continue;
    const auto it = entries_.find(shortened(prefix.address, length));
    if (it != entries_.end() && it->second.programmed.on_link()) return true;
  }
  return false;
}

}  // namespace surety
