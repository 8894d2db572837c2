// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/routes.h"

#include <algorithm>
#include <tuple>

namespace surety {
namespace {

using Source = RouteSource;

RouteCandidate connected_candidate(const ConnectedRoute& route) {
  RouteCandidate c{.source = Source::connected};
  if (route.kind == ConnectedRoute::Kind::local) c.to.special = kNextHopLocal;
  if (route.kind == ConnectedRoute::Kind::blackhole) c.to.special = kNextHopBlackhole;
  if (route.kind == ConnectedRoute::Kind::subnet) c.to.hops.push_back({.port = route.port});
  return c;
}

RouteCandidate yaml_candidate(const config::Route& route, std::uint32_t generation) {
  RouteCandidate c{.source = Source::yaml, .generation = generation};
  if (route.blackhole) c.to.special = kNextHopBlackhole;
  for (const auto& hop : route.next_hops) {
    RouteHop& h = c.to.hops.emplace_back(RouteHop{.via = hop.via});
    if (hop.port) h.port = static_cast<std::uint8_t>(*hop.port);
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

void Routes::configure(const config::Config& config) {
  ports_.resize(config.ports.size());
  for (std::size_t i = 0; i < ports_.size(); ++i) ports_[i].addresses = config.ports[i].addresses;
  refresh_connected();
  configure_routes(config.routes);
  configure_neighbors(config.neighbors);
}

void Routes::configure_routes(const std::vector<config::Route>& routes) {
  ++yaml_generation_;
  for (const auto& route : routes)
    if (is_forwardable(route.to)) rib_.set(route.to.masked(), yaml_candidate(route, yaml_generation_));
  rib_.remove_stale(Source::yaml, yaml_generation_);
}

void Routes::configure_neighbors(const std::vector<config::Neighbor>& neighbors) {
  Neighbors touched;
  touched.swap(yaml_neighbors_);
  for (const auto& n : neighbors) yaml_neighbors_[{n.address, static_cast<std::uint8_t>(n.port)}] = n.mac;
  touched.insert(yaml_neighbors_.begin(), yaml_neighbors_.end());
  for (const auto& [key, mac] : touched) refresh_neighbor(key.first, key.second);
}

void Routes::bind_port(std::size_t port, int ifindex) {
  const int before = ports_[port].ifindex;
  if (before == ifindex) return;
  ports_[port].ifindex = ifindex;
  refresh_connected();
  rib_.program_all();
  refresh_neighbors(before, static_cast<std::uint8_t>(port));
  refresh_neighbors(ifindex, static_cast<std::uint8_t>(port));
  groups_.refresh_all();
}

void Routes::set_port_up(std::size_t port, bool up) {
  ports_[port].up = up;
  groups_.refresh_all();
}

void Routes::on(const LinkEvent& event) {
  links_[event.ifindex] = event.up;
  if (port_of(event.ifindex)) groups_.refresh_all();
}

void Routes::on(const RouteEvent& event) {
  if (!is_forwardable(event.to)) return;
  const Prefix to = event.to.masked();
  if (event.action == EventAction::remove)
    return rib_.remove_hops(to, Source::kernel, event.metric, kernel_hops(event));
  RouteCandidate c{.source = Source::kernel, .metric = event.metric, .generation = kernel_generation_};
  // The object says more than a copy of its next hops: when it changes,
  // the routes' copies may not be told again.
  if (event.next_hop_id != 0 && (rib_.knows_object(event.next_hop_id) || event.next_hops.empty()))
    c.to.object = event.next_hop_id;
  else if (event.blackhole)
    c.to.special = kNextHopBlackhole;
  else
    c.to.hops = kernel_hops(event);
  rib_.set(to, std::move(c));
}

void Routes::on(const NextHopEvent& event) {
  if (event.action == EventAction::add)
    rib_.set_object(event, kernel_generation_);
  else
    rib_.remove_object(event.id);
}

void Routes::on(const NeighborEvent& event) {
  const InterfaceAddress key{event.ifindex, event.address};
  if (event.action == EventAction::add)
    kernel_neighbors_[key] = {event.mac, kernel_generation_};
  else
    kernel_neighbors_.erase(key);
  if (const auto port = port_of(event.ifindex)) refresh_neighbor(event.address, *port);
}

void Routes::on(const AddressEvent& event) {
  std::erase_if(kernel_addresses_,
                [&](const auto& a) { return a.ifindex == event.ifindex && a.address == event.address; });
  if (event.action == EventAction::add)
    kernel_addresses_.push_back({event.ifindex, event.address, kernel_generation_});
  refresh_connected();
}

void Routes::begin_kernel_sync() {
  ++kernel_generation_;
  rib_.keep_stale(Source::kernel);
}

void Routes::end_kernel_sync() {
  std::erase_if(kernel_addresses_, [&](const auto& a) { return a.generation != kernel_generation_; });
  refresh_connected();
  rib_.remove_stale_objects(kernel_generation_);
  rib_.remove_stale(Source::kernel, kernel_generation_);
  std::vector<InterfaceAddress> gone;
  for (const auto& [key, neighbor] : kernel_neighbors_)
    if (neighbor.generation != kernel_generation_) gone.push_back(key);
  for (const auto& [ifindex, address] : gone)
    on(NeighborEvent{.action = EventAction::remove, .ifindex = ifindex, .address = address, .mac = {}});
}

// --- what the inputs mean ---

std::optional<std::uint8_t> Routes::port_of(int ifindex) const {
  const auto at =
      std::find_if(ports_.begin(), ports_.end(), [&](const Port& p) { return p.ifindex == ifindex; });
  if (ifindex == 0 || at == ports_.end()) return {};
  return static_cast<std::uint8_t>(at - ports_.begin());
}

bool Routes::is_up(std::size_t port) const {
  const auto link = links_.find(ports_[port].ifindex);
  return ports_[port].up && (link == links_.end() || link->second);
}

Rib::Resolved Routes::resolve(const RouteHop& hop) const {
  auto port = hop.port;
  if (!port && hop.ifindex != 0) port = port_of(hop.ifindex);
  if (!port && hop.ifindex == 0 && hop.via) port = connected_port(connected_, *hop.via);
  if (port) return {.member = NextHopMember{*port, hop.via}};
  return {.member = {}, .foreign = hop.ifindex != 0};
}

NextHopEntry Routes::entry(const NextHopMember& member) const {
  using State = NextHopEntry::State;
  if (!is_up(member.port)) return {};
  if (!member.gateway) return {.destination = {}, .port = member.port, .state = State::glean};
  const auto known = neighbors_.find({*member.gateway, member.port});
  if (known == neighbors_.end()) return {.destination = {}, .port = member.port, .state = State::unresolved};
  return {.destination = known->second, .port = member.port, .state = arrivals_.state(known->first)};
}

void Routes::refresh_connected() {
  std::vector<OwnAddress> own;
  for (std::size_t i = 0; i < ports_.size(); ++i)
    for (const auto& a : ports_[i].addresses) own.push_back({a, static_cast<std::uint8_t>(i)});
  for (const auto& a : kernel_addresses_) own.push_back({a.address, port_of(a.ifindex)});
  const ConnectedRoutes before = std::exchange(connected_, connected_routes(own));
  if (connected_ == before) return;
  for (const auto& [prefix, route] : before)
    if (!connected_.contains(prefix)) rib_.remove(prefix, Source::connected, 0);
  for (const auto& [prefix, route] : connected_) rib_.set(prefix, connected_candidate(route));
  rib_.program_all();  // gateways without a port are found through connected subnets
}

void Routes::refresh_neighbor(const IpAddress& address, std::uint8_t port) {
  const NeighborKey key{address, port};
  const bool was_known = neighbors_.contains(key);
  const auto yaml = yaml_neighbors_.find(key);
  const auto kernel = kernel_neighbors_.find({ports_[port].ifindex, address});
  if (yaml != yaml_neighbors_.end())
    neighbors_[key] = yaml->second;
  else if (kernel != kernel_neighbors_.end())
    neighbors_[key] = kernel->second.mac;
  else
    neighbors_.erase(key);
  const bool known = neighbors_.contains(key);
  if (known && !was_known) arrivals_.add(key);
  if (!known) arrivals_.remove(key);
  groups_.refresh({port, address});
  refresh_host_route(address);
}

void Routes::advance_arrivals() {
  for (const auto& [address, port] : arrivals_.advance()) groups_.refresh({port, address});
}

void Routes::refresh_neighbors(int ifindex, std::uint8_t port) {
  const auto from = kernel_neighbors_.lower_bound({ifindex, {}});
  for (auto it = from; it != kernel_neighbors_.end() && it->first.first == ifindex; ++it)
    refresh_neighbor(it->first.second, port);
}

void Routes::refresh_host_route(const IpAddress& address) {
  const Prefix host = host_prefix(address);
  if (!is_forwardable(host)) return;
  for (auto n = neighbors_.lower_bound({address, 0}); n != neighbors_.end() && n->first.first == address;
       ++n) {
    const std::uint8_t port = n->first.second;
    if (!rib_.is_on_link(address, port)) continue;
    const auto [route, added] = host_routes_.try_emplace(address, port);
    if (!added && route->second == port) return;
    route->second = port;
    return rib_.set(host, {.source = Source::neighbor, .to = {.hops = {{.via = address, .port = port}}}});
  }
  if (host_routes_.erase(address) > 0) rib_.remove(host, Source::neighbor, 0);
}

void Routes::refresh_host_routes(const Prefix& prefix) {
  for (auto n = neighbors_.lower_bound({prefix.masked().address, 0});
       n != neighbors_.end() && prefix.contains(n->first.first); ++n)
    refresh_host_route(n->first.first);
}

Routes::Resolution Routes::resolution(const NextHopMember& member) const {
  return {*member.gateway, member.port, ports_[member.port].ifindex};
}

std::optional<Routes::Resolution> Routes::gateway(std::uint32_t id) const {
  const auto member = groups_.member(id);
  if (!member || !member->gateway) return {};
  return resolution(*member);
}

std::vector<Routes::Resolution> Routes::unresolved() const {
  std::vector<Resolution> out;
  for (const auto& member : groups_.unresolved()) out.push_back(resolution(member));
  return out;
}

}  // namespace surety
