// SPDX-License-Identifier: BSD-3-Clause
// The routes of all sources; selects the best for each prefix, and programs it into the sink.
//
// Made for millions of routes: some 70 bytes for each, and work on all routes (next hops with another
// meaning, routes of another generation) can be done a little at a time, see limit_work().
//
// If the sink has no room for a route, host routes of neighbours are withdrawn for it (neighbor_routes.h);
// they return when there is room again, after the routes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "router/pipeline/routes/hop_sets.h"
#include "router/pipeline/routes/neighbor_routes.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

enum class RouteSource : std::uint8_t { neighbor, connected, yaml, kernel };  // in order of preference

// The routes of all sources for one prefix, best first. Nearly always there is one, which takes no memory of
// its own.
class RouteCandidates {
 public:
  struct Candidate {
    HopSets::Id set = HopSets::kNone;
    std::uint32_t metric = 0;      // lower is better; one candidate of each (source, metric)
    std::uint32_t generation = 0;  // see Rib::remove_stale()
    RouteSource source = RouteSource::kernel;
  };

  std::span<const Candidate> all() const {
    if (many_) return *many_;
    return {&one_, one_.set == HopSets::kNone ? 0U : 1U};
  }
  const Candidate* find(RouteSource source, std::uint32_t metric) const {
    for (const auto& c : all())
      if (c.source == source && c.metric == metric) return &c;
    return nullptr;
  }
  // Adds the candidate, or replaces the one with the same (source, metric).
  void set(const Candidate& candidate) {
    std::vector<Candidate> now(all().begin(), all().end());
    const auto better = [](const auto& a, const auto& b) {
      return std::tie(a.source, a.metric) < std::tie(b.source, b.metric);
    };
    const auto at = std::lower_bound(now.begin(), now.end(), candidate, better);
    if (at != now.end() && !better(candidate, *at))
      *at = candidate;
    else
      now.insert(at, candidate);
    keep(std::move(now));
  }
  // Removes the candidates for which `condition` is true, and returns them.
  template <class Condition>
  std::vector<Candidate> take_if(Condition&& condition) {
    std::vector<Candidate> taken;
    if (std::ranges::none_of(all(), condition)) return taken;
    std::vector<Candidate> left;
    for (const auto& c : all()) (condition(c) ? taken : left).push_back(c);
    keep(std::move(left));
    return taken;
  }

 private:
  void keep(std::vector<Candidate> now) {
    one_ = now.empty() ? Candidate{} : now.front();
    many_ = now.size() > 1 ? std::make_unique<std::vector<Candidate>>(std::move(now)) : nullptr;
  }

  Candidate one_;                                 // the candidate, if there is at most one
  std::unique_ptr<std::vector<Candidate>> many_;  // all candidates, if there are more
};

// One source's route for a prefix.
struct RouteCandidate {
  using Source = RouteSource;
  Source source = Source::kernel;
  std::uint32_t metric = 0;
  HopSets::Key to{};
  std::uint32_t generation = 0;
};

// The state of a candidate.
enum class RouteState : std::uint8_t {
  active,    // used by the data plane
  standby,   // there is a better one
  unusable,  // leads to no port
  no_room,   // would be active, but the sink is full
};

class Rib {
 public:
  using Source = RouteCandidate::Source;
  using Resolved = HopSets::Resolved;
  using Resolve = HopSets::Resolve;
  // Called when routes for addresses of a prefix, except neighbours' host routes, may have another
  // destination.
  using Changed = std::function<void(const Prefix&)>;

  Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed);

  // Adds the candidate, or replaces the one with the same (source, metric).
  void set(const Prefix& prefix, RouteCandidate candidate);
  void remove(const Prefix& prefix, Source source, std::uint32_t metric);
  // Removes `hops` from a candidate; the whole candidate when no hop is left, none is given or none is known.
  void remove_hops(const Prefix& prefix, Source source, std::uint32_t metric,
                   const std::vector<RouteHop>& hops);

  // Next hop objects of the kernel, for keys that refer to them.
  void set_object(const NextHopEvent& event, std::uint32_t generation);
  void remove_object(std::uint32_t id);  // removes the routes that refer to it, too
  bool knows_object(std::uint32_t id) const { return sets_.objects().knows(id); }

  // Removes the source's candidates of other generations; keep_stale() cancels the part that is not done yet.
  void remove_stale(Source source, std::uint32_t generation);
  void keep_stale(Source source) { stale_[static_cast<std::size_t>(source)].reset(); }
  // Removes next hop objects of other generations, and the routes that refer to them.
  void remove_stale_objects(std::uint32_t generation);
  // Called when results of `resolve` have changed.
  void program_all();

  // Work on all routes is done in full at once (the default), or up to `steps` per call: about one per route
  // visited, some more per route changed. work() continues; true: there is more.
  void limit_work(std::size_t steps) { steps_ = steps; }
  bool work();

  // True if packets to an address go straight to it through the interface, neighbours' host routes aside.
  bool is_on_link(const IpAddress& address, InterfaceIndex interface) const;

  // Calls f(prefix, candidate, state) for the routes at `places` places from `place` on; returns where to
  // continue, nullopt: complete. Routes added or removed meanwhile may be left out.
  template <class F>
  std::optional<std::size_t> look(std::size_t place, std::size_t places, F&& f) const {
    const std::size_t end = std::min(place + places, table_.places());
    for (; place < end; ++place)
      if (const auto* entry = table_.at(place)) look(*entry, f);
    return place < table_.places() ? std::optional(place) : std::nullopt;
  }
  const HopSets& sets() const { return sets_; }
  // The longest prefix in the sink that has an address.
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
    bool rejected = false;  // wanted, but the sink was full
    bool waits = false;     // is in waiting_
  };
  using Table = PrefixTable<Route>;
  using Lengths = std::array<std::array<std::uint32_t, 129>, 2>;  // number of prefixes, by family and length

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
  std::size_t visit(Table::Entry& entry);  // returns the steps it took
  bool is_as_wanted(const Route& route) const;
  bool is_stale(const RouteCandidates::Candidate& candidate) const;

  RouteSink& sink_;
  HopSets sets_;
  Changed changed_;
  Table table_;
  std::deque<Prefix> waiting_;  // rejected now, or when added: neighbours' host routes, then routes
  Lengths all_{}, on_link_{};   // programmed prefixes
  std::size_t programmed_ = 0, rejected_ = 0;
  std::array<std::size_t, 2> of_family_{};  // programmed, by family
  NeighborRoutes stations_;                 // programmed
  bool making_room_ = false;
  std::uint32_t pause_ = 0;  // rejections to skip before neighbours' host routes are withdrawn again
  std::size_t steps_ = SIZE_MAX;
  std::size_t place_ = 0;  // position of the walk over all routes
  bool walking_ = false;
  std::array<std::optional<std::uint32_t>, 4> stale_{};  // indexed by source: generation to keep
};

}  // namespace surety
