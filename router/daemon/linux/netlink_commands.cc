// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_commands.h"

#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "router/daemon/linux/netlink_message.h"

namespace surety {
namespace {

// A request under construction: header, one fixed part, attributes.
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) : header_(mnl_nlmsg_put_header(bytes_.data())) {
    header_->nlmsg_type = type;
    header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  }
  template <class T>
  T& fixed() {
    return *static_cast<T*>(mnl_nlmsg_put_extra_header(header_, sizeof(T)));
  }
  void put(std::uint16_t type, const IpAddress& a) { mnl_attr_put(header_, type, a.size(), a.data()); }
  void put(std::uint16_t type, const MacAddress& mac) { mnl_attr_put(header_, type, mac.size(), mac.data()); }
  // RTA_GATEWAY, or RTA_VIA for a gateway of the other family than the route's (struct rtvia).
  void put_gateway(const IpAddress& to, const IpAddress& gateway) {
    if (gateway.is_v6() == to.is_v6()) return put(RTA_GATEWAY, gateway);
    std::array<std::uint8_t, sizeof(__kernel_sa_family_t) + 16> via{};
    const __kernel_sa_family_t family = gateway.is_v6() ? AF_INET6 : AF_INET;
    std::memcpy(via.data(), &family, sizeof(family));
    std::memcpy(via.data() + sizeof(family), gateway.data(), gateway.size());
    mnl_attr_put(header_, RTA_VIA, sizeof(family) + gateway.size(), via.data());
  }
  void put(std::uint16_t type, std::uint32_t value) { mnl_attr_put_u32(header_, type, value); }
  void put_byte(std::uint16_t type, std::uint8_t value) { mnl_attr_put_u8(header_, type, value); }
  nlattr* nest(std::uint16_t type) { return mnl_attr_nest_start(header_, type); }
  void end(nlattr* nest) { mnl_attr_nest_end(header_, nest); }
  // Starts one entry of RTA_MULTIPATH: its attributes go into it until end_hop().
  rtnexthop* hop(const RouteNextHop& next) {
    auto* const h = static_cast<rtnexthop*>(mnl_nlmsg_put_extra_header(header_, sizeof(rtnexthop)));
    h->rtnh_ifindex = next.ifindex;
    h->rtnh_hops = static_cast<unsigned char>(next.weight - 1);
    return h;
  }
  void end_hop(rtnexthop* h) {
    h->rtnh_len = static_cast<unsigned short>(static_cast<char*>(mnl_nlmsg_get_payload_tail(header_)) -
                                              reinterpret_cast<char*>(h));
  }
  void put(std::uint16_t type, const std::string& text) { mnl_attr_put_strz(header_, type, text.c_str()); }
  nlmsghdr& header() { return *header_; }

 private:
  alignas(nlmsghdr) std::array<char, 4096> bytes_{};  // room for 64 next hops
  nlmsghdr* header_;
};

constexpr char kNotTaken[] = "the kernel refuses the route";

unsigned char family(const IpAddress& a) {
  return a.is_v6() ? AF_INET6 : AF_INET;
}

rtmsg& begin_route(Request& request, const Prefix& to, std::uint32_t metric) {
  auto& m = request.fixed<rtmsg>();
  m.rtm_family = family(to.address);
  m.rtm_dst_len = to.length;
  m.rtm_table = RT_TABLE_MAIN;
  m.rtm_protocol = kProtocol;
  if (to.length > 0) request.put(RTA_DST, to.address);
  request.put(RTA_PRIORITY, metric);
  return m;
}

std::string explanation(const nlmsghdr& message, const nlmsgerr& error) {
  if ((message.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
  unsigned offset = sizeof(nlmsgerr);
  if ((message.nlmsg_flags & NLM_F_CAPPED) == 0) offset += error.msg.nlmsg_len - unsigned{sizeof(nlmsghdr)};
  std::string text;
  mnl_attr_parse(
      &message, offset,
      [](const nlattr* attribute, void* out) {
        if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG)
          *static_cast<std::string*>(out) = mnl_attr_get_str(attribute);
        return MNL_CB_OK;
      },
      &text);
  return text;
}

}  // namespace

void NetlinkCommands::Answer::must(const char* what) const {
  if (error == 0) return;
  const std::string reason = what + (": " + std::generic_category().message(error));
  throw std::runtime_error(text.empty() ? reason : reason + " (" + text + ")");
}

NetlinkCommands::NetlinkCommands() : socket_(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)) {
  if (!socket_ || mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot open a netlink socket");
  int on = 1;  // both only make answers better: their absence is no error
  mnl_socket_setsockopt(socket_.get(), NETLINK_EXT_ACK, &on, sizeof(on));
  mnl_socket_setsockopt(socket_.get(), NETLINK_CAP_ACK, &on, sizeof(on));
}

NetlinkCommands::Answer NetlinkCommands::ask(nlmsghdr& request) {
  std::optional<LinkEvent> link;
  Answer answer = ask(request, [&](const NetlinkEvent& event) {
    if (const auto* found = std::get_if<LinkEvent>(&event)) link = *found;
  });
  answer.link = link;
  return answer;
}

template <class Each>
NetlinkCommands::Answer NetlinkCommands::ask(nlmsghdr& request, Each&& each) {
  request.nlmsg_seq = ++sequence_;
  if (mnl_socket_sendto(socket_.get(), &request, request.nlmsg_len) < 0) return {errno, {}, {}};
  Answer answer;
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  for (;;) {
    const ssize_t n = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {errno, {}, {}};
    int left = static_cast<int>(n);
    for (auto* m = reinterpret_cast<const nlmsghdr*>(buffer.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left)) {
      if (m->nlmsg_seq != sequence_) continue;
      if (m->nlmsg_type == NLMSG_ERROR) {
        const auto& error = *static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(m));
        answer.error = -error.error;
        answer.text = explanation(*m, error);
        return answer;
      }
      if (m->nlmsg_type == NLMSG_DONE) return answer;
      each(parse_message({reinterpret_cast<const std::uint8_t*>(m), m->nlmsg_len}));
    }
  }
}

NetlinkCommands::Answer NetlinkCommands::change_address(std::uint16_t type, std::uint16_t flags, int ifindex,
                                                        const Prefix& address) {
  Request request(type, flags);
  auto& m = request.fixed<ifaddrmsg>();
  m.ifa_family = family(address.address);
  m.ifa_prefixlen = address.length;
  m.ifa_index = static_cast<unsigned>(ifindex);
  request.put(IFA_LOCAL, address.address);
  request.put(IFA_ADDRESS, address.address);
  if (type == RTM_NEWADDR) request.put_byte(IFA_PROTO, kProtocol);
  return ask(request.header());
}

Added NetlinkCommands::add_address(int ifindex, const Prefix& address) {
  const Answer a = change_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, ifindex, address);
  if (a.error == EEXIST) return Added::already_there;
  a.must("cannot add an address");
  return Added::now;
}

void NetlinkCommands::remove_address(int ifindex, const Prefix& address) {
  change_address(RTM_DELADDR, 0, ifindex, address).must("cannot remove an address");
}

void NetlinkCommands::enter_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac,
                                     std::uint16_t state) {
  Request request(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  auto& m = request.fixed<ndmsg>();
  m.ndm_family = family(neighbor);
  m.ndm_ifindex = ifindex;
  m.ndm_state = state;
  m.ndm_flags = NTF_EXT_LEARNED;  // the kernel's garbage collector keeps it
  request.put(NDA_DST, neighbor);
  request.put(NDA_LLADDR, mac);
  ask(request.header()).must("cannot add a neighbor");
}

void NetlinkCommands::keep_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac) {
  enter_neighbor(ifindex, neighbor, mac, NUD_REACHABLE);
}

void NetlinkCommands::pin_neighbor(int ifindex, const IpAddress& neighbor, const MacAddress& mac) {
  enter_neighbor(ifindex, neighbor, mac, NUD_PERMANENT);
}

void NetlinkCommands::remove_neighbor(int ifindex, const IpAddress& neighbor) {
  Request request(RTM_DELNEIGH, 0);
  auto& m = request.fixed<ndmsg>();
  m.ndm_family = family(neighbor);
  m.ndm_ifindex = ifindex;
  request.put(NDA_DST, neighbor);
  ask(request.header()).must("cannot remove a neighbor");
}

// The kernel refuses a gateway that its table does not lead to, unless the request says that it is on link.
NetlinkCommands::Answer NetlinkCommands::enter_route(std::uint16_t flags, const Prefix& to,
                                                     std::uint32_t metric, const RouteEvent& route) {
  Answer answer = enter_route(flags, to, metric, route, false);
  const bool no_way = answer.error == ENETUNREACH || answer.error == EHOSTUNREACH;
  const bool named =
      std::ranges::any_of(route.next_hops, [](const auto& hop) { return hop.via && hop.ifindex != 0; });
  if (!no_way || !named) return answer;
  const Answer second = enter_route(flags, to, metric, route, true);
  return second.error == 0 || second.error == EEXIST ? second : answer;
}

NetlinkCommands::Answer NetlinkCommands::enter_route(std::uint16_t flags, const Prefix& to,
                                                     std::uint32_t metric, const RouteEvent& route,
                                                     bool on_link_gateways) {
  Request request(RTM_NEWROUTE, flags);
  const auto flags_of = [&](const RouteNextHop& hop) {
    return on_link_gateways && hop.via && hop.ifindex != 0 ? unsigned{RTNH_F_ONLINK} : 0U;
  };
  auto& m = begin_route(request, to, metric);
  m.rtm_type = route.blackhole ? RTN_BLACKHOLE : RTN_UNICAST;
  const auto& hops = route.next_hops;
  const bool on_link = !hops.empty() && !hops[0].via;
  m.rtm_scope = on_link && !to.address.is_v6() ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  if (hops.size() == 1) {
    m.rtm_flags = flags_of(hops[0]);
    if (hops[0].via) request.put_gateway(to.address, *hops[0].via);
    if (hops[0].ifindex != 0) request.put(RTA_OIF, static_cast<std::uint32_t>(hops[0].ifindex));
  } else if (hops.size() > 1) {
    nlattr* const all = request.nest(RTA_MULTIPATH);
    for (const RouteNextHop& next : hops) {
      rtnexthop* const h = request.hop(next);
      h->rtnh_flags = static_cast<unsigned char>(flags_of(next));
      if (next.via) request.put_gateway(to.address, *next.via);
      request.end_hop(h);
    }
    request.end(all);
  }
  return ask(request.header());
}

Added NetlinkCommands::add_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route) {
  const Answer a = enter_route(NLM_F_CREATE | NLM_F_EXCL, to, metric, route);
  if (a.error == EEXIST) return Added::already_there;
  a.must(kNotTaken);
  return Added::now;
}

void NetlinkCommands::replace_route(const Prefix& to, std::uint32_t metric, const RouteEvent& route) {
  enter_route(NLM_F_CREATE | NLM_F_REPLACE, to, metric, route).must(kNotTaken);
}

void NetlinkCommands::remove_route(const Prefix& to, std::uint32_t metric) {
  Request request(RTM_DELROUTE, 0);
  begin_route(request, to, metric).rtm_scope = RT_SCOPE_NOWHERE;  // any scope
  const Answer answer = ask(request.header());
  if (answer.error != ESRCH) answer.must("cannot remove a route");
}

std::set<int> NetlinkCommands::devices_of_others() {
  Request request(RTM_GETROUTE, NLM_F_DUMP);
  request.fixed<rtmsg>();
  std::set<int> found;
  ask(request.header(), [&](const NetlinkEvent& event) {
    const auto* const route = std::get_if<RouteEvent>(&event);
    if (route == nullptr || route->protocol == RTPROT_KERNEL || route->protocol == kProtocol) return;
    for (const RouteNextHop& hop : route->next_hops) found.insert(hop.ifindex);
  }).must("cannot read the kernel's routes");
  return found;
}

bool NetlinkCommands::has_filters(int ifindex) {
  bool any = false;
  for (const unsigned way : {TC_H_MIN_INGRESS, TC_H_MIN_EGRESS}) {
    Request request(RTM_GETTFILTER, NLM_F_DUMP);
    auto& m = request.fixed<tcmsg>();
    m.tcm_ifindex = ifindex;
    m.tcm_parent = TC_H_MAKE(TC_H_CLSACT, way);
    ask(request.header(), [&](const NetlinkEvent&) {
      any = true;
    }).must("cannot read an interface's filters");
  }
  return any;
}

void NetlinkCommands::set_mtu(int ifindex, std::uint32_t mtu) {
  Request request(RTM_NEWLINK, 0);
  request.fixed<ifinfomsg>().ifi_index = ifindex;
  request.put(IFLA_MTU, mtu);
  ask(request.header()).must("cannot set an interface's MTU");
}

void NetlinkCommands::set_up(int ifindex) {
  Request request(RTM_NEWLINK, 0);
  auto& m = request.fixed<ifinfomsg>();
  m.ifi_index = ifindex;
  m.ifi_flags = m.ifi_change = IFF_UP;
  ask(request.header()).must("cannot set an interface up");
}

std::optional<LinkEvent> NetlinkCommands::link_by_name(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) return std::nullopt;
  Request request(RTM_GETLINK, 0);
  request.fixed<ifinfomsg>();
  request.put(IFLA_IFNAME, name);
  return ask(request.header()).link;
}

}  // namespace surety
