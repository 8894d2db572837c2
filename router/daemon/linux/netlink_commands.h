// SPDX-License-Identifier: BSD-3-Clause
// Requests to the kernel over rtnetlink, each answered before the call returns.
//
// A socket apart from NetlinkMonitor's, so that answers and events do not mix. Failures throw
// std::runtime_error with the kernel's message. The calls take some microseconds of system time and do not
// wait for the network.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "router/pipeline/routes/route_events.h"

namespace surety {

enum class Added : std::uint8_t { now, already_there };

// Protocol number of our addresses and routes, as RTPROT_ZEBRA: `ip route show proto surety`
// (deploy/iproute2).
inline constexpr std::uint8_t kProtocol = 83;

class NetlinkCommands {
 public:
  NetlinkCommands();  // in the calling thread's network namespace

  // Adds an address with our protocol number, which the kernel keeps since 5.18.
  Added add_address(int ifindex, const Prefix& address);  // with host bits
  void remove_address(int ifindex, const Prefix& address);
  // add_route() adds a route of ours, if there is none with that prefix and metric; replace_route() also
  // replaces one. Next hops: a gateway, found through the addresses if the device is 0, or a device alone;
  // none with `blackhole`. A gateway on none of the device's subnets is on its link all the same
  // (`onlink`, the only gateway of many /32 uplinks). IPv4 may have gateways of IPv6 (RFC 8950).
  Added add_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  void replace_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  void remove_route(const Prefix& to, std::uint32_t metric);  // ours only, if it is there
  // The devices of routes that are neither the kernel's own nor ours. Reads all routes.
  std::set<int> devices_of_others();
  // True if the interface has filters for ingress or egress frames (`clsact`).
  bool has_filters(int ifindex);
  // Sets the MAC address for a neighbour, until the kernel finds it unreachable; the kernel keeps the entry
  // even if its table is full.
  void keep_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac);
  // Sets the MAC address until keep_neighbor() or remove_neighbor(): ARP and ND do not change the entry
  // (NUD_PERMANENT).
  void pin_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac);
  void remove_neighbor(int ifindex, const IpAddress& neighbor);
  void set_up(int ifindex);
  void set_mtu(int ifindex, std::uint32_t mtu);
  // nullopt: no such interface.
  std::optional<LinkEvent> link_by_name(const std::string& name);

 private:
  struct Close {
    void operator()(mnl_socket* s) const { mnl_socket_close(s); }
  };
  struct Answer {
    int error = 0;     // errno value
    std::string text;  // the kernel's explanation, if any
    std::optional<LinkEvent> link;
    void must(const char* what) const;  // throws if the kernel has failed
  };

  Answer ask(nlmsghdr& request);
  template <class Each>
  Answer ask(nlmsghdr& request, Each&& each);  // each: called for the messages before the last
  void enter_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac, std::uint16_t state);
  Answer enter_route(std::uint16_t flags, const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  Answer enter_route(std::uint16_t flags, const Prefix& to, std::uint32_t metric, const RouteEvent& route,
                     bool on_link_gateways);
  Answer change_address(std::uint16_t type, std::uint16_t flags, int ifindex, const Prefix& address);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace surety
