#include "router/dpdk/port.h"

#include <fmt/format.h>
#include <net/if.h>
#include <rte_dev.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "router/linux/fd.h"

namespace surety {

namespace {

constexpr std::uint16_t kRxDescriptors = 2048, kTxDescriptors = 2048;

using Kind = config::Device::Kind;

// The device arguments DPDK probes, "name,key=value...".
std::string device_arguments(const config::Device& d, std::size_t index, const std::string& xdp_program) {
  switch (d.kind) {
    case Kind::pci:
      return d.name;
    case Kind::af_xdp:
      return fmt::format("net_af_xdp{},iface={},xdp_prog={}", index, d.name, xdp_program);
    case Kind::af_packet:
      return fmt::format("net_af_packet{},iface={},qdisc_bypass=1", index, d.name);
    case Kind::null:
      return fmt::format("net_null{},size=64,copy=0,no-rx={}", index, d.name == kFeedDevice ? 0 : 1);
    case Kind::pcap: {
      std::string s = fmt::format("net_pcap{}", index);
      if (!d.rx_file.empty()) s += ",rx_pcap=" + d.rx_file;
      if (!d.tx_file.empty()) s += ",tx_pcap=" + d.tx_file;
      return s;
    }
    default:
      throw PortError(fmt::format(
          "device `{}` is not supported by this version; use af_xdp, af_packet, pcap, null or pci",
          DpdkPort::describe(d)));
  }
}

void check_interface(const config::Port& port) {
  const std::string name = DpdkPort::interface(port.device);
  if (name.empty()) return;
  if (if_nametoindex(name.c_str()) == 0)
    throw PortError(fmt::format("port {}: there is no interface `{}` here; `ip link` lists those there are",
                                port.name, name));
}

void check_files(const config::Port& port) {
  if (port.device.kind != Kind::pcap || port.device.rx_file.empty()) return;
  if (!std::filesystem::exists(port.device.rx_file))
    throw PortError(fmt::format("port {}: no such file: {}", port.name, port.device.rx_file));
}

// DPDK's drivers for kernel devices report a link that is always up.
bool is_up(const std::string& interface) {
  const Fd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(control.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0 &&
         (request.ifr_flags & IFF_RUNNING) != 0;
}

}  // namespace

KernelPeer DpdkPort::peer(const config::Device& device) {
  if (device.kind == Kind::af_xdp) return KernelPeer::steered;
  if (device.kind == Kind::af_packet) return KernelPeer::sees_all;
  return KernelPeer::none;
}

std::string DpdkPort::interface(const config::Device& device) {
  return peer(device) == KernelPeer::none ? std::string() : device.name;
}

std::string DpdkPort::describe(const config::Device& d) {
  switch (d.kind) {
    case Kind::none:
      return "none";
    case Kind::pci:
      return "pci " + d.name;
    case Kind::af_xdp:
      return "af_xdp " + d.name;
    case Kind::af_packet:
      return "af_packet " + d.name;
    case Kind::tap:
      return "tap " + d.name;
    case Kind::memif:
      return "memif " + d.name + (d.server ? " server" : " client");
    case Kind::virtio_user:
      return "virtio-user " + d.name;
    case Kind::vhost:
      return "vhost " + d.name;
    case Kind::pcap:
      return "pcap rx=" + d.rx_file + " tx=" + d.tx_file;
    case Kind::null:
      return "null";
    case Kind::ring:
      return "ring";
  }
  return "?";
}

DpdkPort::DpdkPort(const config::Port& config, std::size_t index, rte_mempool* pool,
                   const std::string& xdp_program)
    : interface_(interface(config.device)) {
  check_interface(config);
  check_files(config);
  if (!interface_.empty()) claim_interface(config);
  probe(config, index, xdp_program);
  try {
    start(config, pool);
  } catch (...) {
    close();
    throw;
  }
}

DpdkPort::~DpdkPort() {
  close();
}

// One router per interface. Whoever has the lock may clear away what a router that was killed has left on it.
void DpdkPort::claim_interface(const config::Port& config) {
  struct stat network {};
  ::stat("/proc/self/ns/net", &network);
  interface_lock_ = std::make_unique<ProcessLock>(fmt::format("interface-{}-{}", network.st_ino, interface_));
  if (interface_lock_->holder())
    throw PortError(fmt::format(
        "port {}: another router (process {}) has interface `{}`; stop it, or name another interface",
        config.name, *interface_lock_->holder(), interface_));
  if (peer(config.device) != KernelPeer::steered) return;
  if (const auto s = Steer::detach_leftover(static_cast<int>(if_nametoindex(interface_.c_str()))); !s)
    throw PortError(fmt::format("port {}: {}", config.name, s.error()));
}

void DpdkPort::probe(const config::Port& config, std::size_t index, const std::string& xdp_program) {
  const std::string arguments = device_arguments(config.device, index, xdp_program);
  device_name_ = arguments.substr(0, arguments.find(','));
  if (const int r = rte_dev_probe(arguments.c_str()); r != 0) {
    const std::string why =
        config.device.kind == Kind::pci
            ? "is it bound to vfio-pci? `dpdk-devbind.py --status` shows it"
            : "does another program hold it? `ip -details link show` shows an attached XDP program";
    throw PortError(fmt::format("port {}: cannot open {}: {}; {}", config.name, describe(config.device),
                                strerror(-r), why));
  }
  if (rte_eth_dev_get_port_by_name(device_name_.c_str(), &id_) != 0)
    throw PortError(fmt::format("port {}: {} has no Ethernet port", config.name, device_name_));
}

void DpdkPort::start(const config::Port& config, rte_mempool* pool) {
  const auto must = [&](int r, const char* what) {
    if (r < 0) throw PortError(fmt::format("port {}: cannot {}: {}", config.name, what, strerror(-r)));
  };
  rte_eth_dev_info device{};
  must(rte_eth_dev_info_get(id_, &device), "ask the device what it can do");
  rte_eth_conf conf{};
  must(rte_eth_dev_configure(id_, 1, 1, &conf), "configure it with one queue each way");
  std::uint16_t rx = kRxDescriptors, tx = kTxDescriptors;
  must(rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx, &tx), "agree on descriptor counts");
  const int socket = rte_eth_dev_socket_id(id_);
  must(rte_eth_rx_queue_setup(id_, 0, rx, static_cast<unsigned>(socket), nullptr, pool),
       "set up its receive queue");
  must(rte_eth_tx_queue_setup(id_, 0, tx, static_cast<unsigned>(socket), nullptr),
       "set up its transmit queue");
  if (config.mtu != 1500) {
    // Virtual devices may not know MTUs; their frames are as large as their buffers.
    const int r = rte_eth_dev_set_mtu(id_, config.mtu);
    if (r < 0 && r != -ENOTSUP) must(r, "set its MTU");
  }
  must(rte_eth_dev_start(id_), "start it");
  if (config.promiscuous) must(rte_eth_promiscuous_enable(id_), "make it promiscuous");
  if (config.mac) {
    mac_ = config.mac->bytes;
  } else {
    rte_ether_addr mac{};
    must(rte_eth_macaddr_get(id_, &mac), "read its MAC address");
    std::memcpy(mac_.data(), mac.addr_bytes, 6);
  }
}

void DpdkPort::close() noexcept {
  if (id_ != RTE_MAX_ETHPORTS) {
    rte_eth_dev_stop(id_);
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(id_, &info) == 0 && info.device != nullptr) {
      rte_eth_dev_close(id_);
      rte_dev_remove(info.device);
    }
  }
  id_ = RTE_MAX_ETHPORTS;
}

bool DpdkPort::link_up() const {
  if (!interface_.empty()) return is_up(interface_);
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

std::uint64_t DpdkPort::rx_missed() const {
  rte_eth_stats stats{};
  return rte_eth_stats_get(id_, &stats) == 0 ? stats.imissed + stats.rx_nombuf : 0;
}

}  // namespace surety
