// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "router/daemon/ports/port.h"
#include "router/daemon/workers/shared.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr Duration kAskEvery = 250ms;
// While frames pass, hosts wait for answers to them: rounds are then short.
constexpr Duration kStayAwake = 20ms, kNap = 100us;
constexpr std::size_t kRouteSteps = 20'000;  // per round, some milliseconds

// Interface names have at most 15 characters.
std::string punt_name(const std::string& router) {
  return ("punt-" + router).substr(0, 15);
}

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d / 1s), static_cast<long>((d % 1s).count())};
}

}  // namespace

Control::Control(config::Config config, std::span<const std::unique_ptr<DpdkPort>> ports,
                 Forwarding& forwarding, EventLog& events, rte_ring* punts, rte_mempool* pool, Inject inject,
                 Backlog backlog, std::shared_ptr<const Interfaces> interfaces)
    : devices_(ports),
      routes_(forwarding),
      gate_(routes_, forwarding, punts, std::move(backlog), ports.size()),
      gateways_(
          events, [this](InterfaceIndex i) { return links_.interfaces()->name(i); },
          [this](InterfaceIndex i, const IpAddress& a) { return routes_.knows(i, a); }),
      differences_(events),
      links_(std::move(config), std::move(interfaces), ports.size()),
      programs_(links_, pool != nullptr && inject),
      kernel_(links_, routes_),
      keeper_(links_, kernel_, events),
      watch_(links_, routes_, kernel_, events,
             [ports](std::size_t p) { return ports[p] != nullptr && ports[p]->link_up(); }),
      opener_({links_, routes_, kernel_, programs_, watch_},
              [ports](std::size_t p) {
                return ports[p] != nullptr ? std::optional(ports[p]->mac()) : std::nullopt;
              }),
      sender_(links_, gate_, pool, std::move(inject)),
      collector_(links_, routes_, kernel_, sender_),
      punts_({links_, forwarding.next_hops(), gate_, watch_, sender_, collector_}, punts, clock_.now()) {
  routes_.take_subnets_from_kernel(links_.config().kernel.routes);
  routes_.configure(links_.config(), links_.interfaces());
  opener_.open(clock_.now());
  // After this, work on all routes is done in parts beside other work, and packets may be on their way to
  // unresolved neighbours.
  routes_.limit_work(kRouteSteps);
  routes_.gate_neighbors();
  open_kernel();
  opener_.started();
}

// Connects to the kernel if a port has a kernel side: otherwise nothing there needs this router's routes.
void Control::open_kernel() {
  bool any = false;
  links_.for_each([&](const ControlPort& c) { any |= c.in_kernel(); });
  if (!any) return;
  kernel_.connect();
  monitor_.emplace();
  for (ControlPort& port : links_.ports()) programs_.open(port);
  links_.for_each([&](ControlPort& c) {
    programs_.guard_forwarding(c);
    kernel_.add_addresses(c);
  });
  kernel_.set_routes();
  try {
    punt_device_.emplace(punt_name(links_.config().router.name));
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}; packets that the data plane punts to the kernel are dropped", e.what());
  }
  if (punt_device_) {
    punts_.connect([this](std::span<const std::uint8_t> packet) { return punt_device_->write(packet); });
    programs_.guard_forwarding(*punt_device_);
    programs_.check_sources(*punt_device_);
  }
  // Links and addresses are read before any change or request.
  monitor_->poll(*this, clock_.now());
}

Control::Known Control::leave() {
  Known known;
  for (const auto& [device, address] : kernel_.leave()) known.addresses.push_back({device, address});
  links_.for_each([&](ControlPort& c) {
    // Leaked on purpose: the kernel takes a while to close a packet socket, and does it when the process
    // ends.
    if (c.tap) new NeighborTap(std::move(*c.tap));
    if (!c.responder) return;
    c.responder->neighbors().for_each_known([&](const IpAddress& address, const MacAddress& mac) {
      known.neighbors.push_back({c.index, address, mac});
    });
  });
  return known;
}

// Neighbours behind a template are left out: their own frames reveal their tags.
void Control::inherit(const Known& known) {
  for (const auto& a : known.addresses) kernel_.inherit({a.device, a.address});
  links_.for_each([](ControlPort& c) { c.state.inherited = true; });
  for (const auto& s : known.neighbors)
    if (ControlPort* const c = s.interface < links_.interfaces()->size() ? links_.link(s.interface) : nullptr;
        c != nullptr && c->responder && !links_.record_of(*c).is_template)
      c->responder->inherit(s.address, s.mac, clock_.now());
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

// Removed interfaces are closed before their routes; new ones have their device before.
void Control::configure(const config::Config& config, std::shared_ptr<const Interfaces> interfaces) {
  if (!interfaces) interfaces = std::make_shared<const Interfaces>(config, links_.interfaces().get());
  opener_.close(config, *interfaces);
  const config::Config before = links_.configure(config, std::move(interfaces));
  routes_.take_subnets_from_kernel(config.kernel.routes);
  routes_.configure(config, links_.interfaces());
  opener_.change_addresses(before);
  opener_.follow_devices(clock_.now());
  kernel_.change_mtus(before);
  if (opener_.open(clock_.now())) monitor_->tell_again();
  if (!kernel_.connected()) open_kernel();
  if (punt_device_) programs_.check_sources(*punt_device_);
  punts_.configure();
  if (kernel_.connected()) kernel_.set_routes();
  accept_virtual_macs();  // new ports have none
}

void Control::accept_virtual_macs() {
  std::vector<std::set<MacAddress>> of(devices_.size());
  links_.for_each([&](const ControlPort& c) {
    if (c.open && c.in_kernel()) of[links_.port_of(c)].merge(virtual_macs_.of(c.interface));
  });
  for (std::size_t p = 0; p < of.size(); ++p) {
    if (devices_[p] == nullptr) continue;
    const std::vector<MacAddress> macs(of[p].begin(), of[p].end());
    if (!devices_[p]->accept(macs))
      spdlog::warn(
          "port {}: macvlan devices above it have {} MAC addresses, more than the {} of a port or than the "
          "NIC has room for; set `promiscuous: on`",
          links_.interfaces()->name(static_cast<InterfaceIndex>(p)), macs.size(), DpdkPort::kVirtualMacs);
  }
}

void Control::round(std::chrono::milliseconds patience) {
  wait(more_routes_ ? Duration{0} : Duration(patience));
  if (monitor_) monitor_->poll(*this, clock_.now());
  if (virtual_macs_.take_changed()) accept_virtual_macs();
  more_routes_ = routes_.work();
  more_routes_ |= kernel_.work();
  const Time now = clock_.now();
  keeper_.work(now);
  if (now >= next_ask_) {
    next_ask_ = now + kAskEvery;
    resolve_gateways();
    kernel_.follow_links();  // a gateway may be on the subnet of an address that has come or gone
  }
  if (watch_.look(now)) programs_.keep_diverting();
  const bool up = punts_.deliver(now), down = collector_.collect(clock_.now());
  gate_.step(collector_.collected_all());
  if (up || down || gate_.busy()) busy_until_ = now + kStayAwake;
}

void Control::wait(Duration patience) {
  std::vector<pollfd>& fds = descriptors_;
  fds.clear();
  if (monitor_) fds.push_back({monitor_->fd(), POLLIN, 0});
  const std::size_t devices = fds.size();
  links_.for_each([&](const ControlPort& c) {
    const auto& divert = c.programs.divert;
    if (c.twin || divert) fds.push_back({c.twin ? c.twin->fd() : divert->fd(), POLLIN, 0});
  });
  const std::size_t taps = fds.size();
  for (const ControlPort& c : links_.ports())
    if (c.tap)
      for (const Fd& fd : c.tap->fds()) fds.push_back({fd.get(), POLLIN, 0});
  const timespec timeout = to_timespec(clock_.now() < busy_until_ ? std::min(patience, kNap) : patience);
  if (::ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return;
  for (std::size_t i = devices; i < taps; ++i)
    if ((fds[i].revents & (POLLERR | POLLNVAL)) != 0) opener_.lose_device(fds[i].fd);
}

void Control::on(const RouteEvent& event) {
  kernel_.on(event);
  if (event.protocol == kProtocol || !links_.config().kernel.routes) return;
  differences_.on(event);
  routes_.on(event);
}

void Control::on(const RuleEvent& event) {
  if (!links_.config().kernel.routes) return;
  differences_.on(event);
  routes_.on(event);
}

void Control::on_resync_begin() {
  routes_.begin_kernel_sync();
  differences_.begin_sync();
  kernel_.begin_sync();
  keeper_.begin_sync();
  virtual_macs_.begin_sync();
}

void Control::on_resync_end() {
  routes_.end_kernel_sync();
  differences_.end_sync();
  kernel_.end_sync();
  keeper_.end_sync(clock_.now());
  virtual_macs_.end_sync();
}

void Control::on(const NextHopEvent& event) {
  if (links_.config().kernel.routes) routes_.on(event);
}

// The kernel's neighbour entries are for its own packets, which take the data plane's paths. An entry that
// the kernel has lost is verified; one that an operator has deleted (`ip neigh flush`) is removed and
// resolved again.
void Control::on(const NeighborEvent& event) {
  routes_.on(event);
  ControlPort* const c = links_.link_with(event.ifindex);
  if (c == nullptr || !c->responder) return;
  // A neighbour that has only sent a request may have any number of addresses.
  if (event.action == EventAction::add && event.confirmed) programs_.add_neighbor(*c, event.mac);
  const Time now = clock_.now();
  if (event.action == EventAction::remove)
    return event.fixed ? c->responder->forget(event.address, now) : c->responder->doubt(event.address, now);
  const MacAddress* const known = c->responder->neighbors().find(event.address);
  // ARP or ND of another host has changed the kernel's entry, and would do so again.
  if (!event.fixed && known != nullptr && *known != event.mac)
    kernel_.set_neighbor(*c, event.address, *known, true);
}

void Control::on(const LinkEvent& event) {
  watch_.on(event, clock_.now());
  virtual_macs_.on(event);
  // Packets beyond a lower MTU are counted as dropped before the workers have the next snapshot.
  ControlPort* const c = links_.link_with(event.ifindex);
  if (c != nullptr && !c->twin && c->index < devices_.size() && devices_[c->index] != nullptr)
    devices_[c->index]->limit_frames(event.mtu);
  if (c != nullptr && c->twin && event.up && event.mac != c->mac) keep_mac(*c);
}

// systemd-udevd gives a new device a MAC address of its own (MACAddressPolicy), if it looks before the router
// has set one, and may write it afterwards. Neighbors would then send to an address that the NIC does not
// accept.
void Control::keep_mac(ControlPort& c) {
  try {
    c.twin->set_mac(c.mac);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}: {}", links_.name_of(c), e.what());
  }
}

void Control::on(const AddressEvent& event) {
  routes_.on(event);
  kernel_.on(event);
  keeper_.on(event, clock_.now());
  const auto& address = event.address.address;
  const bool add = event.action == EventAction::add;
  const ControlPort* const port = links_.link_with(event.ifindex);
  if (port != nullptr && port->responder && !port->addresses->of_port(address))
    add ? port->responder->add_address(event.address) : port->responder->remove_address(event.address);
  programs_.on(event);
}

// Gateways are resolved before traffic needs them.
void Control::resolve_gateways() {
  const Time now = clock_.now();
  const std::vector<Routes::Resolution> unresolved = routes_.unresolved();
  gateways_.look(unresolved, now);
  for (const auto& r : unresolved)
    if (const ControlPort* c = links_.link(r.interface); c != nullptr && c->responder)
      c->responder->want(r.address, now);
}

}  // namespace surety
