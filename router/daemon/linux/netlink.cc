// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink.h"

#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <type_traits>
#include <utility>

namespace surety {
namespace {

constexpr std::array<std::uint16_t, 6> kDumps{RTM_GETLINK,  RTM_GETADDR,  RTM_GETNEXTHOP,
                                              RTM_GETROUTE, RTM_GETNEIGH, RTM_GETRULE};
constexpr unsigned group(unsigned number) {
  return 1U << (number - 1);
}
constexpr unsigned kGroups = RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                             RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_RULE |
                             group(RTNLGRP_IPV6_RULE) | group(RTNLGRP_IPV4_NETCONF) |
                             group(RTNLGRP_IPV6_NETCONF) | group(RTNLGRP_NEXTHOP);
constexpr std::size_t kBuffer = 128UL * 1024;  // an attribute has a 16-bit length: holds any message
constexpr int kReceiveBuffer = 4 * 1024 * 1024;
constexpr std::size_t kMessagesPerPoll = 2048;
constexpr Duration kPause = std::chrono::seconds(1);
constexpr Duration kLongPause = std::chrono::minutes(1);

}  // namespace

NetlinkMonitor::NetlinkMonitor()
    : socket_(mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC)),
      buffer_(kBuffer),
      dump_(kDumps.size()) {
  if (!socket_) throw std::system_error(errno, std::generic_category(), "cannot open a netlink socket");
  // The larger buffer only makes losses rare; FORCE needs CAP_NET_ADMIN and ignores net.core.rmem_max.
  if (setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof(kReceiveBuffer)) != 0)
    setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  if (mnl_socket_bind(socket_.get(), kGroups, MNL_SOCKET_AUTOPID) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot subscribe to the kernel's routes");
}

bool NetlinkMonitor::due() const {
  if (dump_ != kDumps.size()) return false;
  return lost_ || (again_ && now_ >= ended_ + kPause) || (hidden_ && now_ >= ended_ + kLongPause);
}

void NetlinkMonitor::poll(Handler& handler, Time now) {
  now_ = now;
  bool tried = false;
  for (std::size_t taken = 0; taken < kMessagesPerPoll;) {
    const ssize_t n = mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());
    if (n >= 0) {
      taken += take(static_cast<std::size_t>(n), handler);
    } else if (errno == EAGAIN) {
      // A dump starts only when the queue is empty: until then the kernel keeps discarding messages after an
      // ENOBUFS without reporting another one, and a dump would not cover those. Two dumps must not run at
      // the same time.
      if (!due() || tried) return;
      tried = true;
      lost_ = again_ = hidden_ = false;
      dump_ = 0;
      siblings_.clear();
      presets_.clear();
      handler.on_resync_begin();
      if (!request_dump()) return;
    } else {
      lost_ = lost_ || errno != EINTR;  // ENOBUFS: messages were lost
      ++taken;
    }
  }
}

// Returns the number of messages in the buffer, at least one.
std::size_t NetlinkMonitor::take(std::size_t bytes, Handler& handler) {
  std::size_t messages = 0;
  int left = static_cast<int>(bytes);
  for (auto* m = reinterpret_cast<const nlmsghdr*>(buffer_.data()); mnl_nlmsg_ok(m, left);
       m = mnl_nlmsg_next(m, &left)) {
    deliver(*m, handler);
    ++messages;
  }
  return std::max<std::size_t>(messages, 1);
}

bool NetlinkMonitor::request_dump() {
  alignas(nlmsghdr) std::array<char, 64> bytes{};
  nlmsghdr* m = mnl_nlmsg_put_header(bytes.data());
  m->nlmsg_type = kDumps[dump_];
  m->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  m->nlmsg_seq = ++sequence_;
  // AF_UNSPEC: every family. All headers start with the family; only RTM_GETNEXTHOP requires a longer one.
  mnl_nlmsg_put_extra_header(m, kDumps[dump_] == RTM_GETNEXTHOP ? sizeof(nhmsg) : sizeof(rtgenmsg));
  if (mnl_socket_sendto(socket_.get(), m, m->nlmsg_len) >= 0) return true;
  lost_ = true;
  dump_ = kDumps.size();
  return false;
}

void NetlinkMonitor::deliver(const nlmsghdr& message, Handler& handler) {
  const bool dumped = (message.nlmsg_flags & NLM_F_MULTI) != 0 && message.nlmsg_seq == sequence_;
  if (dumped && (message.nlmsg_flags & NLM_F_DUMP_INTR) != 0)
    lost_ = true;  // changed meanwhile: may have gaps
  switch (message.nlmsg_type) {
    case NLMSG_DONE:
      return dump_done(handler);
    case NLMSG_ERROR:
      // Before Linux 5.3; without CONFIG_IP_MULTIPLE_TABLES.
      if (dump_ < kDumps.size() && (kDumps[dump_] == RTM_GETNEXTHOP || kDumps[dump_] == RTM_GETRULE))
        return dump_done(handler);
      lost_ = true;
      dump_ = kDumps.size();
      return;
    case NLMSG_OVERRUN:
      lost_ = true;
      return;
    case RTM_NEWNETCONF:
      again_ |= changes_dead_routes({reinterpret_cast<const std::uint8_t*>(&message), message.nlmsg_len});
      return;
    default:
      return tell({reinterpret_cast<const std::uint8_t*>(&message), message.nlmsg_len}, dumped, handler);
  }
}

void NetlinkMonitor::dump_done(Handler& handler) {
  dump_ = lost_ ? kDumps.size() : dump_ + 1;
  if (dump_ != kDumps.size()) {
    request_dump();
  } else if (!lost_) {
    ended_ = now_;
    for (const RuleEvent& gone : presets_.missing()) handler.on(gone);
    handler.on_resync_end();
  }
}

void NetlinkMonitor::tell(std::span<const std::uint8_t> message, bool dumped, Handler& handler) {
  if (const auto defect = defect_of(message)) ++defects_[static_cast<std::size_t>(*defect)];
  NetlinkEvent event = parse_message(message);
  if (const auto* rule = std::get_if<RuleEvent>(&event)) presets_.note(*rule);
  // The kernel removes or restores IPv4 routes without events when their device changes state or their source
  // address is removed.
  if (const auto* link = std::get_if<LinkEvent>(&event)) {
    const bool was_up = std::exchange(link_up_[link->ifindex], link->up);
    if (!dumped && (!link->up || !was_up)) again_ = true;
  }
  if (const auto* address = std::get_if<AddressEvent>(&event))
    if (address->action == EventAction::remove && !address->address.address.is_v6()) again_ = true;
  if (auto* route = std::get_if<RouteEvent>(&event)) {
    again_ |= siblings_.is_ambiguous(*route);
    // Routes that name an object are removed whole.
    if (route->next_hop_id == 0) siblings_.correct(*route);
    hidden_ |= siblings_.take_ended();
  }
  std::visit(
      [&handler](const auto& e) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(e)>, std::monostate>) handler.on(e);
      },
      event);
}

}  // namespace surety
