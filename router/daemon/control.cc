// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr Duration kAskEvery = 250ms, kLookEvery = 20ms;
// While frames pass, hosts wait for answers to them: rounds are then short.
constexpr Duration kStayAwake = 20ms, kNap = 100us;
constexpr std::size_t kRouteSteps = 20'000;  // per round, some milliseconds
constexpr std::size_t kLargestFrame = 65535 + 14 + 8;

std::optional<IpAddress> router_id(const config::Config& config) {
  if (config.router.id == 0) return {};
  return IpAddress::v4(__builtin_bswap32(config.router.id));
}

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d / 1s), static_cast<long>((d % 1s).count())};
}

}  // namespace

Control::Control(config::Config config, std::span<const std::unique_ptr<DpdkPort>> ports,
                 Forwarding& forwarding, EventLog& events, rte_ring* punts, rte_mempool* pool, Inject inject,
                 Backlog backlog, std::shared_ptr<const Interfaces> interfaces)
    : config_(std::move(config)),
      interfaces_(interfaces ? std::move(interfaces) : std::make_shared<const Interfaces>(config_)),
      ports_(ports),
      forwarding_(forwarding),
      events_(events),
      punts_(punts),
      pool_(pool),
      inject_(std::move(inject)),
      routes_(forwarding),
      gate_(routes_, forwarding, punts, std::move(backlog), ports.size()),
      gateways_(
          events, [this](InterfaceIndex i) { return interfaces_->name(i); },
          [this](InterfaceIndex i, const IpAddress& a) { return routes_.knows(i, a); }),
      icmp_errors_(ports.size(), clock_.now(), router_id(config_)),
      name_interfaces_(config_.icmp.interface_information),
      frame_(kLargestFrame) {
  control_ports_.resize(ports_.size());
  for (std::size_t p = 0; p < ports_.size(); ++p) control_ports_[p].index = static_cast<InterfaceIndex>(p);
  icmp_errors_.share_among(config_.port_count());
  routes_.configure(config_, interfaces_);
  share_addresses();
  open_ports();
  open_interfaces();
  // After this, work on all routes is done in parts beside other work, and packets may be on their way to
  // unresolved neighbours.
  routes_.limit_work(kRouteSteps);
  routes_.gate_neighbors();
  open_kernel();
  starting_ = false;
}

Control::Known Control::leave() {
  left_ = true;
  if (kernel_routes_) kernel_routes_->leave();
  Known known;
  for (const auto& [device, address] : std::exchange(given_, {}))
    known.addresses.push_back({device, address});
  for_each_link([&](ControlPort& c) {
    // Leaked on purpose: the kernel takes a while to close a packet socket, and does it when the process
    // ends.
    if (c.tap) new NeighborTap(std::move(*c.tap));
    if (!c.responder) return;
    c.responder->neighbors().for_each_known([&](const IpAddress& address, const MacAddress& mac) {
      known.stations.push_back({c.index, address, mac});
    });
  });
  return known;
}

// Neighbours behind a template are left out: their own frames reveal their tags.
void Control::inherit(const Known& known) {
  for (const auto& a : known.addresses) given_.insert({a.device, a.address});
  for_each_link([](ControlPort& c) { c.inherited = true; });
  for (const auto& s : known.stations)
    if (ControlPort* const c = s.interface < interfaces_->size() ? link(s.interface) : nullptr;
        c != nullptr && c->responder && !(*interfaces_)[c->index].is_template)
      c->responder->inherit(s.address, s.mac, clock_.now());
}

Control::~Control() {
  if (!left_) for_each_link([&](const ControlPort& c) { forget_neighbors(c); });
  kernel_routes_.reset();
  take_addresses_back();
}

std::optional<InterfaceSettings> Control::prepare_interface(const config::Port& port) {
  const std::string name = DpdkPort::interface(port.device);
  if (name.empty()) return {};
  NetlinkCommands commands;
  // DpdkPort reports a missing interface, with the fix.
  const auto link = commands.link_by_name(name);
  if (!link) return {};
  InterfaceSettings settings(name);
  for (const std::string& path : settings.refused())
    spdlog::warn(
        "port {}: cannot set {} to 0; set it by hand, or hosts on that link can redirect traffic of this "
        "machine",
        port.name, path);
  commands.set_up(link->ifindex);
  return settings;
}

void Control::round(std::chrono::milliseconds patience) {
  wait(more_routes_ ? Duration{0} : Duration(patience));
  if (monitor_) monitor_->poll(*this, clock_.now());
  more_routes_ = routes_.work();
  if (kernel_routes_) more_routes_ |= kernel_routes_->work();
  const Time now = clock_.now();
  if (now >= next_ask_) {
    next_ask_ = now + kAskEvery;
    resolve_gateways();
  }
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    watch_links();
  }
  const bool up = deliver_punts(), down = collect();
  gate_.step(collected_all_);
  if (up || down || gate_.busy()) busy_until_ = now + kStayAwake;
}

void Control::wait(Duration patience) {
  std::vector<pollfd>& fds = descriptors_;
  fds.clear();
  if (monitor_) fds.push_back({monitor_->fd(), POLLIN, 0});
  const std::size_t devices = fds.size();
  for_each_link([&](const ControlPort& c) {
    if (c.twin || c.divert) fds.push_back({c.twin ? c.twin->fd() : c.divert->fd(), POLLIN, 0});
  });
  const std::size_t taps = fds.size();
  for (const ControlPort& c : control_ports_)
    if (c.tap)
      for (const Fd& fd : c.tap->fds()) fds.push_back({fd.get(), POLLIN, 0});
  const timespec timeout = to_timespec(clock_.now() < busy_until_ ? std::min(patience, kNap) : patience);
  if (::ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return;
  for (std::size_t i = devices; i < taps; ++i)
    if ((fds[i].revents & (POLLERR | POLLNVAL)) != 0) lose_device(fds[i].fd);
}

void Control::on(const RouteEvent& event) {
  kernel_routes_->on(event);
  if (event.protocol != kProtocol && config_.kernel.routes) routes_.on(event);
}

void Control::on_resync_begin() {
  routes_.begin_kernel_sync();
  kernel_routes_->begin_sync();
}

void Control::on_resync_end() {
  routes_.end_kernel_sync();
  kernel_routes_->end_sync();
}

void Control::on(const NextHopEvent& event) {
  if (config_.kernel.routes) routes_.on(event);
}

// The kernel's neighbour entries are for its own packets, which take the data plane's paths. An entry that
// the kernel has lost is verified; one that an operator has deleted (`ip neigh flush`) is removed and
// resolved again.
void Control::on(const NeighborEvent& event) {
  routes_.on(event);
  ControlPort* const c = link_with(event.ifindex);
  if (c == nullptr || !c->responder) return;
  // A neighbour that has only sent a request may have any number of addresses.
  if (event.action == EventAction::add && event.confirmed) keep_room_for(*c, event.mac);
  const Time now = clock_.now();
  if (event.action == EventAction::remove)
    return event.fixed ? c->responder->forget(event.address, now) : c->responder->doubt(event.address, now);
  const MacAddress* const known = c->responder->neighbors().find(event.address);
  // ARP or ND of another host has changed the kernel's entry, and would do so again.
  if (!event.fixed && known != nullptr && *known != event.mac) tell_kernel(*c, event.address, *known, true);
}

// This process sets the carrier of a TAP mirror to its port's link state, which may have changed since the
// kernel's event.
void Control::on(const LinkEvent& event) {
  ControlPort* const c = link_with(event.ifindex);
  LinkEvent usable = event;
  if (c != nullptr && c->twin) usable.up = event.enabled;
  routes_.on(usable);
  if (c == nullptr) return;
  if (!c->twin) {
    tell_link(*c, event.up);
    c->link_changes += c->kernel_up.value_or(event.up) != event.up;
  }
  const bool was_down = std::exchange(c->kernel_up, event.up) == false;
  if (event.up && was_down) restore(*c, event);
  // A change while the link is up is the operator's; the MTU at link-up may be reported more than once.
  const bool changed = std::exchange(c->told_mtu, event.mtu) != event.mtu;
  // The first event counts, up or down: the link may be down by the time of the event.
  if ((event.up && changed && !was_down) || !c->mtu) c->mtu = event.mtu;
  if (!c->tap) return;
  if (event.up && c->link_up == false) c->responder->link_up(clock_.now());
  c->link_up = event.up;
}

void Control::keep_room_for(ControlPort& c, const MacAddress& neighbor) {
  if (!c.steer) return;
  try {
    c.steer->add_neighbor(neighbor);
  } catch (const std::runtime_error& e) {
    spdlog::debug("{}", e.what());
  }
}

void Control::on(const AddressEvent& event) {
  routes_.on(event);
  const auto& address = event.address.address;
  const bool add = event.action == EventAction::add;
  const ControlPort* const port = link_with(event.ifindex);
  if (!add || event.protocol != kProtocol)
    given_.erase({event.ifindex, event.address});
  else if (port != nullptr && !port->twin)
    given_.insert({event.ifindex, event.address});
  if (port != nullptr && port->responder && !port->addresses->of_port(address))
    add ? port->responder->add_address(event.address) : port->responder->remove_address(event.address);
  if (add) holders_.add(event.ifindex, event.address);
  if (!add && !holders_.remove(event.ifindex, event.address)) return;
  for (auto& c : control_ports_) {
    if (!c.steer) continue;
    try {
      add ? c.steer->add_local(address) : c.steer->remove_local(address);
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  }
}

// Gateways are resolved before traffic needs them.
void Control::resolve_gateways() {
  const Time now = clock_.now();
  const std::vector<Routes::Resolution> unresolved = routes_.unresolved();
  gateways_.look(unresolved, now);
  for (const auto& r : unresolved)
    if (const ControlPort* c = link(r.interface); c != nullptr && c->responder)
      c->responder->want(r.address, now);
}

// The kernel's own sessions need the same neighbours, and other hosts fill its table.
void Control::tell_kernel(const ControlPort& c, const IpAddress& address,
                          const std::optional<MacAddress>& mac, bool pinned) {
  if (!c.in_kernel() || routes_.fixed(c.interface, address)) return;
  try {
    if (!mac) return commands_->remove_neighbor(c.interface, address);
    pinned ? commands_->pin_neighbor(c.interface, address, *mac)
           : commands_->keep_neighbor(c.interface, address, *mac);
  } catch (const std::runtime_error& e) {
    spdlog::debug("{}", e.what());
  }
}

}  // namespace surety
