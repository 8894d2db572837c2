// SPDX-License-Identifier: BSD-3-Clause
// Requests to the kernel over rtnetlink, each answered before the call returns.
//
// A socket apart from NetlinkMonitor's, so that answers and events do not mix. What fails
// throws std::runtime_error in the kernel's own words. The calls take some microseconds of system time and do
// not wait for the network.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "router/routes/route_events.h"

namespace surety {

enum class Added : std::uint8_t { now, already_there };

// Whose an address or a route is, as RTPROT_ZEBRA: `ip route show proto surety` (deploy/iproute2).
inline constexpr std::uint8_t kProtocol = 83;

class NetlinkCommands {
 public:
  NetlinkCommands();  // in the calling thread's network namespace

  // As ours: the kernel (since 5.18) keeps the protocol with it.
  Added add_address(int ifindex, const Prefix& address);  // with host bits
  void remove_address(int ifindex, const Prefix& address);
  // A route of ours, where there is none of that prefix and metric; or in place of it. Next hops: a gateway,
  // found through the addresses where the device is 0, or a device alone; none with `blackhole`.
  Added add_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  void replace_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  void remove_route(const Prefix& to, std::uint32_t metric);  // of ours
  // The devices that somebody else's routes lead through: not the kernel's own, nor ours. Reads all routes.
  std::set<int> devices_of_others();
  // Whether anybody's filters are asked of what comes in or goes out there (`clsact`).
  bool has_filters(int ifindex);
  // The kernel is to send to that MAC, until it finds that nobody answers there, and to keep the entry even
  // where its table is full.
  void keep_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac);
  // The kernel sends to that MAC until keep_neighbor() or remove_neighbor(): ARP and ND do not change the
  // entry (NUD_PERMANENT).
  void pin_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac);
  void remove_neighbor(int ifindex, const IpAddress& neighbor);
  void set_up(int ifindex);
  void set_mtu(int ifindex, std::uint32_t mtu);
  // None: no such interface.
  std::optional<LinkEvent> link_by_name(const std::string& name);

 private:
  struct Close {
    void operator()(mnl_socket* s) const { mnl_socket_close(s); }
  };
  struct Answer {
    int error = 0;     // errno value
    std::string text;  // the kernel's explanation, where it gives one
    std::optional<LinkEvent> link;
    void must(const char* what) const;  // throws unless the kernel did it
  };

  Answer ask(nlmsghdr& request);
  template <class Each>
  Answer ask(nlmsghdr& request, Each&& each);  // each: of the messages before the last
  void enter_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac, std::uint16_t state);
  Answer enter_route(std::uint16_t flags, const Prefix& to, std::uint32_t metric, const RouteEvent& route);
  Answer change_address(std::uint16_t type, std::uint16_t flags, int ifindex, const Prefix& address);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace surety
