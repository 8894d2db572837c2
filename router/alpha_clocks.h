// SPDX-License-Identifier: BSD-3-Clause
// The clocks that out-buckets live by: one of each local domain, and one of each path that signals hold back.
//
// Where a path is held back, its flows live by a clock of their own, whose pace is the minimum of the local
// queue's alpha and the path's (a flow's alpha is the least of its domains'). When the path's alpha is back
// at its maximum for good, they return to the clock of their domain. A flow is moved when it is looked at,
// and loses nothing of what it has gained until then: now() goes on for clocks that have been given up. The
// one given up longest ago is reused first; a flow that slept for all that time has gained at some other pace
// since. No allocation after construction.
//
// Paths are bounded in number. Signals for more of them hold back the others: one clock of each domain for
// all flows that have no path of their own, which errs on the side of less OUT traffic.
//
// A reload may add domains, up to a number that is fixed at the start; those that it retires run on, for the
// flows that still live by them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/csa_controller.h"
#include "router/routes/path_slots.h"
#include "router/signals/remote_alpha.h"
#include "router/snapshot.h"

namespace surety {

struct RemoteAlphaReading {
  Path path;                 // of length 0: all others
  std::uint16_t domain = 0;  // index into Snapshot::domains
  Ratio alpha;               // of the path alone
};

class AlphaClocks {
 public:
  using Index = std::uint16_t;  // domains first
  static constexpr std::uint16_t kMaxPaths = 512;

  // What signals do: hold the flows of their path back, or only tell what they would do.
  enum class Mode : std::uint8_t { act, observe };
  // `domains` must outlive this, or what adopt() is given does. `capacity`: domains that there may ever be,
  // at least those.
  AlphaClocks(std::span<const CsaDomain> domains, Time now, Mode mode = Mode::act,
              std::uint16_t paths = kMaxPaths, std::size_t capacity = 0);
  // From now on these are the domains: those there were, and more behind them, which start at `now`.
  void adopt(std::span<const CsaDomain> domains, Mode mode, Time now);

  // Whether there are paths with a clock. If not, nobody needs to know which path a packet takes.
  bool has_paths() const { return !held_back_.empty(); }
  // Whether they are held back. If not, of() is the domain itself.
  bool acting() const { return mode_ == Mode::act && has_paths(); }
  // The clock that a flow of `domain` on `path` lives by.
  Index of(std::uint16_t domain, const Path& path) const {
    const Slot slot = acting() ? find(domain, path) : Slot{0};
    return slot == 0 ? domain : index(slot);
  }
  // An OUT packet of `domain` leaves by `path`.
  void sent(std::uint16_t domain, const Path& path) {
    if (const Slot slot = find(domain, path); slot != 0) remotes_[slot].alpha.sent(now_);
  }
  // `i` is what of() says now, not a clock that has been given up.
  const AlphaClock& operator[](Index i) {
    if (i >= capacity_) catch_up(slot(i));
    return clocks_[i];
  }
  // The time that clock `i` shows, also of one that has been given up.
  Time now(Index i);
  // The same, for who changes nothing; and its pace.
  Time time_of(Index i) const;
  Ratio alpha(Index i) const { return i < capacity_ ? local_[i] : pace(slot(i)); }
  // The one that it stands for, also when it has been given up.
  std::uint16_t domain(Index i) const;
  // Whether flows that live by `i` may have to move, to whatever of() says.
  bool moves(Index i) const { return i >= capacity_ || acting(); }

  // Lets all clocks run on, with the alphas of the domains' own queues since the last
  // call, then T2 of the paths. Paths are looked at only when something changes.
  void advance(std::span<const Ratio> local, Time now);
  // A signal concerns the flows of `domain` on `path`; after an advance() to the same `now`.
  void signal(const Path& path, std::uint16_t domain, SignalKind kind, Time now);
  // When advance() changes a path's alpha.
  Time next_event() const;

  // The paths that have a clock, by path and domain: held back now, or by a search that is not over.
  std::vector<RemoteAlphaReading> remotes() const;
  // The paths of remotes(), in no order, by index, for who takes some at a time: from the last one to the
  // first, whatever comes and goes in between, each one that stays is met, some of them twice.
  std::size_t remote_count() const { return held_back_.size(); }
  std::size_t remote_capacity() const { return remotes_.size() - 1; }
  RemoteAlphaReading remote(std::size_t i) const {
    const Slot slot = held_back_[i];
    return {paths_.path(slot), paths_.domain(slot), remotes_[slot].alpha.alpha()};
  }

 private:
  using Slot = PathSlots::Slot;
  struct Remote {
    RemoteAlpha alpha;
    Duration behind{};      // what its clock lags the domain's, since it has been given up
    std::size_t place = 0;  // in held_back_
    bool given_up = true;
  };
  // The slot that a domain has for all paths without one.
  Slot others(std::uint16_t domain) const { return static_cast<Slot>(free_.size() + 1 + domain); }
  Slot find(std::uint16_t domain, const Path& path) const {
    const Slot slot = paths_.find(path, domain);
    if (slot != 0) [[likely]]
      return slot;
    return remotes_[others(domain)].given_up ? Slot{0} : others(domain);
  }
  Index index(Slot slot) const { return static_cast<Index>(capacity_ - 1 + slot); }
  Slot slot(Index i) const { return static_cast<Slot>(i + 1 - capacity_); }
  Ratio pace(Slot slot) const { return std::min(local_[paths_.domain(slot)], remotes_[slot].alpha.alpha()); }
  void catch_up(Slot slot) { clocks_[index(slot)].advance(now_, pace(slot)); }
  void look_at_paths();
  Slot take_up(Path path, std::uint16_t domain, Time now);
  void give_up(Slot slot);

  std::span<const CsaDomain> domains_;
  const std::size_t capacity_;  // the paths' clocks stand behind so many of domains
  Mode mode_;
  Time now_;                  // of the last advance()
  std::vector<Ratio> local_;  // what it was given
  Time due_ = kNever;         // when paths are to be looked at
  // A ring of the slots of paths: from free_at_ on those not in use, given up longest ago first.
  std::vector<Slot> free_;
  std::size_t free_at_ = 0, used_ = 0;
  std::vector<Slot> held_back_;     // in use
  std::vector<AlphaClock> clocks_;  // by Index
  PathSlots paths_;
  std::vector<Remote> remotes_;  // by slot
};

}  // namespace surety
