// SPDX-License-Identifier: BSD-3-Clause
// Requests to the kernel over rtnetlink, each answered before the call returns.
//
// A socket apart from NetlinkMonitor's, so that answers and events do not mix. What fails
// throws std::runtime_error in the kernel's own words. The calls take some microseconds of system time and do
// not wait for the network: `resolve` only starts the resolution.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "router/routes/route_events.h"

namespace surety {

enum class Added : std::uint8_t { now, already_there };

class NetlinkCommands {
 public:
  NetlinkCommands();  // in the calling thread's network namespace

  Added add_address(int ifindex, const Prefix& address);  // with host bits
  void remove_address(int ifindex, const Prefix& address);
  // Has the kernel find the neighbour's MAC, as if it had a packet for it; the answer is a NeighborEvent.
  void resolve(int ifindex, const IpAddress& neighbor);
  void set_up(int ifindex);
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
  Answer change_address(std::uint16_t type, std::uint16_t flags, int ifindex, const Prefix& address);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace surety
