// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/alpha_clocks.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace surety {

namespace {
Ratio free_from(const CsaDomain& domain) {
  return std::min(domain.params.max, Ratio::of(1));
}
}  // namespace

AlphaClocks::AlphaClocks(std::span<const CsaDomain> domains, Time now, Mode mode, std::uint16_t paths,
                         std::size_t capacity)
    : domains_(domains),
      capacity_(std::max(capacity, domains.size())),
      mode_(mode),
      now_(now),
      local_(capacity_),
      free_(paths),
      clocks_(capacity_ + paths + capacity_, AlphaClock(now)),
      paths_(static_cast<Slot>(paths + capacity_)),
      remotes_(1 + paths + capacity_, Remote{RemoteAlpha({}, now)}) {
  assert(clocks_.size() < kNoDomain);
  adopt(domains, mode, now);
  std::iota(free_.begin(), free_.end(), Slot{1});
  held_back_.reserve(remotes_.size() - 1);
}

void AlphaClocks::adopt(std::span<const CsaDomain> domains, Mode mode, Time now) {
  assert(domains.size() >= domains_.size() && domains.size() <= capacity_);
  for (std::size_t d = domains_.size(); d < domains.size(); ++d) clocks_[d] = AlphaClock(now);
  domains_ = domains;
  mode_ = mode;
  for (std::size_t d = 0; d < domains.size(); ++d) clocks_[d].set_free(free_from(domains[d]));
  for (const Slot slot : held_back_) clocks_[index(slot)].set_free(free_from(domains[paths_.domain(slot)]));
}

Time AlphaClocks::now(Index i) const {
  if (i < capacity_) return clocks_[i].now();
  const Remote& r = remotes_[slot(i)];
  return r.given_up ? clocks_[domain(i)].now() - r.behind : at(i).now();
}

AlphaClock AlphaClocks::at(Index i) const {
  AlphaClock clock = clocks_[i];
  if (i >= capacity_) clock.advance(now_, pace(slot(i)));
  return clock;
}

std::uint16_t AlphaClocks::domain(Index i) const {
  return i < capacity_ ? i : paths_.domain(slot(i));
}

void AlphaClocks::advance(std::span<const Ratio> local, Time now) {
  const std::size_t n = domains_.size();
  for (std::size_t d = 0; d < n; ++d) clocks_[d].advance(now, local[d]);
  const bool changed =
      !std::equal(local.begin(), local.begin() + static_cast<std::ptrdiff_t>(n), local_.begin());
  if (changed) {
    for (const Slot slot : held_back_) catch_up(slot);
    std::copy_n(local.begin(), n, local_.begin());
  }
  now_ = now;
  if (changed || now >= due_) look_at_paths();
}

void AlphaClocks::look_at_paths() {
  due_ = kNever;
  for (std::size_t i = 0; i < held_back_.size();) {
    const Slot slot = held_back_[i];
    RemoteAlpha& alpha = remotes_[slot].alpha;
    catch_up(slot);
    alpha.advance(now_);
    due_ = std::min(due_, alpha.next_event());
    if (alpha.at_rest())
      give_up(slot);  // the next path uses the slot
    else
      ++i;
  }
}

void AlphaClocks::signal(const Path& path, std::uint16_t domain, SignalKind kind, Time now) {
  if (domains_[domain].params.min == domains_[domain].params.max) return;  // a fixed alpha
  Slot slot = kind == SignalKind::clear ? find(domain, path) : paths_.find(path, domain);
  if (slot == 0 && kind == SignalKind::clear) return;  // nothing is held back
  if (slot == 0) slot = take_up(path, domain, now);
  catch_up(slot);
  remotes_[slot].alpha.signal(kind, now);
  due_ = now;
}

AlphaClocks::Slot AlphaClocks::take_up(Path path, std::uint16_t domain, Time now) {
  Slot slot = others(domain);
  if (used_ < free_.size()) {
    slot = free_[free_at_];
    free_at_ = (free_at_ + 1) % free_.size();
    ++used_;
  } else {
    if (!remotes_[slot].given_up) return slot;
    path = {};
  }
  // The clock continues at the time that flows of its previous path, not visited since, expect.
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
  if (slot <= free_.size()) free_[(free_at_ + free_.size() - used_--) % free_.size()] = slot;
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
    return a.path != b.path ? a.path < b.path : a.domain < b.domain;
  });
  return all;
}

}  // namespace surety
