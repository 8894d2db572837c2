// SPDX-License-Identifier: BSD-3-Clause
// The routes of all sources, which of them wins for each prefix, and the winners in the sink.
//
// Made for millions of routes: some 70 bytes for each, and what concerns all of them (next hops that mean
// something else now, routes of another generation) can be done a little at a time, see limit_work().
//
// Where the sink has no room for a route, host routes of stations go for it (station_routes.h); they come
// back as others leave room, after the routes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "router/routes/hop_sets.h"
#include "router/routes/prefix_table.h"
#include "router/routes/prefixes.h"
#include "router/routes/route_candidates.h"
#include "router/routes/route_events.h"
#include "router/routes/station_routes.h"

namespace surety {

// One source's route for a prefix.
struct RouteCandidate {
  using Source = RouteSource;
  Source source = Source::kernel;
  std::uint32_t metric = 0;
  HopSets::Key to{};
  std::uint32_t generation = 0;
};

// What becomes of a candidate.
enum class RouteState : std::uint8_t {
  active,    // packets go by it
  standby,   // a better one is there
  unusable,  // it leads to no port
  no_room,   // it would be active
};

class Rib {
 public:
  using Source = RouteCandidate::Source;
  using Resolved = HopSets::Resolved;
  using Resolve = HopSets::Resolve;
  // Called when other routes for addresses of a prefix, neighbours' host routes aside,
  // may lead elsewhere than before.
  using Changed = std::function<void(const Prefix&)>;

  Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed);

  // Adds, or replaces the candidate of the same (source, metric).
  void set(const Prefix& prefix, RouteCandidate candidate);
  void remove(const Prefix& prefix, Source source, std::uint32_t metric);
  // Takes `hops` away from a candidate; all of it when none of its hops are left,
  // none are given or none is known.
  void remove_hops(const Prefix& prefix, Source source, std::uint32_t metric,
                   const std::vector<RouteHop>& hops);

  // Next hop objects of the kernel, for keys that name them.
  void set_object(const NextHopEvent& event, std::uint32_t generation);
  void remove_object(std::uint32_t id);  // and the routes that name it
  bool knows_object(std::uint32_t id) const { return sets_.objects().knows(id); }

  // Removes the source's candidates of other generations; keep_stale() calls that off,
  // as far as it is not done yet.
  void remove_stale(Source source, std::uint32_t generation);
  void keep_stale(Source source) { stale_[static_cast<std::size_t>(source)].reset(); }
  // Next hop objects of other generations, and the routes that name them.
  void remove_stale_objects(std::uint32_t generation);
  // Resolve has changed its mind.
  void program_all();

  // What concerns all routes is done in full at once (the default), or as far as `steps` go: about one for a
  // route looked at, some more for a route changed. work() goes on with what is left; true: there is more.
  void limit_work(std::size_t steps) { steps_ = steps; }
  bool work();

  // Whether packets to an address go straight to it through the interface, neighbours' host routes aside.
  bool is_on_link(const IpAddress& address, InterfaceIndex interface) const;

  // Calls f(prefix, candidate, state) for the routes at places from `place` on, so many places; where to go
  // on. None: that was all. What comes or goes meanwhile may be left out.
  template <class F>
  std::optional<std::size_t> look(std::size_t place, std::size_t places, F&& f) const {
    const std::size_t end = std::min(place + places, table_.places());
    for (; place < end; ++place)
      if (const auto* entry = table_.at(place)) look(*entry, f);
    return place < table_.places() ? std::optional(place) : std::nullopt;
  }
  const HopSets& sets() const { return sets_; }
  // The longest prefix that has an address, of those in the sink.
  std::optional<Prefix> longest(const IpAddress& address) const;

  std::size_t programmed() const { return programmed_; }
  std::size_t rejected() const { return rejected_; }

 private:
  struct Programmed {
    HopSets::Id set = HopSets::kNone;
    std::uint32_t value = 0;  // RouteTarget::encode()
    bool on_link = false;
    bool station = false;  // a neighbour's host route
    friend bool operator==(const Programmed&, const Programmed&) = default;
  };
  struct Route {
    RouteCandidates candidates;
    Programmed programmed;
    bool rejected = false;  // wanted, but there was no room
    bool waits = false;     // stands in waiting_
  };
  using Table = PrefixTable<Route>;
  using Lengths =
      std::array<std::array<std::uint32_t, 129>, 2>;  // how many prefixes there are, by family and length

  template <class F>
  void look(const Table::Entry& entry, F&& f) const {
    bool better = false;
    for (const auto& c : entry.value.candidates.all()) {
      const bool usable = sets_.active(c.set);
      f(entry.prefix, c,
        !usable                ? RouteState::unusable
        : better               ? RouteState::standby
        : entry.value.rejected ? RouteState::no_room
                               : RouteState::active);
      better |= usable;
    }
  }
  static Lengths::value_type::value_type& count(Lengths& lengths, const Prefix& p);
  const RouteCandidates::Candidate* winner(const Route& route, bool neighbors) const;
  HopSets::Id wanted(const Route& route, bool neighbors) const;
  HopSets::Id covering(const IpAddress& address) const;
  bool is_under_subnet(const Prefix& prefix) const;
  void candidates_changed(const Prefix& prefix, Source source);
  void program(Prefix prefix);
  Programmed install(const Prefix& prefix, const RouteCandidates::Candidate* to, const Programmed& before);
  void account(const Prefix& prefix, const Programmed& before, const Programmed& after);
  void set_rejected(Table::Entry& entry, bool rejected);
  void retry_rejected();
  bool is_rejected(const Prefix& prefix) const;
  void make_room(const Prefix& prefix, const RouteCandidates::Candidate& to);
  std::optional<Prefix> that_yields(const Prefix& prefix, const RouteCandidates::Candidate& to) const;
  void withdraw(const Prefix& station);
  InterfaceIndex interface_of(HopSets::Id station) const;
  void begin_walk();
  std::size_t visit(Table::Entry& entry);  // the steps it took
  bool is_as_wanted(const Route& route) const;
  bool is_stale(const RouteCandidates::Candidate& candidate) const;

  RouteSink& sink_;
  HopSets sets_;
  Changed changed_;
  Table table_;
  std::deque<Prefix> waiting_;  // rejected, or were when they came here: stations, then routes
  Lengths all_{}, on_link_{};   // of what is programmed
  std::size_t programmed_ = 0, rejected_ = 0;
  std::array<std::size_t, 2> of_family_{};  // programmed
  StationRoutes stations_;                  // programmed
  bool making_room_ = false;
  std::uint32_t pause_ = 0;  // so many find no room before stations are asked for it again
  std::size_t steps_ = SIZE_MAX;
  std::size_t place_ = 0;  // how far the walk over all routes has come
  bool walking_ = false;
  std::array<std::optional<std::uint32_t>, 4> stale_{};  // by source: generation that stays
};

}  // namespace surety
