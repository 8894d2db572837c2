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
#include <utility>
#include <vector>

#include "router/pipeline/routes/hop_sets.h"
#include "router/pipeline/routes/host_queues.h"
#include "router/pipeline/routes/neighbor_routes.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// In order of preference. `local`: the kernel's table of that name. It hides longer prefixes of other
// sources, except of IPv4 while the kernel has both tables in one trie (Rib::separate_tables4()).
// `subscriber`: the next hops of the shorter route that contains hosts with queues (Rib::set_hosts()).
enum class RouteSource : std::uint8_t { local, neighbor, connected, yaml, kernel, subscriber };
inline constexpr std::size_t kRouteSources = 6;

// The routes of all sources for one prefix, best first. Nearly always there is one, which takes no memory of
// its own.
class RouteCandidates {
 public:
  struct Candidate {
    HopSets::Id set = HopSets::kNone;
    std::uint32_t metric = 0;      // lower is better; several of one metric: in the order of their source
    std::uint32_t generation = 0;  // see Rib::remove_stale()
    RouteSource source = RouteSource::kernel;
    std::uint8_t selector = 0;  // RouteEvent::selector
    std::uint16_t kind = 0;     // flags below, and a hash of the route's other properties

    // Bits of `kind`: the preference among equal metrics; a route of an address, set by the kernel itself.
    static constexpr std::uint16_t kPreference = 3, kConnected = 4, kKinds = 8;
    std::uint16_t preference() const { return kind & kPreference; }
    bool connected() const { return (kind & kConnected) != 0; }
    std::tuple<RouteSource, int, std::uint32_t> group() const { return {source, -int{selector}, metric}; }
    bool in_group_of(const Candidate& other) const { return group() == other.group(); }
  };
  // The relation of a new candidate to a known one of its group.
  enum class Likeness : std::uint8_t {
    apart,  // for packets from another source prefix: neither replaces the other
    other,
    similar,  // a candidate that RouteOrder::replace prefers to replace
    same,     // another report of the same route, perhaps with other next hops
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
  struct Change {
    std::vector<Candidate> gone{};  // candidates that the new one replaces
    bool differs = true;            // the sets, or their order, are others
  };
  // Adds the candidate at its place in its group, the candidates with the same source, selector and metric.
  // `like(known)`: see Likeness.
  template <class Like>
  Change set(const Candidate& candidate, RouteOrder order, Like&& like) {
    if (all().empty()) {
      one_ = candidate;
      return {};
    }
    const bool one = !many_ && one_.in_group_of(candidate);
    const Likeness likeness = one ? like(one_) : Likeness::apart;
    if (likeness == Likeness::same || (order == RouteOrder::only && likeness != Likeness::apart)) {
      const Candidate before = std::exchange(one_, candidate);
      return {{before}, before.set != candidate.set};
    }
    Change change;
    std::vector<Candidate> now = placed(candidate, order, like, change.gone);
    change.differs = !std::ranges::equal(
        now, all(), [](const auto& a, const auto& b) { return a.set == b.set && a.kind == b.kind; });
    keep(std::move(now));
    return change;
  }
  void set(const Candidate& candidate) {
    set(candidate, RouteOrder::only, [](const Candidate&) { return Likeness::other; });
  }
  // Gives `which`, an element of all(), another set.
  void change(const Candidate* which, HopSets::Id set) {
    std::vector<Candidate> now(all().begin(), all().end());
    now[static_cast<std::size_t>(which - all().data())].set = set;
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
  // All candidates with the new one, and in `gone` those that it replaces.
  template <class Like>
  std::vector<Candidate> placed(const Candidate& candidate, RouteOrder order, Like&& like,
                                std::vector<Candidate>& gone) const {
    std::vector<Candidate> now(all().begin(), all().end());
    const auto better = [](const auto& a, const auto& b) { return a.group() < b.group(); };
    auto [from, to] = std::equal_range(now.begin(), now.end(), candidate, better);
    const auto likest = [&, from = from, to = to](Likeness least) {
      return std::find_if(from, to, [&](const auto& c) { return like(c) >= least; });
    };
    const auto put = [&](auto at) { gone.push_back(std::exchange(*at, candidate)); };
    const auto similar = likest(Likeness::similar);
    const auto reported = [&](const auto& c) { return c.generation == candidate.generation; };
    auto same = likest(Likeness::same);
    if (order == RouteOrder::only) {
      const auto rest =
          std::stable_partition(from, to, [&](const auto& c) { return like(c) == Likeness::apart; });
      gone.assign(rest, to);
      now.insert(now.erase(rest, to), candidate);
    } else if (order == RouteOrder::dumped) {
      // Each of several equal candidates (`ip -6 route change` to one that is there) has a report of its own.
      const auto unreported =
          std::find_if(same, to, [&](const auto& c) { return !reported(c) && like(c) == Likeness::same; });
      if (unreported != to) same = unreported;
      auto at = to;
      if (same != to) {
        gone.push_back(*same);
        std::rotate(same, same + 1, to);
        at = to - 1;
      }
      while (at != from && !reported(*(at - 1))) --at;
      if (same == to) {
        now.insert(at, candidate);
      } else {
        *(to - 1) = candidate;
        std::rotate(at, to - 1, to);
      }
    } else if (const auto any = likest(Likeness::other); order == RouteOrder::replace && any != to) {
      put(similar == to ? any : similar);  // an equal candidate behind it stays
    } else if (same != to) {
      put(same);
    } else {
      now.insert(order == RouteOrder::first ? from : to, candidate);
    }
    return now;
  }
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
  RouteOrder order = RouteOrder::only;
  std::uint8_t selector = 0;
  std::uint16_t kind = 0;
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

  // Adds the candidate at the place that its order names, among those with the same source and metric.
  void set(const Prefix& prefix, RouteCandidate candidate);
  void remove(const Prefix& prefix, Source source, std::uint32_t metric);
  void remove_hops(const Prefix& prefix, Source source, std::uint32_t metric, std::vector<RouteHop> hops) {
    remove(prefix, {.source = source, .metric = metric, .to = {.hops = std::move(hops)}});
  }
  // Removes the candidate that `what` describes: its next hops from a candidate that has more of them (IPv6);
  // if `what` describes none, the first or only one of its kind.
  void remove(const Prefix& prefix, const RouteCandidate& what);

  // From now on the IPv4 table `local` precedes `main`: rules have been added or removed, and the kernel no
  // longer keeps both tables in one trie (fib_trie_unmerge()).
  void separate_tables4();

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
  // Called when the ports of a prefix's routes have gone up or down.
  void follow_ports(const Prefix& prefix) { candidates_changed(prefix, Source::yaml); }
  // The metrics of those routes of YAML for a prefix whose ports are all down, while another one's is up.
  std::vector<std::uint32_t> passed_over(const Prefix& prefix, std::uint32_t generation) const;

  // Hosts with queues of their own: members of routes within their prefixes have NextHopMember::hosts. Where
  // the longest route around a prefix has a gateway, the prefix has a route of the source `subscriber` with
  // the same next hops, which is used if there is no other.
  void set_hosts(HostQueues hosts);
  const HostQueues& hosts() const { return hosts_; }

  // Work on all routes is done in full at once (the default), or up to `steps` per call: about one per route
  // visited, some more per route changed. work() continues; true: there is more.
  void limit_work(std::size_t steps) { steps_ = steps; }
  bool work();

  // True if packets to an address go straight to it through the interface, neighbours' host routes aside.
  bool is_on_link(const IpAddress& address, InterfaceIndex interface) const {
    return on_link_mtu(address, interface).has_value();
  }
  // The MTU of the route that makes it so; 0: the interface's. nullopt: is_on_link() is false.
  std::optional<std::uint16_t> on_link_mtu(const IpAddress& address, InterfaceIndex interface) const;

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
    const auto* const best = winner(entry.prefix, entry.value, true);
    for (const auto& c : entry.value.candidates.all())
      f(entry.prefix, c,
        !sets_.active(c.set)   ? RouteState::unusable
        : &c != best           ? RouteState::standby
        : entry.value.rejected ? RouteState::no_room
                               : RouteState::active);
  }
  static Lengths::value_type::value_type& count(Lengths& lengths, const Prefix& p);
  const RouteCandidates::Candidate* winner(const Prefix& prefix, const Route& route, bool neighbors) const;
  HopSets::Id wanted(const Prefix& prefix, const Route& route, bool neighbors) const;
  RouteCandidates::Likeness likeness(const Prefix& prefix, const RouteCandidates::Candidate& fresh,
                                     const RouteCandidates::Candidate& known) const;
  const RouteCandidates::Candidate* described(std::span<const RouteCandidates::Candidate> group,
                                              const RouteCandidate& what) const;
  bool are_separate(const Prefix& prefix) const { return prefix.address.is_v6() || separate4_; }
  bool is_throw(const RouteCandidates::Candidate& candidate) const;
  bool replaces(const RouteCandidates::Candidate& best, const RouteCandidates::Candidate& next) const;
  bool is_hidden(const Prefix& prefix) const;
  void follow_local(const Prefix& prefix, const RouteCandidates& candidates);
  const Table::Entry* longest(const IpAddress& address, int bits) const;
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
  void sets_changed(bool anew);
  void begin_walk();
  std::size_t visit(Table::Entry& entry);  // returns the steps it took
  bool is_as_wanted(const Table::Entry& entry) const;
  void follow_route_around(const Prefix& host);
  void routes_around_changed(const Prefix& prefix);
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
  bool walking_ = false, links_changed_ = false;
  std::array<std::optional<std::uint32_t>, kRouteSources> stale_{};  // indexed by source: generation to keep
  // Prefixes of the source `local` that are no host's, and not thrown: few, if any.
  std::vector<Prefix> hiding_;
  bool hiding_changed_ = false, separate4_ = false;
  HostQueues hosts_;
  std::size_t host_ = 0;  // position of the walk over hosts_
};

}  // namespace surety
