// SPDX-License-Identifier: BSD-3-Clause
// Inputs of the control plane, from YAML or from the kernel, and its output into the data plane.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

enum class EventAction : std::uint8_t { add, remove };

struct RouteNextHop {
  std::optional<IpAddress> via{};  // nullopt: on link
  int ifindex = 0;                 // 0: found by `via`
  std::uint16_t weight = 1;        // share of the flows, relative to the other next hops' weights
};

// Why the data plane cannot do what a route says. Its packets are dropped as `unsupported_route`.
enum class Unsupported : std::uint8_t {
  none,
  encapsulation,  // a tunnel, SRv6 or MPLS (RTA_ENCAP, NHA_ENCAP)
  translation,    // another destination in the packet (RTA_NEWDST)
  tos,            // only for packets with a TOS, and perhaps beside a route for the others
  source,         // only for packets from a source prefix
  type,           // a type of a newer kernel (RTN_*)
};
inline constexpr std::array<std::string_view, 6> kUnsupportedNames{"",    "encapsulation", "translation",
                                                                   "tos", "source",        "type"};
constexpr std::string_view name(Unsupported u) {
  return kUnsupportedNames[static_cast<std::size_t>(u)];
}

// The place of an added route among those with the same prefix and metric, of which the first usable one is
// used (netlink(7): NLM_F_REPLACE, NLM_F_APPEND).
enum class RouteOrder : std::uint8_t {
  only,     // there is no other
  replace,  // replaces the first
  first,
  last,
  dumped,  // part of a whole report: behind the routes that the same report has
};

// A route of the kernel's tables `main` and `local`.
struct RouteEvent {
  EventAction action = EventAction::add;
  Prefix to{};
  std::vector<RouteNextHop> next_hops{};  // several: ECMP
  std::uint32_t metric = 0;
  std::uint8_t protocol = 0;      // RTPROT_*
  bool blackhole = false;         // `refusal` instead of next hops
  std::uint32_t refusal = 1;      // kNextHopBlackhole, -Unreachable, -Prohibited, -Thrown, -LocalPrefix, ...
  std::uint32_t next_hop_id = 0;  // next hop object that the route refers to; next_hops may then be empty
  RouteOrder order = RouteOrder::only;
  Unsupported unsupported = Unsupported::none;
  bool local_table =
      false;          // a route of the table `local`, which precedes `main` whatever the lengths of prefixes
  bool dead = false;  // all next hops are unusable now (RTNH_F_DEAD); a removal does not say it
  bool connected = false;       // the subnet of an address, set by the kernel itself
  std::uint8_t selector = 0;    // TOS, or 1: a source prefix; higher ones come first, whatever their metrics
  std::uint8_t preference = 0;  // among equal metrics, lower is better (RFC 4191)
  std::uint16_t mtu = 0;        // RTAX_MTU; 0: the interface's
  std::uint16_t identity = 0;   // a hash of the route's other properties
  Prefix from{};                // source prefix (IPv6); length 0: packets from everywhere
};
// A rule that sends packets to a routing table (ip-rule(8)).
struct RuleEvent {
  EventAction action = EventAction::add;
  std::uint32_t priority = 0;
  bool v6 = false;
  bool preset = false;  // one of the kernel's defaults
  // True for the kernel's defaults, and rules that no packet of the data plane meets. False for the removal
  // of a default for the table local or main: the data plane uses these tables in any case.
  bool followed = true;
  std::uint32_t table = 0;
  std::string text{};  // a short form of what ip(8) shows
};
// A next hop object of the kernel (ip-nexthop(8)): a next hop, a blackhole, or a group of other objects.
struct NextHopEvent {
  struct Member {
    std::uint32_t id = 0;
    std::uint16_t weight = 1;
    friend bool operator==(const Member&, const Member&) = default;
  };
  EventAction action = EventAction::add;  // adds or replaces
  std::uint32_t id = 0;
  RouteNextHop hop{};  // unused for a group or a blackhole
  std::vector<Member> group{};
  bool blackhole = false;
  Unsupported unsupported = Unsupported::none;
};
struct NeighborEvent {
  EventAction action = EventAction::add;  // remove: deleted, failed or incomplete: no MAC known
  int ifindex = 0;
  IpAddress address;
  MacAddress mac{};
  bool fixed = true;      // configured by an operator, or deleted; else found by the kernel
  bool confirmed = true;  // has answered, or is fixed; else has only sent something
};
struct AddressEvent {
  EventAction action = EventAction::add;
  int ifindex = 0;
  Prefix address;                // with host bits
  std::uint8_t protocol = 0;     // origin of the address, if the kernel has it (IFA_PROTO)
  std::optional<Prefix> peer{};  // with host bits: the subnet is the peer's and not the address's
  bool no_prefix_route = false;  // the address gives no subnet (IFA_F_NOPREFIXROUTE)
  std::optional<IpAddress> broadcast{};
};
struct LinkEvent {
  int ifindex = 0;
  std::string name;
  bool up = false;
  std::uint32_t mtu = 0;
  MacAddress mac{};
  bool enabled = false;  // administrative state, whatever the carrier
  int macvlan_of = 0;    // index of the device below a macvlan device; 0: another kind of device
};

// A value of the FIB: `count` next hops starting at `first` in the NextHopTable, chosen by flow hash; and the
// narrowness of its route (paths.h).
struct RouteTarget {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint8_t narrowness = 0;
  static constexpr std::uint32_t kMaxFirst = (1 << 17) - 1, kMaxCount = 64;
  static constexpr std::uint32_t kSeveral = (kMaxCount - 1)
                                            << 17;  // mask in encode(): nonzero if there are several
  // 30 bits, the limit of the FIB.
  std::uint32_t encode() const { return first | (count - 1) << 17 | std::uint32_t{narrowness} << 23; }
  static RouteTarget decode(std::uint32_t v) {
    return {v & kMaxFirst, (v >> 17 & (kMaxCount - 1)) + 1, static_cast<std::uint8_t>(v >> 23)};
  }
  friend bool operator==(const RouteTarget&, const RouteTarget&) = default;
};

// One next hop of the data plane. The source MAC is the egress port's, the tags are the interface's, which is
// constant for an id in use.
struct NextHopEntry {
  enum class State : std::uint8_t {
    no_route,
    blackhole,    // silently
    unreachable,  // with an ICMP error (RFC 1812 5.2.7.1)
    prohibited,
    unsupported,  // the data plane cannot do what the route says
    local,        // one of the router's own addresses
    glean,  // on a connected subnet, neighbour not resolved: the kernel resolves the packet's destination
    unresolved,  // a gateway that is not resolved: the kernel resolves the gateway
    waiting,     // MAC known, but earlier packets may still be on their way: new ones wait
    opening,     // earlier packets have arrived: waiting ones are sent first
    ready,
  };
  // True if the MAC is known: from state `waiting` on.
  static constexpr bool known(State s) { return s >= State::waiting; }

  MacAddress destination{};  // valid when known
  std::uint8_t port = 0;
  State state = State::no_route;
  std::uint16_t interface =
      0;                  // egress interface: the port itself, or one on it (router/pipeline/interfaces/)
  VlanTags tags{};        // tags of the interface
  std::uint16_t mtu = 0;  // the route's own; 0: the interface's
  friend bool operator==(const NextHopEntry&, const NextHopEntry&) = default;
};

// The largest packet for a next hop; `interface`: the MTU of its interface.
constexpr std::uint16_t mtu_of(const NextHopEntry& hop, std::uint16_t interface) {
  return hop.mtu != 0 && hop.mtu < interface ? hop.mtu : interface;
}

// Initial entries of every NextHopTable.
inline constexpr std::uint32_t kNextHopNone = 0;  // no_route: the FIB's default
inline constexpr std::uint32_t kNextHopBlackhole = 1;
inline constexpr std::uint32_t kNextHopLocal = 2;
inline constexpr std::uint32_t kNextHopUnreachable = 3;
inline constexpr std::uint32_t kNextHopProhibited = 4;
inline constexpr std::uint32_t kNextHopForeign =
    5;  // local: the kernel forwards by an interface that is no port
inline constexpr std::uint32_t kNextHopUnsupported = 6;
inline constexpr std::uint32_t kNextHopThrown =
    7;  // no_route: ends the search, as `throw` does in the last table
inline constexpr std::uint32_t kNextHopLocalPrefix =
    8;  // local: the kernel's, but no address of an interface
inline constexpr std::uint32_t kNextHopsFixed = 9;

// The interface to the data plane's tables. A next hop is set before the first route that uses it. After the
// last one it stays unchanged until its id is reused, which is late: a worker may be in the midst of a burst.
class RouteSink {
 public:
  virtual ~RouteSink() = default;
  virtual bool set_route(const Prefix& prefix,
                         RouteTarget target) = 0;  // adds or replaces; false: no room
  virtual void remove_route(const Prefix& prefix) = 0;
  virtual void set_next_hop(std::uint32_t id, const NextHopEntry& entry) = 0;
};

}  // namespace surety
