// SPDX-License-Identifier: BSD-3-Clause
// The kernel's links, addresses, routes and neighbours, followed over rtnetlink (router/linux/README.md).
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "conditioners/units.h"
#include "router/linux/ipv6_siblings.h"
#include "router/linux/netlink_message.h"

namespace surety {

class NetlinkMonitor {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on(const RouteEvent&) = 0;    // an addition replaces the route of the same prefix and metric
    virtual void on(const NextHopEvent&) = 0;  // before the routes that name it; see below
    virtual void on(const NeighborEvent&) = 0;
    virtual void on(const AddressEvent&) = 0;
    virtual void on(const LinkEvent&) = 0;
    // Everything that exists is told again between the two. At the end, what was not told since
    // the last begin is gone. The first synchronisation is one too. A begin may follow a begin:
    // the earlier attempt was in vain.
    virtual void on_resync_begin() = 0;
    virtual void on_resync_end() = 0;
  };

  // Subscribes, in the calling thread's network namespace. Throws std::system_error.
  NetlinkMonitor();

  int fd() const { return mnl_socket_get_fd(socket_.get()); }

  // Tells the handler what has happened; never blocks, and takes a bounded amount (some 2000 messages, a
  // dump's buffer more at most) so that the caller's loop goes round. Call it when fd() is readable
  // (level-triggered), and about once a second to retry what failed.
  //
  // Order: links, addresses, next hop objects, routes, neighbours in a resynchronisation; the kernel's order
  // else. An event may be told twice. After lost messages (ENOBUFS), and after changes whose effect on IPv4
  // routes the kernel does not announce (a link goes up or down, an address is removed), everything is
  // resynchronised: of the former at once, of the latter once the resynchronisation that runs has ended, and
  // a second after the last one, so that a link that flaps does not keep a large table from ever being read.
  // With a next hop object the kernel removes the routes that name it, without saying so.
  void poll(Handler& handler, Time now);
  // Everything is to be told again, at once: somebody is new, and has not heard it.
  void tell_again() { lost_ = true; }

 private:
  struct Close {
    void operator()(mnl_socket* s) const { mnl_socket_close(s); }
  };
  bool request_dump();
  bool due() const;
  std::size_t take(std::size_t bytes, Handler& handler);
  void deliver(const nlmsghdr& message, Handler& handler);
  void dump_done(Handler& handler);
  void tell(NetlinkEvent event, bool dumped, Handler& handler);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::vector<std::uint8_t> buffer_;
  Ipv6Siblings siblings_;
  std::map<int, bool> link_up_;
  std::uint32_t sequence_ = 0;  // of the last dump requested
  std::size_t dump_;            // index of the dump that runs; kDumps: none
  bool lost_ = true;            // messages: what was told may not be the truth, nor what is being told
  bool again_ = false;          // something has changed that the kernel did not tell
  Time now_{}, pause_{};        // of this poll(); until when nothing is read again but what was lost
};

}  // namespace surety
