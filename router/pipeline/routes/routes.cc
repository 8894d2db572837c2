// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/routes.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace surety {
namespace {

using Source = RouteSource;

RouteCandidate connected_candidate(const ConnectedRoute& route) {
  RouteCandidate c{.source = Source::connected};
  if (route.kind == ConnectedRoute::Kind::local) c.to.special = kNextHopLocal;
  if (route.kind == ConnectedRoute::Kind::blackhole) c.to.special = kNextHopBlackhole;
  if (route.kind == ConnectedRoute::Kind::subnet) c.to.hops.push_back({.interface = route.interface});
  return c;
}

RouteCandidate yaml_candidate(const config::Route& route, std::uint32_t generation,
                              const Interfaces& interfaces) {
  RouteCandidate c{.source = Source::yaml, .metric = route.metric, .generation = generation};
  if (route.blackhole) c.to.special = kNextHopBlackhole;
  for (const auto& hop : route.next_hops) {
    RouteHop& h = c.to.hops.emplace_back(RouteHop{.via = hop.via});
    if (hop.port) h.interface = static_cast<InterfaceIndex>(*hop.port);
    if (hop.interface) h.interface = interfaces.of_definition(*hop.interface);
  }
  return c;
}

std::vector<RouteHop> kernel_hops(const RouteEvent& event) {
  std::vector<RouteHop> hops;
  for (const auto& hop : event.next_hops)
    hops.push_back({.via = hop.via, .ifindex = hop.ifindex, .weight = hop.weight});
  return hops;
}

}  // namespace

Routes::Routes(RouteSink& sink, std::uint32_t next_hops)
    : groups_(sink, next_hops, [this](const NextHopMember& m) { return entry(m); }),
      rib_(
          sink, groups_, [this](const RouteHop& h) { return resolve(h); },
          [this](const Prefix& p) { refresh_host_routes(p); }) {}

void Routes::configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces) {
  const auto before =
      std::exchange(interfaces_, interfaces ? std::move(interfaces)
                                            : std::make_shared<const Interfaces>(config, interfaces_.get()));
  configure_links(config);
  rib_.set_hosts({config, *interfaces_});
  refresh_connected();
  if (before) {
    forget_gone();
    groups_.refresh_all();
  }
  configure_routes(config, *interfaces_);
  configure_neighbors(config.neighbors);
}

void Routes::configure_links(const config::Config& config) {
  std::erase_if(bound_, [&](const auto& b) { return !interfaces_->exists(b.second); });
  std::erase_if(links_, [&](const auto& l) { return !interfaces_->exists(l.first); });
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    links_[static_cast<InterfaceIndex>(p)].addresses = config.ports[p].addresses;
  for (std::size_t d = 0; d < config.interfaces.size(); ++d)
    if (config.interfaces[d].has_link())
      links_[interfaces_->of_definition(d)].addresses = config.interfaces[d].addresses;
    else
      links_.erase(interfaces_->of_definition(d));
}

// Neighbours on removed interfaces, whose places others may get.
void Routes::forget_gone() {
  std::vector<NeighborKey> gone;
  for (const auto& [key, mac] : neighbors_)
    if (!interfaces_->exists(key.second)) gone.push_back(key);
  for (const NeighborKey& key : gone) {
    learned_.erase(key);
    yaml_neighbors_.erase(key);
    refresh_neighbor(key.first, key.second);
  }
}

void Routes::configure_routes(const config::Config& config, const Interfaces& interfaces) {
  ++yaml_.generation;
  yaml_.floating.clear();
  std::set<Prefix> known;
  for (const auto& route : config.routes) {
    if (!is_forwardable(route.to)) continue;
    const Prefix to = route.to.masked();
    rib_.set(to, yaml_candidate(route, yaml_.generation, interfaces));
    if (!known.insert(to).second) yaml_.floating.push_back(to);
  }
  rib_.remove_stale(Source::yaml, yaml_.generation);
}

void Routes::follow_ports() {
  groups_.refresh_all();
  for (const Prefix& to : yaml_.floating) rib_.follow_ports(to);
}

std::vector<Routes::StaticRoute> Routes::passed_over() const {
  std::vector<StaticRoute> down;
  for (const Prefix& to : yaml_.floating)
    for (const std::uint32_t metric : rib_.passed_over(to, yaml_.generation)) down.emplace_back(to, metric);
  return down;
}

void Routes::configure_neighbors(const std::vector<config::Neighbor>& neighbors) {
  Neighbors touched;
  touched.swap(yaml_neighbors_);
  for (const auto& n : neighbors) {
    const auto link =
        n.interface ? interfaces_->of_definition(*n.interface) : static_cast<InterfaceIndex>(n.port);
    yaml_neighbors_[{n.address, link}] = n.mac;
  }
  touched.insert(yaml_neighbors_.begin(), yaml_neighbors_.end());
  for (const auto& [key, mac] : touched) refresh_neighbor(key.first, key.second);
}

void Routes::bind(std::span<const Binding> bindings) {
  std::vector<std::pair<int, InterfaceIndex>> changed;
  for (const Binding& b : bindings) {
    Link& link = links_[b.link];
    if (link.ifindex == b.ifindex) continue;
    changed.emplace_back(link.ifindex, b.link);
    changed.emplace_back(b.ifindex, b.link);
    bound_.erase(link.ifindex);
    if (b.ifindex != 0) bound_[b.ifindex] = b.link;
    link.ifindex = b.ifindex;
  }
  // Events and routes of the kernel cannot refer to a link without a kernel device.
  std::erase_if(changed, [](const auto& c) { return c.first <= 0; });
  if (changed.empty()) return;
  refresh_connected();
  rib_.program_all();
  for (const auto& c : changed) refresh_neighbors(c.first, c.second);
  follow_ports();
}

void Routes::set_port_up(std::size_t port, bool up) {
  links_[static_cast<InterfaceIndex>(port)].up = up;
  subnets_changed_ |= kernel_subnets_ && synced_;
  follow_ports();
}

namespace {

// 00:00:5e:00:01:xx and 00:00:5e:00:02:xx (RFC 9568 7.3).
bool is_of_vrrp(const MacAddress& m) {
  return m[0] == 0 && m[1] == 0 && m[2] == 0x5e && m[3] == 0 && (m[4] == 1 || m[4] == 2);
}

}  // namespace

void Routes::on(const LinkEvent& event) {
  const Device now{event.up, is_of_vrrp(event.mac) ? event.macvlan_of : 0};
  const auto [at, added] = devices_.try_emplace(event.ifindex, now);
  const Device before = added ? Device{!now.up} : std::exchange(at->second, now);
  if (before == now) return;
  subnets_changed_ |= kernel_subnets_ && synced_;
  if (bound_.contains(event.ifindex)) follow_ports();
  if (before.below == now.below) return;
  refresh_connected();
  rib_.program_all();
}

RouteCandidate Routes::kernel_candidate(const RouteEvent& event) const {
  using Candidate = RouteCandidates::Candidate;
  RouteCandidate c{.source = event.local_table ? Source::local : Source::kernel,
                   .metric = event.metric,
                   .generation = kernel_generation_,
                   .order = event.order,
                   .selector = event.selector};
  c.kind = static_cast<std::uint16_t>(event.identity * Candidate::kKinds +
                                      (event.connected ? Candidate::kConnected : 0) +
                                      std::min<unsigned>(event.preference, Candidate::kPreference));
  // The object is better than a copy of its next hops: when it changes, the routes' copies may not be
  // reported again.
  if (event.next_hop_id != 0 && (rib_.knows_object(event.next_hop_id) || event.next_hops.empty()))
    c.to.object = event.next_hop_id;
  else if (event.blackhole)
    c.to.special = event.refusal;
  else
    c.to.hops = kernel_hops(event), c.to.dead_hops = event.dead;
  c.to.unsupported = event.unsupported;
  c.to.mtu = event.mtu;
  c.to.from = event.from.masked();
  return c;
}

void Routes::on(const RuleEvent& event) {
  if (!event.v6 && (event.action == EventAction::remove || !event.preset)) rib_.separate_tables4();
}

void Routes::on(const RouteEvent& event) {
  if (!is_forwardable(event.to)) return;
  const Prefix to = event.to.masked();
  if (event.action == EventAction::add)
    rib_.set(to, kernel_candidate(event));
  else
    rib_.remove(to, kernel_candidate(event));
}

void Routes::on(const NextHopEvent& event) {
  if (event.action == EventAction::add)
    rib_.set_object(event, kernel_generation_);
  else
    rib_.remove_object(event.id);
}

void Routes::on(const NeighborEvent& event) {
  const InterfaceAddress key{event.ifindex, event.address};
  if (event.action == EventAction::add && event.fixed)
    kernel_neighbors_[key] = {event.mac, kernel_generation_};
  else if (kernel_neighbors_.erase(key) == 0)
    return;
  if (const auto link = link_of(event.ifindex)) refresh_neighbor(event.address, *link);
}

void Routes::learn(InterfaceIndex interface, const IpAddress& address, const std::optional<MacAddress>& mac) {
  const NeighborKey key{address, interface};
  if (mac)
    learned_[key] = *mac;
  else if (learned_.erase(key) == 0)
    return;  // requested, and not answered
  refresh_neighbor(address, key.second);
}

// A link-local address gives no routes, and each of thousands of TAP mirrors has one.
void Routes::on(const AddressEvent& event) {
  if (!is_forwardable(host_prefix(event.address.address))) return;
  std::erase_if(kernel_addresses_, [&](const auto& a) {
    return a.ifindex == event.ifindex && a.address == event.address && a.peer == event.peer;
  });
  const KernelAddress address{event.ifindex, event.address,          kernel_generation_,
                              event.peer,    !event.no_prefix_route, event.broadcast};
  if (event.action == EventAction::add) kernel_addresses_.push_back(address);
  if (!is_own(address))
    refresh_connected();
  else
    subnets_changed_ |= kernel_subnets_ && synced_;
}

// YAML has the same entry: nothing changes.
bool Routes::is_own(const KernelAddress& address) const {
  const auto link = link_of(address.ifindex);
  if (!link) return false;
  const auto& own = links_.at(*link).addresses;
  return std::ranges::find(own, address.address) != own.end();
}

void Routes::begin_kernel_sync() {
  ++kernel_generation_;
  rib_.keep_stale(Source::kernel);
  rib_.keep_stale(Source::local);
}

void Routes::end_kernel_sync() {
  std::erase_if(kernel_addresses_, [&](const auto& a) { return a.generation != kernel_generation_; });
  synced_ = true;
  refresh_connected();
  rib_.remove_stale_objects(kernel_generation_);
  rib_.remove_stale(Source::local, kernel_generation_);
  rib_.remove_stale(Source::kernel, kernel_generation_);
  std::vector<InterfaceAddress> gone;
  for (const auto& [key, neighbor] : kernel_neighbors_)
    if (neighbor.generation != kernel_generation_) gone.push_back(key);
  for (const auto& [ifindex, address] : gone)
    on(NeighborEvent{.action = EventAction::remove, .ifindex = ifindex, .address = address, .mac = {}});
}

// --- resolution of the inputs ---

std::optional<InterfaceIndex> Routes::link_of(int ifindex) const {
  auto at = bound_.find(ifindex);
  if (at == bound_.end())
    if (const auto device = devices_.find(ifindex); device != devices_.end())
      at = bound_.find(device->second.below);
  return at == bound_.end() ? std::nullopt : std::optional(at->second);
}

bool Routes::is_up(InterfaceIndex link) const {
  const auto own = links_.find(link);
  if (own == links_.end() || !own->second.up) return false;
  const auto device = devices_.find(own->second.ifindex);
  if (device != devices_.end() && !device->second.up) return false;
  const InterfaceIndex port = record(link).port;
  return link == port || is_up(port);
}

Rib::Resolved Routes::resolve(const RouteHop& hop) const {
  auto link = hop.interface;
  if (!link && hop.ifindex != 0) link = link_of(hop.ifindex);
  if (!link && hop.ifindex == 0 && hop.via) link = connected_interface(connected_, *hop.via);
  // A gateway behind a template is behind one of its members, as soon as that is known.
  if (link && hop.via && record(*link).is_template)
    if (const auto member = member_with(*hop.via, *link)) link = member;
  if (link) return {.member = NextHopMember{*link, hop.via}, .up = is_up(record(*link).link)};
  return {.member = {}, .foreign = hop.ifindex != 0};
}

std::optional<InterfaceIndex> Routes::member_with(const IpAddress& address, InterfaceIndex link) const {
  for (auto n = neighbors_.lower_bound({address, 0}); n != neighbors_.end() && n->first.first == address; ++n)
    if (record(n->first.second).link == link) return n->first.second;
  return {};
}

NextHopEntry Routes::entry(const NextHopMember& member) const {
  using State = NextHopEntry::State;
  const InterfaceRecord& r = record(member.interface);
  if (!r.live || !is_up(r.link)) return {};
  NextHopEntry e{.port = r.port, .state = State::glean, .interface = member.interface, .tags = r.tags};
  if (member.mtu < r.mtu) e.mtu = member.mtu;
  if (!member.gateway) return e;
  const auto known = neighbors_.find({*member.gateway, member.interface});
  e.state = known == neighbors_.end() ? State::unresolved : arrivals_.state(known->first);
  if (known == neighbors_.end()) return e;
  e.destination = known->second;
  for (const auto& hosts : {rib_.hosts().of(*member.gateway), member.hosts})
    if (hosts && interfaces_->exists(*hosts) && record(*hosts).within == member.interface)
      e.interface = *hosts;
  return e;
}

std::vector<OwnAddress> Routes::own_addresses() const {
  std::vector<std::pair<int, Prefix>> in_kernel;
  if (kernel_subnets_ && synced_)
    for (const auto& a : kernel_addresses_) in_kernel.emplace_back(a.ifindex, a.address);
  std::ranges::sort(in_kernel);
  std::vector<OwnAddress> own;
  for (const auto& [index, link] : links_)
    for (const auto& a : link.addresses) {
      own.push_back({a, index});
      // A device that is down has lost its IPv6 addresses, and its subnets lead nowhere.
      const bool down = kernel_subnets_ && synced_ && link.ifindex != 0 && !is_up(index);
      own.back().by_kernel = down || std::ranges::binary_search(in_kernel, std::pair(link.ifindex, a));
    }
  for (const auto& a : kernel_addresses_)
    own.push_back({a.address, link_of(a.ifindex), a.peer, a.subnet, kernel_subnets_, a.broadcast});
  return own;
}

void Routes::refresh_connected() {
  subnets_changed_ = false;
  std::vector<OwnAddress> own = own_addresses();
  if (own == own_addresses_) return;
  own_addresses_ = std::move(own);
  ConnectedRoutes before = std::exchange(connected_, connected_routes(own_addresses_));
  if (connected_ == before) return;
  const auto by_kernel = [](const auto& route) { return route.second.by_kernel; };
  ConnectedRoutes ours = connected_;
  std::erase_if(ours, by_kernel);
  std::erase_if(before, by_kernel);
  constexpr auto kPrefix = &ConnectedRoutes::value_type::first;
  ConnectedRoutes gone, changed;
  std::ranges::set_difference(before, ours, std::back_inserter(gone), {}, kPrefix, kPrefix);
  std::ranges::set_difference(ours, before, std::back_inserter(changed));
  for (const auto& [prefix, route] : gone) rib_.remove(prefix, Source::connected, 0);
  for (const auto& [prefix, route] : changed) rib_.set(prefix, connected_candidate(route));
  rib_.program_all();  // gateways without a port are found through connected subnets
  for (const Prefix& to : yaml_.floating) rib_.follow_ports(to);
}

void Routes::refresh_neighbor(const IpAddress& address, InterfaceIndex interface) {
  const NeighborKey key{address, interface};
  const auto link = links_.find(record(interface).link);
  const int ifindex = link == links_.end() ? 0 : link->second.ifindex;
  if (record(interface).is_template) return;  // only the neighbour's own frames reveal its tag
  const bool was_known = neighbors_.contains(key);
  const auto yaml = yaml_neighbors_.find(key);
  const auto kernel = kernel_neighbors_.find({ifindex, address});
  if (yaml != yaml_neighbors_.end())
    neighbors_[key] = yaml->second;
  else if (kernel != kernel_neighbors_.end())
    neighbors_[key] = kernel->second.mac;
  else if (const auto learned = learned_.find(key); learned != learned_.end())
    neighbors_[key] = learned->second;
  else
    neighbors_.erase(key);
  const bool known = neighbors_.contains(key);
  if (known && !was_known) arrivals_.add(key);
  if (!known) arrivals_.remove(key);
  groups_.refresh({interface, address});
  const InterfaceIndex whole = record(interface).link;
  if (whole != interface && known != was_known &&
      (groups_.uses({whole, address}) || groups_.uses({interface, address})))
    rib_.program_all();  // routes by it lead to a member, or no more
  refresh_host_route(address);
}

void Routes::advance_arrivals() {
  for (const auto& [address, interface] : arrivals_.advance()) groups_.refresh({interface, address});
}

void Routes::refresh_neighbors(int ifindex, InterfaceIndex link) {
  const auto from = kernel_neighbors_.lower_bound({ifindex, {}});
  for (auto it = from; it != kernel_neighbors_.end() && it->first.first == ifindex; ++it)
    refresh_neighbor(it->first.second, link);
}

void Routes::refresh_host_route(const IpAddress& address) {
  const Prefix host = host_prefix(address);
  if (!is_forwardable(host)) return;
  for (auto n = neighbors_.lower_bound({address, 0}); n != neighbors_.end() && n->first.first == address;
       ++n) {
    const InterfaceIndex interface = n->first.second;
    const auto mtu = rib_.on_link_mtu(address, record(interface).link);
    if (!mtu) continue;
    const auto way = std::pair(interface, *mtu);
    const auto [route, added] = host_routes_.try_emplace(address, way);
    if (!added && route->second == way) return;
    route->second = way;
    return rib_.set(host, {.source = Source::neighbor,
                           .to = {.hops = {{.via = address, .interface = interface}}, .mtu = *mtu}});
  }
  if (host_routes_.erase(address) > 0) rib_.remove(host, Source::neighbor, 0);
}

void Routes::refresh_host_routes(const Prefix& prefix) {
  for (auto n = neighbors_.lower_bound({prefix.masked().address, 0});
       n != neighbors_.end() && prefix.contains(n->first.first); ++n)
    refresh_host_route(n->first.first);
}

Routes::Resolution Routes::resolution(const NextHopMember& member) const {
  const auto link = links_.find(record(member.interface).link);
  return {*member.gateway, member.interface, link == links_.end() ? 0 : link->second.ifindex};
}

std::optional<Routes::Resolution> Routes::gateway(std::uint32_t id) const {
  const auto member = groups_.member(id);
  if (!member || !member->gateway) return {};
  return resolution(*member);
}

Routes::NeighborSource Routes::source_of(const NeighborKey& neighbor) const {
  const auto& [address, interface] = neighbor;
  if (yaml_neighbors_.contains(neighbor)) return NeighborSource::yaml;
  const auto link = links_.find(record(interface).link);
  const bool told = link != links_.end() && fixed(link->second.ifindex, address);
  return told ? NeighborSource::kernel : NeighborSource::learned;
}

std::vector<Routes::Resolution> Routes::unresolved() const {
  std::vector<Resolution> out;
  for (const auto& member : groups_.unresolved()) out.push_back(resolution(member));
  return out;
}

namespace {

using Kind = ConnectedRoute::Kind;

void add_subnet(ConnectedRoutes& routes, const OwnAddress& own) {
  const Prefix address = own.peer.value_or(own.address), subnet = address.masked();
  if (is_host(address)) return;
  if (own.subnet) routes.push_back({subnet, {Kind::subnet, *own.interface, own.by_kernel}});
  if (address.length >= address.address.bits() - 1) return;
  const Kind ends = address.address.is_v6() ? Kind::local : Kind::blackhole;
  routes.push_back({host_prefix(subnet.address), {ends}});
  if (!address.address.is_v6()) routes.push_back({host_prefix(last_address(subnet)), {ends}});
}

}  // namespace

ConnectedRoutes connected_routes(const std::vector<OwnAddress>& addresses) {
  ConnectedRoutes routes;
  for (const auto& own : addresses) {
    if (!is_forwardable(host_prefix(own.address.address))) continue;
    routes.push_back({host_prefix(own.address.address), {Kind::local}});
    if (own.interface) add_subnet(routes, own);
    if (own.interface && own.broadcast && is_forwardable(host_prefix(*own.broadcast)))
      routes.push_back({host_prefix(*own.broadcast), {Kind::blackhole}});
  }
  std::ranges::sort(routes);  // for the same prefix the preferred one comes first
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  routes.erase(std::unique(routes.begin(), routes.end(), same), routes.end());
  return routes;
}

std::optional<InterfaceIndex> connected_interface(const ConnectedRoutes& routes, const IpAddress& address) {
  for (int length = address.bits(); length >= 0; --length) {
    const Prefix prefix = Prefix{address, static_cast<std::uint8_t>(length)}.masked();
    const auto it = std::ranges::lower_bound(routes, prefix, {}, &ConnectedRoutes::value_type::first);
    if (it != routes.end() && it->first == prefix && it->second.kind == Kind::subnet)
      return it->second.interface;
  }
  return {};
}

}  // namespace surety
