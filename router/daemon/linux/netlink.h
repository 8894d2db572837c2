// SPDX-License-Identifier: BSD-3-Clause
// The kernel's links, addresses, routes and neighbours, followed over rtnetlink
// (router/daemon/linux/README.md).
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "conditioners/units.h"
#include "router/daemon/linux/ipv6_siblings.h"
#include "router/daemon/linux/netlink_defects.h"
#include "router/daemon/linux/netlink_message.h"
#include "router/daemon/linux/preset_rules.h"

namespace surety {

class NetlinkMonitor {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on(const RouteEvent&) = 0;    // RouteOrder says which routes an addition replaces
    virtual void on(const NextHopEvent&) = 0;  // before the routes that name it; see below
    virtual void on(const NeighborEvent&) = 0;
    virtual void on(const AddressEvent&) = 0;
    virtual void on(const LinkEvent&) = 0;
    virtual void on(const RuleEvent&) {}
    // All existing objects are reported again between the two, and at last the removal of the kernel's own
    // rules that do not exist (PresetRules). At the end, objects not reported since the last begin are gone.
    // The first synchronisation is one, too. A begin may follow a begin: the earlier attempt has failed.
    virtual void on_resync_begin() = 0;
    virtual void on_resync_end() = 0;
  };

  // Subscribes, in the calling thread's network namespace. Throws std::system_error.
  NetlinkMonitor();

  int fd() const { return mnl_socket_get_fd(socket_.get()); }

  // Passes events to the handler; never blocks, and reads a bounded amount (some 2000 messages, a dump's
  // buffer more at most) so that the caller's loop continues. Call it when fd() is readable
  // (level-triggered), and about once a second to retry failed requests.
  //
  // Order: links, addresses, next hop objects, routes, neighbours, rules in a resynchronisation; else the
  // kernel's order. An event may be reported twice. After lost messages (ENOBUFS), and after changes whose
  // effect on routes the kernel does not announce (a link goes up or down, an IPv4 address is removed,
  // `ignore_routes_with_linkdown` is set, a route is replaced beside an IPv6 multipath route), everything is
  // resynchronised: after lost messages at once; after such changes when a running resynchronisation has
  // ended, and a second after the last one, so that a flapping link cannot prevent a large table from being
  // read; after the end of an IPv6 multipath route a minute after the last one, since a resynchronisation
  // leaves out the routes between its next hops. When the kernel removes a next hop object it also removes
  // the routes that refer to it, without events.
  void poll(Handler& handler, Time now);
  // Requests a resynchronisation at once, for a new consumer of events.
  void tell_again() { lost_ = true; }
  // The defects of all messages so far.
  const NetlinkDefects& defects() const { return defects_; }

 private:
  struct Close {
    void operator()(mnl_socket* s) const { mnl_socket_close(s); }
  };
  bool request_dump();
  bool due() const;
  std::size_t take(std::size_t bytes, Handler& handler);
  void deliver(const nlmsghdr& message, Handler& handler);
  void dump_done(Handler& handler);
  void tell(std::span<const std::uint8_t> message, bool dumped, Handler& handler);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::vector<std::uint8_t> buffer_;
  Ipv6Siblings siblings_;
  PresetRules presets_;
  NetlinkDefects defects_{};
  std::map<int, bool> link_up_;
  std::uint32_t sequence_ = 0;  // sequence number of the last dump requested
  std::size_t dump_;            // index of the running dump; kDumps: none
  bool lost_ = true;      // messages were lost: reported state may be wrong, also that of the running dump
  bool again_ = false;    // a change without events happened
  bool hidden_ = false;   // there may be routes that the last resynchronisation left out
  Time now_{}, ended_{};  // argument of poll(); time when the last resynchronisation ended
};

}  // namespace surety
