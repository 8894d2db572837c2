// SPDX-License-Identifier: BSD-3-Clause
// Any bytes are a safe message, at any alignment: nothing outside of them is read, and what comes out is
// well-formed. And any sequence of messages leaves the routes consistent: what is programmed is what they
// count, nothing is programmed that leads to ids nobody has set, and after a synchronisation that tells
// nothing nothing is left.
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "router/daemon/linux/ipv6_siblings.h"
#include "router/daemon/linux/netlink_defects.h"
#include "router/daemon/linux/netlink_message.h"
#include "router/pipeline/routes/routes.h"

using namespace surety;

namespace {

using Octets = std::span<const std::uint8_t>;

constexpr std::uint16_t kTypes[] = {RTM_NEWLINK,    RTM_DELLINK,    RTM_NEWADDR,  RTM_DELADDR,
                                    RTM_NEWROUTE,   RTM_DELROUTE,   RTM_NEWNEIGH, RTM_DELNEIGH,
                                    RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWRULE,  RTM_DELRULE};
constexpr std::uint32_t kNextHops = 256;  // few, so that they run out
constexpr std::size_t kRoom = 32;         // routes

void require(bool condition) {
  if (!condition) std::abort();
}
void check(const Prefix& p) {
  require(p.length <= (p.address.is_v6() ? 128 : 32));
}

void check(const std::monostate&) {}
void check(const LinkEvent& e) {
  require(!e.name.empty());
}
void check(const AddressEvent& e) {
  check(e.address);
}
void check(const NeighborEvent& e) {
  require(e.action == EventAction::add || e.mac == MacAddress{});
}
void check(const NextHopEvent& e) {
  require(e.id != 0);
}
void check(const RouteEvent& e) {
  check(e.to);
  if (e.blackhole) require(e.next_hops.empty());
  require(e.mtu == 0 || e.mtu >= 68);
}
void check(const RuleEvent& e) {
  require(!e.text.empty());
}

// With a header whose type and length are right, so that the fuzzer gets at the parsers at once.
NetlinkEvent parse_exactly(Octets body, std::uint16_t type, std::size_t misalignment) {
  const std::size_t size = sizeof(nlmsghdr) + body.size();
  const auto heap = std::make_unique<std::uint8_t[]>(misalignment + size);
  const nlmsghdr header{static_cast<std::uint32_t>(size), type, 0, 0, 0};
  std::memcpy(heap.get() + misalignment, &header, sizeof(header));
  if (!body.empty()) std::memcpy(heap.get() + misalignment + sizeof(header), body.data(), body.size());
  NetlinkEvent event = parse_message({heap.get() + misalignment, size});
  std::visit([](const auto& e) { check(e); }, event);
  require(defect_of({heap.get() + misalignment, size}) != NetlinkDefect::cut ||
          std::holds_alternative<std::monostate>(event));
  return event;
}

class CheckedSink : public RouteSink {
 public:
  bool set_route(const Prefix& p, RouteTarget target) override {
    check(p);
    require(p == p.masked());
    for (std::uint32_t i = 0; i < target.count; ++i) require(ids.contains(target.first + i));
    if (!routes.contains(p) && routes.size() == kRoom) return false;
    routes[p] = target;
    return true;
  }
  void remove_route(const Prefix& p) override { require(routes.erase(p) == 1); }
  void set_next_hop(std::uint32_t id, const NextHopEntry&) override {
    require(id >= kNextHopsFixed && id < kNextHops);
    ids.insert(id);
  }
  std::map<Prefix, RouteTarget> routes;
  std::set<std::uint32_t> ids{kNextHopBlackhole,  kNextHopLocal,      kNextHopUnreachable,
                              kNextHopProhibited, kNextHopForeign,    kNextHopUnsupported,
                              kNextHopThrown,     kNextHopLocalPrefix};
};

config::Config two_ports() {
  config::Config config;
  config.ports.resize(2);
  config.ports[0].name = "a", config.ports[1].name = "b";
  config.ports[0].addresses = {{IpAddress::v4(10, 0, 0, 1), 24}};
  config.routes = {{{IpAddress::v4(192, 0, 2, 0), 24}, {{IpAddress::v4(10, 1, 0, 9), {}}}, false}};
  return config;
}

// A batch: of each message a byte for its type, one for its length, its body. Types beyond the messages'
// begin and end synchronisations and go on with work that is left.
void follow(Octets batch) {
  CheckedSink sink;
  Routes routes(sink, kNextHops);
  Ipv6Siblings siblings;
  const config::Config config = two_ports();
  routes.configure(config);
  routes.bind_port(0, 1);
  routes.bind_port(1, 2);
  routes.limit_work(40);
  while (batch.size() >= 2) {
    const std::size_t kind = batch[0] % 16, length = std::min<std::size_t>(batch[1], batch.size() - 2);
    const Octets body = batch.subspan(2, length);
    batch = batch.subspan(2 + length);
    if (kind < std::size(kTypes)) {
      NetlinkEvent event = parse_exactly(body, kTypes[kind], 0);
      if (auto* route = std::get_if<RouteEvent>(&event)) siblings.correct(*route);
      std::visit(
          [&](const auto& e) {
            using Event = std::decay_t<decltype(e)>;
            if constexpr (!std::is_same_v<Event, std::monostate>) routes.on(e);
          },
          event);
    }
    if (kind == 12) routes.begin_kernel_sync();
    if (kind == 13) routes.end_kernel_sync();
    if (kind == 14) routes.work();
    if (kind == 15) routes.set_port_up(length % 2, length % 4 < 2);
    require(routes.routes() == sink.routes.size());
  }
  config::Config two_ports;
  two_ports.ports.resize(2);
  routes.configure(two_ports);
  routes.begin_kernel_sync();
  routes.end_kernel_sync();
  while (routes.work()) {
  }
  require(sink.routes.empty() && routes.routes() == 0 && routes.rejected() == 0);
  require(routes.next_hops() == 0 && routes.neighbors() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Octets bytes(data, size);
  std::visit([](const auto& e) { check(e); }, parse_message(bytes));
  if (bytes.empty()) return 0;
  parse_exactly(bytes.subspan(1), kTypes[bytes[0] % std::size(kTypes)], bytes[0] / 16 % 4);
  follow(bytes);
  return 0;
}
