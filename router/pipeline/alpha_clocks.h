// SPDX-License-Identifier: BSD-3-Clause
// The clocks that fill out-buckets: one per local domain, and one per path that signals hold back.
//
// The flows of a path that is held back use a clock of their own. Its pace is the minimum of the local
// queue's alpha and the path's (a flow's alpha is the least of its domains'). When the path's alpha is back
// at its maximum for good, they return to the clock of their domain. The next packet or timer of a flow moves
// the flow to its clock; the tokens gained until then stay, since now() also advances released clocks. The
// clock released longest ago is reused first; a flow that slept for that long has gained at another pace
// since. No allocation after construction.
//
// Paths are bounded in number. Signals for further paths hold back one clock per domain, which all flows
// without a path of their own share: this errs on the side of less OUT traffic.
//
// A reload may add domains, up to a number that is fixed at the start; retired domains keep running for the
// flows that still use their clocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/csa_controller.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/signals/remote_alpha.h"
#include "router/pipeline/snapshot.h"

namespace surety {

struct RemoteAlphaReading {
  Path path;                 // length 0: all paths without a clock of their own
  std::uint16_t domain = 0;  // index into Snapshot::domains
  Ratio alpha;               // the path's own, without the local queue's
};

class AlphaClocks {
 public:
  using Index = std::uint16_t;  // domains first
  static constexpr std::uint16_t kMaxPaths = 512;

  // Effect of signals: `act` holds the flows of their path back, `observe` only computes the alphas.
  enum class Mode : std::uint8_t { act, observe };
  // `domains` must outlive this, or what adopt() is given does. `capacity`: domains that there may ever be,
  // at least those.
  AlphaClocks(std::span<const CsaDomain> domains, Time now, Mode mode = Mode::act,
              std::uint16_t paths = kMaxPaths, std::size_t capacity = 0);
  // Replaces the domains: the previous ones, followed by new ones, which start at `now`.
  void adopt(std::span<const CsaDomain> domains, Mode mode, Time now);

  // True if paths have a clock. If not, callers need not find the path of a packet.
  bool has_paths() const { return !held_back_.empty(); }
  // True if these paths are held back. If not, of() returns the domain itself.
  bool acting() const { return mode_ == Mode::act && has_paths(); }
  // The clock of a flow of `domain` on `path`.
  Index of(std::uint16_t domain, const Path& path) const {
    const Slot slot = acting() ? find(domain, path) : Slot{0};
    return slot == 0 ? domain : index(slot);
  }
  // An OUT packet of `domain` leaves by `path`.
  void sent(std::uint16_t domain, const Path& path) {
    if (const Slot slot = find(domain, path); slot != 0) remotes_[slot].alpha.sent(now_);
  }
  // `i` must be a result of of() that is still current, not a released clock.
  const AlphaClock& operator[](Index i) {
    if (i >= capacity_) catch_up(slot(i));
    return clocks_[i];
  }
  // The time of clock `i`, also of a released one.
  Time now(Index i) const;
  // operator[] as a copy.
  AlphaClock at(Index i) const;
  // The domain of clock `i`, also of a released one.
  std::uint16_t domain(Index i) const;
  // True if flows that use clock `i` may have to move to the clock that of() returns.
  bool moves(Index i) const { return i >= capacity_ || acting(); }

  // Advances all clocks with the alphas of the domains' own queues since the last call, then T2 of the paths.
  // Paths are visited only when one changes.
  void advance(std::span<const Ratio> local, Time now);
  // A signal concerns the flows of `domain` on `path`; after an advance() to the same `now`.
  void signal(const Path& path, std::uint16_t domain, SignalKind kind, Time now);
  // The time when advance() changes a path's alpha.
  Time next_event() const;

  // The paths that have a clock, by path and domain: held back now, or in a search that is not over.
  std::vector<RemoteAlphaReading> remotes() const;
  // The paths of remotes() by index, unordered. A caller that reads a few per call from the last index to the
  // first reads each path that stays at least once, whatever is added or removed in between.
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
    Duration behind{};      // lag behind the domain's clock, since the release
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
  const std::size_t capacity_;  // domains; the clocks of paths follow behind
  Mode mode_;
  Time now_;                  // argument of the last advance()
  std::vector<Ratio> local_;  // domains' alphas, as given to advance()
  Time due_ = kNever;         // due time of look_at_paths()
  // A ring of the slots of paths: from free_at_ on the unused ones, released longest ago first.
  std::vector<Slot> free_;
  std::size_t free_at_ = 0, used_ = 0;
  std::vector<Slot> held_back_;     // in use
  std::vector<AlphaClock> clocks_;  // indexed by Index
  PathSlots paths_;
  std::vector<Remote> remotes_;  // indexed by slot
};

}  // namespace surety
