// SPDX-License-Identifier: BSD-3-Clause
#include "router/alpha_clocks.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace surety {

namespace {
// No more than there can be paths and domains, and than fit into an Index.
std::size_t room(std::size_t domains, std::size_t next_hops, std::size_t remotes) {
  return std::min({remotes, next_hops * domains, kNoDomain - std::min<std::size_t>(domains, kNoDomain)});
}
}  // namespace

AlphaClocks::AlphaClocks(std::span<const CsaDomain> domains, std::uint32_t next_hops, Time now, Mode mode,
                         std::uint16_t remotes, std::size_t capacity)
    : domains_(domains),
      capacity_(std::max(capacity, domains.size())),
      mode_(mode),
      free_(room(capacity_, next_hops, remotes)),
      clocks_(capacity_ + free_.size(), AlphaClock(now)),
      paths_(free_.empty() ? 0 : next_hops, static_cast<Slot>(free_.size())),
      remotes_(1 + free_.size(), Remote{RemoteAlpha({}, now)}) {
  std::iota(free_.begin(), free_.end(), Slot{1});
  held_back_.reserve(free_.size());
}

void AlphaClocks::adopt(std::span<const CsaDomain> domains, Mode mode, Time now) {
  assert(domains.size() >= domains_.size() && domains.size() <= capacity_);
  for (std::size_t d = domains_.size(); d < domains.size(); ++d) clocks_[d] = AlphaClock(now);
  domains_ = domains;
  mode_ = mode;
}

Time AlphaClocks::now(Index i) const {
  if (i < capacity_) return clocks_[i].now();
  const Remote& r = remotes_[slot(i)];
  return r.given_up ? clocks_[domain(i)].now() - r.behind : clocks_[i].now();
}

std::uint16_t AlphaClocks::domain(Index i) const {
  return i < capacity_ ? i : paths_.domain(slot(i));
}

void AlphaClocks::advance(std::span<const Ratio> local, Time now) {
  for (std::size_t d = 0; d < domains_.size(); ++d) clocks_[d].advance(now, local[d]);
  for (std::size_t i = 0; i < held_back_.size();) {
    const Slot slot = held_back_[i];
    RemoteAlpha& alpha = remotes_[slot].alpha;
    clocks_[index(slot)].advance(now, std::min(local[paths_.domain(slot)], alpha.alpha()));
    alpha.advance(now);
    if (alpha.at_rest())
      give_up(slot);  // another one takes its place
    else
      ++i;
  }
}

bool AlphaClocks::signal(RouteTarget path, std::uint16_t domain, Time now) {
  if (free_.empty()) return false;
  if (domains_[domain].params.min == domains_[domain].params.max) return true;  // a fixed alpha
  while (const Slot stranger = paths_.stranger(path)) give_up(stranger);
  Slot slot = paths_.find(path.first, domain);
  if (slot == 0) slot = take_up(path, domain, now);
  if (slot == 0) return false;
  remotes_[slot].alpha.signal(now);
  return true;
}

AlphaClocks::Slot AlphaClocks::take_up(RouteTarget path, std::uint16_t domain, Time now) {
  if (held_back_.size() == free_.size()) return 0;
  const Slot slot = free_[free_at_];
  free_at_ = (free_at_ + 1) % free_.size();
  // It goes on from where flows of its last path that have not been seen since believe to be.
  const Time here = this->now(index(slot));
  clocks_[index(slot)] = clocks_[domain];
  clocks_[index(slot)].rebase(here);
  remotes_[slot] = {RemoteAlpha(domains_[domain].params, now), {}, held_back_.size(), false};
  held_back_.push_back(slot);
  paths_.add(slot, path, domain);
  return slot;
}

void AlphaClocks::give_up(Slot slot) {
  Remote& r = remotes_[slot];
  r.behind = clocks_[paths_.domain(slot)].now() - clocks_[index(slot)].now();
  r.given_up = true;
  paths_.remove(slot);
  free_[(free_at_ + free_.size() - held_back_.size()) % free_.size()] = slot;
  held_back_[r.place] = held_back_.back();
  remotes_[held_back_.back()].place = r.place;
  held_back_.pop_back();
}

Time AlphaClocks::next_event() const {
  Time t = kNever;
  for (const Slot slot : held_back_) t = std::min(t, remotes_[slot].alpha.next_event());
  return t;
}

std::vector<RemoteAlphaReading> AlphaClocks::remotes() const {
  std::vector<RemoteAlphaReading> all;
  for (std::size_t i = 0; i < remote_count(); ++i) all.push_back(remote(i));
  std::sort(all.begin(), all.end(), [](const RemoteAlphaReading& a, const RemoteAlphaReading& b) {
    return a.path.first != b.path.first ? a.path.first < b.path.first : a.domain < b.domain;
  });
  return all;
}

}  // namespace surety
