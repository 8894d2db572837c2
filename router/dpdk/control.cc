// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/control.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr Duration kAskAgain = 20ms, kAskEvery = 250ms, kLookEvery = 100ms;
// While frames go up and down, somebody waits for answers to them: then rounds are short.
constexpr Duration kStayAwake = 20ms, kNap = 100us;
constexpr std::size_t kRouteSteps = 20'000;  // a round's, some milliseconds
constexpr std::size_t kLargestFrame = 65535 + 14 + 8;

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d / 1s), static_cast<long>((d % 1s).count())};
}

}  // namespace

Control::Control(const config::Config& config, std::span<const std::unique_ptr<DpdkPort>> ports,
                 Forwarding& forwarding, rte_ring* punts, rte_mempool* pool, Inject inject, Backlog backlog)
    : config_(config),
      ports_(ports),
      forwarding_(forwarding),
      punts_(punts),
      pool_(pool),
      inject_(std::move(inject)),
      routes_(forwarding),
      gate_(routes_, forwarding, punts, std::move(backlog), ports.size()),
      icmp_errors_(ports.size(), clock_.now()),
      frame_(kLargestFrame) {
  routes_.configure(config);
  open_ports();
  // From here on, what concerns all routes goes on beside what else there is to do, and packets may be on
  // their way to neighbours that are not known yet.
  routes_.limit_work(kRouteSteps);
  routes_.gate_neighbors();
  open_kernel();
}

Control::~Control() {
  for (const auto& [ifindex, address] : given_) {
    try {
      commands_->remove_address(ifindex, address);
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  }
}

std::vector<InterfaceSettings> Control::prepare_interfaces(const config::Config& config) {
  std::vector<InterfaceSettings> settings;
  NetlinkCommands commands;
  for (const auto& port : config.ports) {
    const std::string name = DpdkPort::interface(port.device);
    if (name.empty()) continue;
    // Of one that is not there DpdkPort says so, with the fix.
    const auto link = commands.link_by_name(name);
    if (!link) continue;
    settings.emplace_back(name);
    for (const std::string& path : settings.back().refused())
      spdlog::warn(
          "port {}: cannot set {} to 0: who is on that link may tell this host where to send packets",
          port.name, path);
    commands.set_up(link->ifindex);
  }
  return settings;
}

void Control::round(std::chrono::milliseconds patience) {
  wait(more_routes_ ? Duration{0} : Duration(patience));
  if (monitor_) monitor_->poll(*this);
  more_routes_ = routes_.work();
  const Time now = clock_.now();
  if (now >= next_ask_) {
    asked_.clear();
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
  std::array<pollfd, kMaxPorts + 1> fds;
  std::size_t n = 0;
  if (monitor_) fds[n++] = {monitor_->fd(), POLLIN, 0};
  const std::size_t twins = n;
  for (const ControlPort& c : control_ports_)
    if (c.twin) fds[n++] = {c.twin->fd(), POLLIN, 0};
  const timespec timeout = to_timespec(clock_.now() < busy_until_ ? std::min(patience, kNap) : patience);
  if (::ppoll(fds.data(), n, &timeout, nullptr) <= 0) return;
  for (std::size_t i = twins; i < n; ++i)
    if ((fds[i].revents & (POLLERR | POLLNVAL)) != 0) lose_twin(fds[i].fd);
}

void Control::on(const RouteEvent& event) {
  if (config_.kernel.routes) routes_.on(event);
}

void Control::on(const NextHopEvent& event) {
  if (config_.kernel.routes) routes_.on(event);
}

void Control::on(const NeighborEvent& event) {
  routes_.on(event);
  // A gateway among them is missed soon; but not at once, or `ip neigh flush` would
  // never see the table empty.
  if (event.action == EventAction::remove) next_ask_ = std::min(next_ask_, clock_.now() + kAskAgain);
}

void Control::on(const AddressEvent& event) {
  routes_.on(event);
  const auto& address = event.address.address;
  for (auto& steer : steers_) {
    try {
      event.action == EventAction::add ? steer.add_local(address) : steer.remove_local(address);
    } catch (const std::runtime_error& e) {
      spdlog::warn("{}", e.what());
    }
  }
}

// What the responders know is told again, too: at the end of a resynchronisation all that was not is gone.
void Control::on_resync_begin() {
  routes_.begin_kernel_sync();
  for (std::size_t p = 0; p < control_ports_.size(); ++p)
    if (control_ports_[p].responder) tell_neighbors(p);
}
void Control::on_resync_end() {
  routes_.end_kernel_sync();
}

// Gateways are resolved before traffic needs them.
void Control::resolve_gateways() {
  const Time now = clock_.now();
  for (const auto& r : routes_.unresolved()) {
    const ControlPort& c = control_ports_[r.port];
    if (c.responder)
      c.responder->want(r.address, now);
    else if (c.in_kernel())
      resolve(c.interface, r.address);
  }
}

void Control::resolve(int ifindex, const IpAddress& address) {
  if (!asked_.emplace(ifindex, to_string(address)).second) return;
  try {
    commands_->resolve(ifindex, address);
  } catch (const std::runtime_error& e) {
    spdlog::debug("{}", e.what());
  }
}

}  // namespace surety
