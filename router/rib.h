// The routes of all sources, which of them wins for each prefix, and the winners in the sink.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "router/next_hop_groups.h"
#include "router/prefixes.h"
#include "router/route_events.h"

namespace surety {

// A next hop as its source gives it: exactly one of port and ifindex, or `via` alone.
struct RouteHop {
  std::optional<config::Address> via{};  // none: on link
  std::optional<std::uint8_t> port{};
  int ifindex = 0;
  friend bool operator==(const RouteHop&, const RouteHop&) = default;
};

// One source's route for a prefix.
struct RouteCandidate {
  enum class Source : std::uint8_t { neighbor, connected, yaml, kernel };  // in order of preference
  Source source = Source::kernel;
  std::uint32_t metric = 0;              // lower is better; one candidate of each (source, metric)
  std::uint32_t special = kNextHopNone;  // or kNextHopBlackhole, kNextHopLocal; then there are no hops
  std::vector<RouteHop> hops{};
  std::uint32_t generation = 0;  // see remove_stale()
};

class Rib {
 public:
  using Source = RouteCandidate::Source;
  // What a hop means now. Neither: its gateway is on no connected subnet.
  struct Resolved {
    std::optional<NextHopMember> member{};
    bool foreign = false;  // out of an interface that is not a port
  };
  using Resolve = std::function<Resolved(const RouteHop&)>;
  // Called when other routes for addresses of a prefix, neighbours' host routes aside, may lead elsewhere
  // than before.
  using Changed = std::function<void(const config::Prefix&)>;

  Rib(RouteSink& sink, NextHopGroups& groups, Resolve resolve, Changed changed);

  // Adds, or replaces the candidate of the same (source, metric).
  void set(const config::Prefix& prefix, RouteCandidate candidate);
  void remove(const config::Prefix& prefix, Source source, std::uint32_t metric);
  // Takes `hops` away from a candidate; all of it when none of its hops are left, none are given or none is
  // known.
  void remove_hops(const config::Prefix& prefix, Source source, std::uint32_t metric,
                   const std::vector<RouteHop>& hops);
  // Removes the source's candidates of other generations.
  void remove_stale(Source source, std::uint32_t generation);
  // Resolve has changed its mind.
  void program_all();

  // Whether packets to an address go straight to it through the port, neighbours' host routes aside.
  bool is_on_link(const config::Address& address, std::uint8_t port) const;

  std::size_t programmed() const { return programmed_; }
  std::size_t rejected() const { return rejected_.size(); }

 private:
  // What a prefix leads to: nothing, a fixed next hop or a group.
  struct Forwarding {
    std::uint32_t special = kNextHopNone;
    NextHopMembers members;
    bool active() const { return special != kNextHopNone || !members.empty(); }
    bool on_link() const;
    friend bool operator==(const Forwarding&, const Forwarding&) = default;
  };
  struct Entry {
    std::vector<RouteCandidate> candidates;  // best first
    Forwarding programmed;
  };
  using Lengths =
      std::array<std::array<std::uint32_t, 129>, 2>;  // how many prefixes there are, by family and length

  static Lengths::value_type::value_type& count(Lengths& lengths, const config::Prefix& p);
  Forwarding forwarding(const RouteCandidate& candidate) const;
  Forwarding wanted(const Entry& entry, bool neighbors) const;
  Forwarding covering(const config::Address& address) const;
  bool is_under_subnet(const config::Prefix& prefix) const;
  void candidates_changed(const config::Prefix& prefix, Source source);
  void program(config::Prefix prefix);
  bool install(const config::Prefix& prefix, const Forwarding& forwarding);
  void account(const config::Prefix& prefix, const Forwarding& before, const Forwarding& after);
  void retry_rejected();

  RouteSink& sink_;
  NextHopGroups& groups_;
  Resolve resolve_;
  Changed changed_;
  std::map<config::Prefix, Entry, PrefixLess> entries_;
  std::set<config::Prefix, PrefixLess> rejected_;  // wanted, but there was no room
  Lengths all_{}, on_link_{};                      // of what is programmed
  std::size_t programmed_ = 0;
};

}  // namespace surety
