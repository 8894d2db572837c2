// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port.h"

#include <fmt/format.h>
#include <net/if.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_interrupts.h>
#include <rte_log.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include "router/daemon/ports/interface.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/packet_ring.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/ports/receive_queues.h"
#include "router/daemon/ports/umem_rings.h"

namespace surety {

namespace {

constexpr std::uint16_t kRxDescriptors = 2048, kTxDescriptors = 2048;

using Kind = config::Device::Kind;

// The time when an AF_XDP port was closed, by this thread or by the previous process.
std::chrono::steady_clock::time_point last_xdp_closed{};

// VLAN tags by which a frame may exceed the MTU of its interface: a packet socket takes one (packet(7)), NICs
// and veth devices two.
constexpr std::uint32_t kTag = 4;
std::uint32_t tags_beyond_mtu(Kind kind) {
  return kind == Kind::af_packet ? kTag : 2 * kTag;
}

std::uint64_t word_of(const MacAddress& mac) {
  std::uint64_t word = 0;
  std::memcpy(&word, mac.data(), mac.size());
  return word;
}

// `mtu` if it is lower than `wanted`, and a link may have it (RFC 791); else 0.
std::uint16_t lower_mtu(unsigned mtu, std::uint16_t wanted) {
  constexpr unsigned kLeast = 68;
  return mtu != 0 && mtu < wanted ? static_cast<std::uint16_t>(std::max(mtu, kLeast)) : std::uint16_t{0};
}

// The MTU that a port leaves as the interface has it.
constexpr std::uint16_t kUntouchedMtu = 1500;

// net_af_xdp has one error for all reasons, also for those that pass: the kernel has not given back the queue
// of a process that has ended, or another one attaches its program at this moment.
int retried(const auto& set_up) {
  constexpr int kMore = 10;
  int result = set_up();
  for (int i = 0; i < kMore && result != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    result = set_up();
  }
  return result;
}

}  // namespace

DpdkPort::DpdkPort(const config::Port& config, std::size_t index, rte_mempool* pool,
                   const std::string& xdp_program)
    : config_(config),
      pool_(pool),
      ring_frame_(packet_ring::frame_bytes(config.mtu)),
      interface_(interface(config.device)) {
  check_device(config_);
  if (!interface_.empty()) claim_interface();
  if (config_.device.kind != Kind::memif) {
    probe(index, xdp_program);
  } else {
    ability_.max_rx_queues = BurstGate::kLanes - 1;
    set_mac(config_.mac.value_or(derived_mac({}, config_.name)));
  }
}

void DpdkPort::follow_another() {
  last_xdp_closed = std::chrono::steady_clock::now();
}

DpdkPort::~DpdkPort() {
  close();
}

// Locks the interface for this router. The holder of the lock may remove what a killed router has left on the
// interface.
void DpdkPort::claim_interface() {
  struct stat network {};
  ::stat("/proc/self/ns/net", &network);
  interface_lock_ = std::make_unique<ProcessLock>(fmt::format("interface-{}-{}", network.st_ino, interface_));
  if (interface_lock_->holder())
    throw std::runtime_error(fmt::format(
        "port {}: another router (process {}) has interface `{}`; stop it, or use another interface",
        config_.name, *interface_lock_->holder(), interface_));
  followed_.index = static_cast<int>(if_nametoindex(interface_.c_str()));
  if (peer(config_.device) != KernelPeer::steered) return;
  try {
    Steer::detach_leftover(followed_.index);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("port {}: {}", config_.name, e.what()));
  }
}

void DpdkPort::probe(std::size_t index, const std::string& xdp_program) {
  const std::string arguments = device_arguments(config_, index, xdp_program);
  const std::size_t named = std::min(arguments.find(','), arguments.size());
  device_name_ = arguments.substr(0, named);
  SocketWatch sockets(kind_of(config_.device).family);
  // rte_dev_probe() takes 127 characters, which two files exceed.
  const bool on_a_bus = config_.device.kind == config::Device::Kind::pci;
  // EAL has opened the PCI devices of the first configuration.
  const bool open = on_a_bus && rte_eth_dev_get_port_by_name(device_name_.c_str(), &id_) == 0;
  const int r = open       ? 0
                : on_a_bus ? rte_dev_probe(arguments.c_str())
                           : rte_vdev_init(device_name_.c_str(),
                                           arguments.substr(std::min(named + 1, arguments.size())).c_str());
  if (r != 0)
    throw std::runtime_error(fmt::format("port {}: cannot open {}: {}; {}", config_.name,
                                         describe(config_.device), strerror(r > 0 ? ENOTSUP : -r),
                                         kind_of(config_.device).hint));
  if (rte_eth_dev_get_port_by_name(device_name_.c_str(), &id_) != 0)
    throw std::runtime_error(fmt::format("port {}: {} has no Ethernet port", config_.name, device_name_));
  // The sockets' queues are unknown: each queue's reader polls when any socket is readable.
  for (const int fd : sockets.appeared())
    for (std::uint16_t q = 0; q < config_.rx_queues.value_or(1); ++q) wakes_.add(q, fd);
  try {
    look_at_device();
  } catch (...) {
    close();
    throw;
  }
}

void DpdkPort::look_at_device() {
  rte_eth_dev_info device{};
  must(rte_eth_dev_info_get(id_, &device), "read the capabilities of the device");
  removal_.emplace(id_, rte_dev_name(device.device));
  ability_ = ability_of(device);
  // A virtual device does not hash, even if its driver claims it: the other end selects the queue.
  if (config_.device.kind != Kind::pci) ability_ = {.max_rx_queues = ability_.max_rx_queues};
  rte_ether_addr mac{};
  must(rte_eth_macaddr_get(id_, &mac), "read the MAC address of the device");
  MacAddress own{};
  std::memcpy(own.data(), mac.addr_bytes, own.size());
  set_mac(config_.mac.value_or(own));
}

void DpdkPort::set_mac(const MacAddress& mac) {
  mac_ = mac;
  own_word_.store(word_of(mac), std::memory_order_relaxed);
}

bool DpdkPort::accept(std::span<const MacAddress> virtual_macs) {
  const std::size_t n = std::min(virtual_macs.size(), kVirtualMacs);
  const bool filtered = config_.device.kind != Kind::pci || filter(virtual_macs.first(n));
  for (std::size_t i = 0; i < n; ++i)
    virtual_words_[i].store(word_of(virtual_macs[i]), std::memory_order_relaxed);
  virtual_count_.store(n, std::memory_order_release);
  return config_.promiscuous || (filtered && n == virtual_macs.size());
}

// Replaces the previous virtual addresses in the filter of the NIC.
bool DpdkPort::filter(std::span<const MacAddress> virtual_macs) {
  bool all = true;
  rte_ether_addr address{};
  for (std::size_t i = 0; i < virtual_count_.load(std::memory_order_relaxed); ++i) {
    const std::uint64_t word = virtual_words_[i].load(std::memory_order_relaxed);
    if (std::ranges::find(virtual_macs, word, word_of) != virtual_macs.end()) continue;
    std::memcpy(address.addr_bytes, &word, sizeof(address.addr_bytes));
    rte_eth_dev_mac_addr_remove(id_, &address);
  }
  for (const MacAddress& mac : virtual_macs) {
    std::memcpy(address.addr_bytes, mac.data(), mac.size());
    all &= rte_eth_dev_mac_addr_add(id_, &address, 0) == 0;
  }
  return all;
}

void DpdkPort::readdress(std::span<rte_mbuf* const> burst) const {
  const std::size_t n = virtual_count_.load(std::memory_order_acquire);
  std::array<std::uint64_t, kVirtualMacs> words{};
  for (std::size_t i = 0; i < n; ++i) words[i] = virtual_words_[i].load(std::memory_order_relaxed);
  const std::uint64_t own = own_word_.load(std::memory_order_relaxed);
  for (rte_mbuf* const m : burst) {
    if (m->data_len < RTE_ETHER_HDR_LEN) continue;
    auto* const frame = rte_pktmbuf_mtod(m, char*);
    std::uint64_t to = 0;
    std::memcpy(&to, frame, RTE_ETHER_ADDR_LEN);
    if (to != own && std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(n), to) !=
                         words.begin() + static_cast<std::ptrdiff_t>(n))
      std::memcpy(frame, &own, RTE_ETHER_ADDR_LEN);
  }
}

int DpdkPort::socket() const {
  const int node = id_ == RTE_MAX_ETHPORTS ? -1 : rte_eth_dev_socket_id(id_);
  return node < 0 ? static_cast<int>(rte_socket_id()) : node;
}

void DpdkPort::must(int result, const std::string& what) const {
  if (result < 0)
    throw std::runtime_error(fmt::format("port {}: cannot {}: {}", config_.name, what, strerror(-result)));
}

void DpdkPort::start(std::uint16_t rx_queues, Spread spread) {
  if (rx_queues > ability_.max_rx_queues || rx_queues == 0)
    throw std::runtime_error(fmt::format("port {}: the device has at most {} receive queues, not {}",
                                         config_.name, ability_.max_rx_queues, rx_queues));
  rx_queues_ = rx_queues;
  if (config_.device.kind == Kind::memif) return start_memif();
  started_ = true;
  const BpfWatch programs;
  start_device(spread);
  if (config_.device.kind == Kind::af_xdp) programs_ = programs.appeared();
  if (config_.promiscuous) set_promiscuous(true);
  if (const auto now = state_of(interface_); now && now->index != 0) follow(*now);
}

void DpdkPort::follow(const InterfaceState& now) {
  followed_ = now;
  if (!config_.mac && now.mac != MacAddress{}) set_mac(now.mac);
  limit_frames(now.mtu);
}

void DpdkPort::limit_frames(unsigned mtu) {
  if (mtu != 0)
    largest_frame_.store(mtu + RTE_ETHER_HDR_LEN + tags_beyond_mtu(config_.device.kind),
                         std::memory_order_relaxed);
}

std::uint16_t DpdkPort::device_mtu(const config::Port& config) const {
  return config.mtu == config_.mtu ? lower_mtu(followed_.mtu, config.mtu) : std::uint16_t{0};
}

std::uint16_t DpdkPort::device_mtu_found(const config::Port& config) {
  const std::string name = interface(config.device);
  return name.empty() || config.mtu != kUntouchedMtu ? std::uint16_t{0} : lower_mtu(mtu_of(name), config.mtu);
}

// A virtual device without this setting receives every frame anyway.
void DpdkPort::set_promiscuous(bool on) {
  if (config_.device.kind == Kind::memif) return;
  const int r = on ? rte_eth_promiscuous_enable(id_) : rte_eth_promiscuous_disable(id_);
  if (r != -ENOTSUP) must(r, on ? "set promiscuous mode" : "end promiscuous mode");
}

void DpdkPort::change(const config::Port& next) {
  const auto room = static_cast<std::uint32_t>(rte_pktmbuf_data_room_size(pool_));
  std::uint32_t most = room - RTE_PKTMBUF_HEADROOM - kFraming;
  if (config_.device.kind == Kind::af_packet)
    most = std::min<std::uint32_t>(most, packet_ring::largest_mtu(ring_frame_));
  if (next.mtu > most)
    throw std::runtime_error(fmt::format(
        "port {}: its packet buffers have room for an mtu of {} at most; restart the router for {}",
        next.name, most, next.mtu));
  if (next.mtu != config_.mtu) set_mtu(next.mtu);
  try {
    if (next.promiscuous != config_.promiscuous) set_promiscuous(next.promiscuous);
  } catch (...) {
    set_mtu(config_.mtu);
    throw;
  }
  if (next.mtu != config_.mtu && !interface_.empty()) {
    InterfaceState now = followed_;
    now.mtu = mtu_of(interface_);
    follow(now);
  }
  config_ = next;
}

void DpdkPort::start_device(Spread spread) {
  // Devices without interrupts per queue fail at start.
  if (config_.device.kind == Kind::pci) {
    configure(spread, true);
    if (rte_eth_dev_start(id_) == 0) return find_interrupts();
  }
  configure(spread, false);
  must(rte_eth_dev_start(id_), "start the device");
}

void DpdkPort::start_memif() {
  const auto buffer = static_cast<std::uint32_t>(rte_pktmbuf_data_room_size(pool_)) - RTE_PKTMBUF_HEADROOM;
  const memif::Terms terms{.interface = config_.name, .receive_queues = rx_queues_, .buffer_size = buffer};
  try {
    memif_ = std::make_unique<memif::Port>(terms, config_.device.name, config_.device.server, *pool_);
  } catch (const std::system_error& e) {
    throw std::runtime_error(fmt::format(
        "port {}: cannot serve {}: {}; {}", config_.name, config_.device.name, e.code().message(),
        e.code() == std::errc::permission_denied
            ? "a running router can create sockets only in /run/surety and where it had some at its start"
            : "does another port use this socket?"));
  }
  for (std::uint16_t q = 0; q < rx_queues_; ++q)
    if (const int fd = memif_->wake_fd(q); fd >= 0) wakes_.add(q, fd);
}

void DpdkPort::configure(Spread spread, bool interrupts) {
  rte_eth_dev_info device{};
  must(rte_eth_dev_info_get(id_, &device), "read the capabilities of the device");
  rte_eth_conf conf{};
  conf.intr_conf.rxq = interrupts ? 1 : 0;
  conf.intr_conf.rmv = (*device.dev_flags & RTE_ETH_DEV_INTR_RMV) != 0 ? 1 : 0;
  auto key = symmetric_rss_key();
  // A device without RSS spreads packets at its other end, which is configured there.
  if (rx_queues_ > 1 && ability_.rss) {
    const auto fields = rss_fields(device, spread);
    if (!fields)
      throw std::runtime_error(
          fmt::format("port {}: the device cannot distribute packets to receive queues as the contracts of "
                      "this port need it; use one queue: `receive: {{queues: 1}}`",
                      config_.name));
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_key = key.data();
    conf.rx_adv_conf.rss_conf.rss_key_len = device.hash_key_size != 0 ? device.hash_key_size : 40;
    conf.rx_adv_conf.rss_conf.rss_hf = *fields;
  }
  const std::uint16_t tx_queues = kind_of(config_.device).paired ? rx_queues_ : 1;
  must(rte_eth_dev_configure(id_, rx_queues_, tx_queues, &conf),
       fmt::format("configure the device with {} receive queues", rx_queues_));
  set_up_queues();
  set_up_mtu();
}

void DpdkPort::set_up_queues() {
  std::uint16_t rx = kRxDescriptors, tx = kTxDescriptors;
  must(rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx, &tx), "set the numbers of descriptors");
  const auto node = static_cast<unsigned>(socket());
  const std::uint16_t tx_queues = kind_of(config_.device).paired ? rx_queues_ : 1;
  if (config_.device.kind == Kind::af_xdp && !in_umem(*pool_))
    throw std::runtime_error(fmt::format(
        "port {}: its packet buffers do not fit af_xdp, since the router started without an af_xdp "
        "port; restart it",
        config_.name));
  if (config_.device.kind == Kind::af_xdp) wait_for_xdp_queues(interface_, rx_queues_, last_xdp_closed);
  SocketWatch sockets(kind_of(config_.device).family);
  for (std::uint16_t q = 0; q < rx_queues_; ++q) {
    const auto set_up = [&] { return rte_eth_rx_queue_setup(id_, q, rx, node, nullptr, pool_); };
    must(config_.device.kind == Kind::af_xdp ? retried(set_up) : set_up(), "set up a receive queue");
    for (const int fd : sockets.appeared()) wakes_.add(q, fd);
  }
  for (std::uint16_t q = 0; q < tx_queues; ++q)
    must(rte_eth_tx_queue_setup(id_, q, tx, node, nullptr), "set up a transmit queue");
}

void DpdkPort::set_up_mtu() {
  if (config_.mtu != kUntouchedMtu) set_mtu(config_.mtu);
}

// Virtual devices may not support MTUs; their frames are as large as their buffers.
void DpdkPort::set_mtu(std::uint16_t mtu) {
  if (config_.device.kind == Kind::memif) return;
  if (mtu_found_ == 0 && !interface_.empty()) mtu_found_ = mtu_of(interface_);
  // DPDK's net_af_packet claims that its device receives 1518 bytes at most.
  const int r = config_.device.kind != Kind::af_packet ? rte_eth_dev_set_mtu(id_, mtu)
                : set_mtu_of(interface_, mtu)          ? 0
                                                       : -errno;
  if (r != -ENOTSUP) must(r, "set the MTU of the device");
}

void DpdkPort::find_interrupts() {
  for (std::uint16_t q = 0; q < rx_queues_; ++q) {
    const int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(id_, q);
    if (fd < 0) return;
    wakes_.add(q, fd);
  }
  interrupts_ = true;
}

void DpdkPort::take_interrupt(std::uint16_t queue) {
  rte_eth_dev_rx_intr_disable(id_, queue);
  eventfd_t ignored;
  for (const int fd : wake_fds(queue)) eventfd_read(fd, &ignored);  // read, or it stays readable
}

void DpdkPort::close() noexcept {
  memif_.reset();
  std::vector<int> sockets;
  for (std::uint16_t q = 0; config_.device.kind == Kind::af_xdp && q < rx_queues_; ++q)
    for (const int fd : wakes_.of(q))
      if (std::ranges::find(sockets, fd) == sockets.end()) sockets.push_back(fd);
  UmemRings rings(sockets, *pool_);
  if (id_ != RTE_MAX_ETHPORTS) {
    // The interface may have another name, and another interface its name.
    std::array<char, IF_NAMESIZE> name{};
    if (mtu_found_ != 0 && if_indextoname(static_cast<unsigned>(followed_.index), name.data()) != nullptr)
      set_mtu_of(name.data(), mtu_found_);
    removal_.reset();
    if (started_) rte_eth_dev_stop(id_);
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(id_, &info) == 0 && info.device != nullptr) {
      // net_virtio disables interrupts when it stops and again when it closes, and EAL logs the second time
      // as an error.
      const int level = rte_log_get_level(RTE_LOGTYPE_EAL);
      if (info.driver_name == std::string_view("net_virtio"))
        rte_log_set_level(RTE_LOGTYPE_EAL, RTE_LOG_CRIT);
      rte_eth_dev_close(id_);
      rte_log_set_level(RTE_LOGTYPE_EAL, static_cast<std::uint32_t>(level));
      rte_dev_remove(info.device);
    }
  }
  id_ = RTE_MAX_ETHPORTS;
  rings.give_back();
  if (!sockets.empty()) last_xdp_closed = std::chrono::steady_clock::now();
  close_bpf(programs_);
}

bool DpdkPort::link_up() const {
  if (memif_) return memif_->connected();
  if (!interface_.empty()) return interface_up(interface_);
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

std::optional<Rate> DpdkPort::speed() const {
  constexpr std::uint64_t kMega = 1'000'000;
  if (memif_) return std::nullopt;
  if (!interface_.empty()) {
    const auto speed = speed_of(interface_);
    return speed ? std::optional(Rate::bits_per_second(*speed * kMega)) : std::nullopt;
  }
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0 || link.link_speed == RTE_ETH_SPEED_NUM_NONE ||
      link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
    return std::nullopt;
  return Rate::bits_per_second(link.link_speed * kMega);
}

std::uint64_t DpdkPort::rx_missed() const {
  if (memif_) return memif_->missed();
  rte_eth_stats stats{};
  return rte_eth_stats_get(id_, &stats) == 0 ? stats.imissed + stats.rx_nombuf : 0;
}

}  // namespace surety
