#include "router/dpdk/control.h"

#include <net/if.h>
#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "router/headers.h"
#include "router/ip_bytes.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr unsigned kPuntsPerRound = 256;
constexpr auto kAskAgain = 20ms;

config::Address destination_of(const std::uint8_t* ip) {
  config::Address a;
  a.v6 = is_v6(ip);
  std::memcpy(a.bytes.data(), ip + (a.v6 ? 24 : 16), a.v6 ? 16 : 4);
  return a;
}

// Interface names have at most 15 characters.
std::string punt_name(const std::string& router) {
  return ("punt-" + router).substr(0, 15);
}

}  // namespace

Control::Control(const config::Config& config, std::span<const std::unique_ptr<DpdkPort>> ports,
                 Forwarding& forwarding, rte_ring* punts)
    : config_(config), ports_(ports), forwarding_(forwarding), punts_(punts), routes_(forwarding) {
  routes_.configure(config);
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const std::string name = DpdkPort::interface(config.ports[p].device);
    ifindex_.push_back(name.empty() ? 0 : static_cast<int>(if_nametoindex(name.c_str())));
    if (ifindex_[p] != 0) routes_.bind_port(p, ifindex_[p]);
  }
  if (punts != nullptr) open_kernel();
}

Control::~Control() {
  for (const auto& [ifindex, address] : given_)
    if (auto s = commands_->remove_address(ifindex, address); !s) spdlog::warn("{}", s.error());
}

void Control::prepare_interfaces(const config::Config& config) {
  auto commands = NetlinkCommands::open();
  if (!commands) throw PortError(commands.error());
  for (const auto& port : config.ports) {
    const std::string name = DpdkPort::interface(port.device);
    if (name.empty()) continue;
    const auto link = commands->link_by_name(name);
    if (!link) continue;  // DpdkPort says so, with the fix
    if (auto s = commands->set_up(link->ifindex); !s) throw PortError(s.error());
  }
}

void Control::open_kernel() {
  auto commands = NetlinkCommands::open();
  auto monitor = NetlinkMonitor::open();
  if (!commands || !monitor) throw PortError(!commands ? commands.error() : monitor.error());
  commands_ = std::move(*commands);
  open_steering();
  if (config_.kernel.addresses) give_addresses();
  monitor_ = std::move(*monitor);
  auto device = PuntDevice::open(punt_name(config_.router.name));
  if (device)
    punt_device_ = std::move(*device);
  else
    spdlog::warn("{}; packets that the kernel should answer (TTL, MTU) are lost", device.error());
}

void Control::open_steering() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (DpdkPort::peer(config_.ports[p].device) != KernelPeer::steered) continue;
    auto steer = Steer::find(ifindex_[p]);
    if (steer)
      steers_.push_back(std::move(*steer));
    else
      spdlog::warn("port {}: {}; traffic for the router itself takes the way through the data plane",
                   config_.ports[p].name, steer.error());
  }
}

void Control::give_addresses() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (ifindex_[p] == 0) continue;
    for (const auto& address : config_.ports[p].addresses) {
      auto added = commands_->add_address(ifindex_[p], address);
      if (!added)
        spdlog::warn("port {}: {}", config_.ports[p].name, added.error());
      else if (*added == Added::now)
        given_.emplace_back(ifindex_[p], address);
    }
  }
}

void Control::round(std::chrono::milliseconds patience) {
  pollfd wait{monitor_ ? monitor_->fd() : -1, POLLIN, 0};
  ::poll(&wait, 1, static_cast<int>(patience.count()));
  if (monitor_) monitor_->poll(*this);
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_ask_) {
    asked_.clear();
    next_ask_ = now + 250ms;
    resolve_gateways();
  }
  if (now >= next_second_) {
    next_second_ = now + 1s;
    watch_links();
  }
  deliver_punts();
}

void Control::on(const RouteEvent& event) {
  if (config_.kernel.routes) routes_.on(event);
}

void Control::on(const NeighborEvent& event) {
  routes_.on(event);
  // A gateway among them is missed soon; but not at once, or `ip neigh flush` would never see the table
  // empty.
  if (event.action == EventAction::remove)
    next_ask_ = std::min(next_ask_, std::chrono::steady_clock::now() + kAskAgain);
}

void Control::on(const AddressEvent& event) {
  routes_.on(event);
  for (auto& steer : steers_) {
    const auto& address = event.address.address;
    const Status s =
        event.action == EventAction::add ? steer.add_local(address) : steer.remove_local(address);
    if (!s) spdlog::warn("{}", s.error());
  }
}

void Control::on_resync_begin() {
  routes_.begin_kernel_sync();
}
void Control::on_resync_end() {
  routes_.end_kernel_sync();
}

// Gateways are resolved before traffic needs them.
void Control::resolve_gateways() {
  if (!commands_) return;
  for (const auto& r : routes_.unresolved())
    if (r.ifindex != 0) resolve(r.ifindex, r.address);
}

void Control::resolve(int ifindex, const config::Address& address) {
  if (!asked_.emplace(ifindex, config::to_string(address)).second) return;
  if (auto s = commands_->resolve(ifindex, address); !s) spdlog::debug("{}", s.error());
}

void Control::watch_links() {
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (ifindex_[p] == 0) routes_.set_port_up(p, ports_[p]->link_up());
}

void Control::deliver_punts() {
  if (punts_ == nullptr) return;
  std::array<void*, kPuntsPerRound> burst;
  const unsigned n = rte_ring_sc_dequeue_burst(punts_, burst.data(), kPuntsPerRound, nullptr);
  for (unsigned i = 0; i < n; ++i) {
    auto* m = static_cast<rte_mbuf*>(burst[i]);
    deliver(m);
    rte_pktmbuf_free(m);
  }
}

void Control::deliver(rte_mbuf* m) {
  std::uint8_t* ip = ip_header(m, m->l2_len);
  if (punted_reason(m) == PuntReason::neighbor) {
    const NextHopEntry hop = forwarding_.next_hops().get(punted_next_hop(m));
    if (ifindex_[hop.port] != 0) resolve(ifindex_[hop.port], destination_of(ip));
    // The kernel will forward it past the conditioners: nothing but best effort gets through that way.
    if (config_.ports[m->port].trust == config::Port::Trust::customer) set_dscp(ip, is_v6(ip), 0);
  }
  // The kernel queues it until the neighbour answers, answers it itself, or takes it as its own.
  if (punt_device_) punt_device_->write({ip, static_cast<std::size_t>(m->data_len - m->l2_len)});
}

}  // namespace surety
