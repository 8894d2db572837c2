// SPDX-License-Identifier: BSD-3-Clause
// Inputs of the control plane, from YAML or from the kernel, and its output into the data plane.
#pragma once

#include <cstdint>
#include <optional>
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

// A route of the kernel's main table, unicast or blackhole kind (blackhole, unreachable, prohibit).
struct RouteEvent {
  EventAction action = EventAction::add;
  Prefix to{};
  std::vector<RouteNextHop> next_hops{};  // several: ECMP
  std::uint32_t metric = 0;
  std::uint8_t protocol = 0;  // RTPROT_*
  bool blackhole = false;
  std::uint32_t refusal =
      1;  // kind of a blackhole route: kNextHopBlackhole, kNextHopUnreachable or kNextHopProhibited
  std::uint32_t next_hop_id = 0;  // next hop object that the route refers to; next_hops may then be empty
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
  Prefix address;             // with host bits
  std::uint8_t protocol = 0;  // origin of the address, if the kernel has it (IFA_PROTO)
};
struct LinkEvent {
  int ifindex = 0;
  std::string name;
  bool up = false;
  std::uint32_t mtu = 0;
  MacAddress mac{};
  bool enabled = false;  // administrative state, whatever the carrier
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
    local,  // one of the router's own addresses
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
      0;            // egress interface: the port itself, or one on it (router/pipeline/interfaces/)
  VlanTags tags{};  // tags of the interface
  friend bool operator==(const NextHopEntry&, const NextHopEntry&) = default;
};

// Initial entries of every NextHopTable.
inline constexpr std::uint32_t kNextHopNone = 0;  // no_route: the FIB's default
inline constexpr std::uint32_t kNextHopBlackhole = 1;
inline constexpr std::uint32_t kNextHopLocal = 2;
inline constexpr std::uint32_t kNextHopUnreachable = 3;
inline constexpr std::uint32_t kNextHopProhibited = 4;
inline constexpr std::uint32_t kNextHopForeign =
    5;  // local: the kernel forwards by an interface that is no port
inline constexpr std::uint32_t kNextHopsFixed = 6;

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
