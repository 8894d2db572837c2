// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port_device.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "config/text/problems.h"
#include "router/daemon/ports/interface.h"
#include "router/daemon/ports/packet_ring.h"
#include "router/daemon/ports/port.h"
#include "router/process/fd.h"
#include "router/process/pci_driver.h"

namespace surety {

namespace {

using Kind = config::Device::Kind;

std::string mac_argument(const config::Port& port) {
  return port.mac ? ",mac=" + to_string(*port.mac) : std::string();
}

constexpr const char* kInUse =
    "does another program use it? `ip -details link show` shows an attached XDP program";
constexpr const char* kShared = "vhost and virtio-user need hugepages, or memory that can be shared";
constexpr const char* kMessages = "DPDK's messages above say why";
// clang-format off
constexpr std::array kKinds{  // indexed by config::Device::Kind
    //         word           peer                  socket          family     interface paired has_mac hint
    DeviceKind{"none",        KernelPeer::none,     0,              -1,        false,    false, true,   kMessages},
    DeviceKind{"pci",         KernelPeer::twin,     0,              -1,        false,    false, true,
               "is it bound to vfio-pci? `dpdk-devbind.py --status` shows it"},
    DeviceKind{"af_xdp",      KernelPeer::steered,  0,              AF_XDP,    true,     true,  true,   kInUse},
    DeviceKind{"af_packet",   KernelPeer::sees_all, 0,              AF_PACKET, true,     false, true,   kInUse},
    DeviceKind{"tap",         KernelPeer::twin,     0,              -1,        false,    true,  false,
               "does the interface exist already? is /dev/net/tun missing? `ip link` lists the interfaces"},
    DeviceKind{"memif",       KernelPeer::twin,     SOCK_SEQPACKET, -1,        false,    false, false,  kMessages},
    DeviceKind{"virtio-user", KernelPeer::twin,     SOCK_STREAM,    -1,        false,    false, false,  kShared},
    DeviceKind{"vhost",       KernelPeer::twin,     SOCK_STREAM,    -1,        false,    true,  false,  kShared},
    DeviceKind{"pcap",        KernelPeer::none,     0,              -1,        false,    false, true,   kMessages},
    DeviceKind{"null",        KernelPeer::none,     0,              -1,        false,    false, true,   kMessages},
    DeviceKind{"ring",        KernelPeer::twin,     0,              -1,        false,    false, true,   kMessages},
};
// clang-format on
static_assert(kKinds.size() == static_cast<std::size_t>(Kind::ring) + 1);

std::string ring_arguments(std::uint16_t mtu) {
  const std::uint32_t frame = packet_ring::frame_bytes(mtu);
  if (frame == packet_ring::kDefaultFrame) return {};
  return fmt::format(",framesz={},blocksz={},framecnt={}", frame, packet_ring::block_bytes(frame),
                     packet_ring::kFrames);
}

// True if this end is the socket's server.
bool serves(const config::Device& d) {
  return d.kind == Kind::vhost || (d.kind == Kind::memif && d.server);
}

// DPDK's af_xdp reads the first queues; frames of other queues would go to the kernel.
void check_channels(const config::Port& port, const std::string& name) {
  const Channels has = channels_of(name);
  const unsigned wanted = port.rx_queues.value_or(1);
  if (has.rx == wanted) return;
  throw std::runtime_error(
      fmt::format("port {}: `{}` has {} receive queues, but the port reads {}; run `ethtool -L {} {} {}`, or "
                  "set `receive: {{queues: {}}}`",
                  port.name, name, has.rx, wanted, name, has.combined ? "combined" : "rx", wanted, has.rx));
}

// Interfaces of this machine, without the loopback.
std::vector<std::string> interfaces() {
  const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> all(if_nameindex(),
                                                                                 if_freenameindex);
  std::vector<std::string> names;
  for (const struct if_nameindex* i = all.get(); i != nullptr && i->if_index != 0; ++i)
    if (std::string_view(i->if_name) != "lo") names.emplace_back(i->if_name);
  return names;
}

void check_interface(const config::Port& port) {
  const std::string name = DpdkPort::interface(port.device);
  if (name.empty()) return;
  if (const auto missing = missing_device(port)) throw std::runtime_error(*missing);
  if (port.device.kind == Kind::af_xdp) check_channels(port, name);
}

void check_files(const config::Port& port) {
  if (port.device.kind != Kind::pcap) return;
  const auto& [rx, tx] = std::tie(port.device.rx_file, port.device.tx_file);
  if (!rx.empty() && !std::filesystem::exists(rx))
    throw std::runtime_error(fmt::format("port {}: no such file: {}", port.name, rx));
  const auto directory = std::filesystem::path(tx).parent_path();
  if (!directory.empty() && !std::filesystem::is_directory(directory))
    throw std::runtime_error(
        fmt::format("port {}: there is no directory {} for {}", port.name, directory.string(), tx));
}

void check_served(const config::Port& port, SocketFile found) {
  const std::string& path = port.device.name;
  if (found == SocketFile::live)
    throw std::runtime_error(
        fmt::format("port {}: another process serves {}; stop it, be its client, or use another "
                    "socket",
                    port.name, path));
  if (found == SocketFile::other)
    throw std::runtime_error(
        fmt::format("port {}: {} exists, and is not a socket or not accessible; remove it, or use another",
                    port.name, path));
  if (found == SocketFile::stale && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw std::runtime_error(fmt::format("port {}: cannot remove {}, left behind by a process that died: {}",
                                         port.name, path, strerror(errno)));
}

void check_socket_path(const config::Port& port) {
  const std::string& path = port.device.name;
  if (kind_of(port.device).socket == 0) return;
  if (path.size() > kSocketPath || path.find(',') != path.npos)
    throw std::runtime_error(
        fmt::format("port {}: the socket's path must have at most {} characters and no comma: {}", port.name,
                    kSocketPath, path));
}

void check_socket(const config::Port& port) {
  const std::string& path = port.device.name;
  const int type = kind_of(port.device).socket;
  if (type == 0) return;
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code failed;
  // The first process creates it: a client may start before its server.
  if (!directory.empty()) std::filesystem::create_directories(directory, failed);
  if (directory.empty() || ::access(directory.c_str(), R_OK | W_OK) != 0)
    throw std::runtime_error(fmt::format("port {}: cannot write in the directory of {}: {}", port.name, path,
                                         directory.empty() ? "use an absolute path" : strerror(errno)));
  if (serves(port.device)) check_served(port, look_at_socket(path, type));
  if (port.device.kind == Kind::virtio_user && look_at_socket(path, type) != SocketFile::live)
    throw std::runtime_error(
        fmt::format("port {}: no process serves {}; start the vhost side first", port.name, path));
}

// A virtio device has its interface one level below.
bool drives_interface(const std::filesystem::path& device) {
  std::error_code none;
  if (exists(device / "net", none)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(device, none))
    if (entry.path().filename().string().starts_with("virtio") && exists(entry.path() / "net", none))
      return true;
  return false;
}

}  // namespace

std::string device_arguments(const config::Port& port, std::size_t index, const std::string& xdp_program) {
  const config::Device& d = port.device;
  const unsigned queues = port.rx_queues.value_or(1);
  switch (d.kind) {
    case Kind::pci:
      return d.name;
    case Kind::af_xdp:
      return fmt::format("net_af_xdp{},iface={},queue_count={},xdp_prog={}", index, d.name, queues,
                         xdp_program);
    case Kind::af_packet:
      return fmt::format("net_af_packet{},iface={},qpairs={},qdisc_bypass=1{}", index, d.name, queues,
                         ring_arguments(port.mtu));
    case Kind::tap:
      return fmt::format("net_tap{},iface={}", index, d.name);
    case Kind::virtio_user:
      return fmt::format("net_virtio_user{},path={},queues={}{}", index, d.name, queues, mac_argument(port));
    case Kind::vhost:
      return fmt::format("net_vhost{},iface={},queues={}", index, d.name, queues);
    case Kind::null:
      return fmt::format("net_null{},size=64,copy=0,no-rx={}", index, d.name == kFeedDevice ? 0 : 1);
    case Kind::pcap: {
      std::string s = fmt::format("net_pcap{}", index);
      if (!d.rx_file.empty()) s += ",rx_pcap=" + d.rx_file;
      if (!d.tx_file.empty()) s += ",tx_pcap=" + d.tx_file;
      return s;
    }
    case Kind::memif:  // no device of DPDK's
    case Kind::ring:
    case Kind::none:
      break;
  }
  throw std::runtime_error(fmt::format("port {}: device `{}` is not supported; between processes use memif",
                                       port.name, describe(d)));
}

std::optional<std::string> missing_device(const config::Port& port, const std::filesystem::path& pci) {
  const std::string name = DpdkPort::interface(port.device);
  if (!name.empty() && if_nametoindex(name.c_str()) == 0) {
    const std::vector<std::string> names = interfaces();
    return fmt::format("port {}: there is no interface `{}` here{}", port.name, name,
                       config::hint(name, std::vector<std::string_view>(names.begin(), names.end())));
  }
  if (port.device.kind != Kind::pci) return {};
  const std::string& address = port.device.name;
  const auto device = pci / (address.size() == 7 ? "0000:" + address : address);
  if (!exists(device))
    return fmt::format("port {}: there is no PCI device {} here; `lspci` lists the devices", port.name,
                       address);
  std::error_code none;
  const std::string driver = read_symlink(device / "driver", none).filename();
  if (driver.empty() || is_bifurcated(driver) || !drives_interface(device)) return {};
  return fmt::format(
      "port {}: the kernel uses PCI device {} (driver {}); `surety setup` or `dpdk-devbind.py -b vfio-pci "
      "{}` "
      "binds it to vfio-pci",
      port.name, address, driver, address);
}

void look_at_device(const config::Port& port) {
  check_interface(port);
  check_files(port);
  check_socket_path(port);
}

void check_device(const config::Port& port) {
  look_at_device(port);
  check_socket(port);
}

const DeviceKind& kind_of(const config::Device& device) {
  return kKinds[static_cast<std::size_t>(device.kind)];
}

std::string describe(const config::Device& d) {
  std::string word = kind_of(d).word;
  if (d.kind == Kind::pcap) return word + " rx=" + d.rx_file + " tx=" + d.tx_file;
  if (d.kind == Kind::none || d.kind == Kind::null || d.kind == Kind::ring) return word;
  return word + " " + d.name + (d.kind != Kind::memif ? "" : d.server ? " server" : " client");
}

SocketFile look_at_socket(const std::string& path, int type) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return errno == ENOENT ? SocketFile::absent : SocketFile::other;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!S_ISSOCK(file.st_mode) || path.size() >= sizeof address.sun_path) return SocketFile::other;
  path.copy(address.sun_path, path.size());
  const Fd probe(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return SocketFile::live;
  if (errno == ECONNREFUSED) return SocketFile::stale;
  if (errno == ENOENT) return SocketFile::absent;  // gone meanwhile
  // EAGAIN: its queue is full; EPROTOTYPE: another type. Both mean that a server is listening.
  return errno == EAGAIN || errno == EPROTOTYPE ? SocketFile::live : SocketFile::other;
}

namespace {

// FNV-1a (draft-eastlake-fnv), 64 bits.
constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;

std::uint64_t hash(std::uint64_t h, std::string_view text) {
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * kPrime;
  return h;
}

}  // namespace

MacAddress derived_mac(std::string_view router, std::string_view port) {
  std::uint64_t h = hash(hash(hash(kBasis, router), std::string_view("\0", 1)), port);
  h ^= h >> 48;  // the address takes the low 48 bits
  MacAddress mac{};
  std::generate(mac.rbegin(), mac.rend(), [&h] {
    const auto byte = static_cast<std::uint8_t>(h);
    h >>= 8;
    return byte;
  });
  mac[0] = static_cast<std::uint8_t>((mac[0] & 0xfc) | 0x02);
  return mac;
}

void derive_mac(config::Port& port, std::string_view router) {
  if (!port.mac && !kind_of(port.device).has_mac) port.mac = derived_mac(router, port.name);
}

void derive_macs(config::Config& config) {
  for (auto& port : config.ports) derive_mac(port, config.router.name);
}

}  // namespace surety
