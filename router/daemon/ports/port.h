// SPDX-License-Identifier: BSD-3-Clause
// A port made from one `device:` line: probed, then configured and started, and closed. Devices are DPDK's
// except for memif (router/daemon/memif), since DPDK's driver would trust memif peers.
//
// The constructor opens the device to find its capabilities; start() sets up queues and starts reception.
// Errors are one sentence with the fix, thrown as std::runtime_error by these two; nothing throws afterwards.
#pragma once

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/daemon/linux/bpf_programs.h"
#include "router/daemon/linux/steer.h"
#include "router/daemon/memif/port.h"
#include "router/daemon/ports/interface.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/ports/process_lock.h"
#include "router/daemon/ports/receive_queues.h"
#include "router/daemon/ports/removal_watch.h"
#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/packet_disposal.h"

namespace surety {

// A `null` device of this name receives without end (benchmarks provide the packets); others only discard.
inline constexpr const char* kFeedDevice = "feed";

class DpdkPort {
 public:
  // Probes the device. `pool`: receive buffers, on the device's NUMA node (packet_pool.h). `xdp_program`: the
  // object file that selects the frames of an af_xdp port; default: the router's.
  DpdkPort(const config::Port& config, std::size_t index, rte_mempool* pool,
           const std::string& xdp_program = steer_object_path());
  ~DpdkPort();
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  const PortAbility& ability() const { return ability_; }
  int socket() const;  // NUMA node; the calling core's if the device has none

  // Receives in `rx_queues` queues over which the device spreads packets by `spread` (none: as it likes), and
  // transmits in one. Throws std::runtime_error if the device cannot. Called once.
  void start(std::uint16_t rx_queues = 1, Spread spread = Spread::none);

  // Applies another configuration of the same device: MTU, promiscuous. Throws std::runtime_error if the
  // device cannot; then it is unchanged.
  void change(const config::Port& next);

  // The state of the kernel interface that the port has followed last; index 0: it has no interface.
  const InterfaceState& followed() const { return followed_; }
  // Follows a change of the interface's MTU and MAC address. Workers adopt the MAC address with their next
  // snapshot; they must be updated().
  void follow(const InterfaceState& now);
  // MTU of the interface if it is lower than that of `config`; 0: it is not, or change() will set it.
  std::uint16_t device_mtu(const config::Port& config) const;
  // device_mtu() of a port that is not open yet.
  static std::uint16_t device_mtu_found(const config::Port& config);
  // Limits the frames to a new MTU of the device, which follow() has not followed yet; 0: not known.
  void limit_frames(unsigned mtu);
  // Bytes of the largest frame that the device sends; kAnyFrame: it has no interface of the kernel, whose MTU
  // could be lowered. Thread-safe.
  static constexpr std::uint32_t kAnyFrame = UINT32_MAX;
  std::uint32_t largest_frame() const { return largest_frame_.load(std::memory_order_relaxed); }

  // Sets further MAC addresses whose frames are the port's, at most kVirtualMacs, also in the filter of a
  // NIC. False: there is no room for all of them. Workers may run.
  static constexpr std::size_t kVirtualMacs = 16;
  bool accept(std::span<const MacAddress> virtual_macs);
  bool accepts_others() const { return virtual_count_.load(std::memory_order_relaxed) != 0; }
  // Readdresses received frames for these to the port's own MAC address, so that the parser compares one.
  void readdress(std::span<rte_mbuf* const> burst) const;

  // Prepares for opening devices that another process has just closed.
  static void follow_another();

  // The kernel side of a device of this kind, and its kernel interface (empty: none).
  static KernelPeer peer(const config::Device& device) { return kind_of(device).peer; }
  static std::string interface(const config::Device& device) {
    return kind_of(device).interface ? device.name : std::string();
  }

  // True once the driver has reported that the device is being removed.
  bool removed() const { return removal_ && removal_->removed(); }

  std::uint16_t id() const { return id_; }
  std::uint16_t rx_queues() const { return rx_queues_; }
  const MacAddress& mac() const { return mac_; }
  bool link_up() const;
  std::optional<Rate> speed() const;  // link speed, if the device reports one
  std::uint64_t rx_missed() const;    // lost by the device

  // Each queue has one thread, and so has transmit().
  std::size_t receive(std::uint16_t queue, std::span<rte_mbuf*> room) {
    if (memif_ == nullptr) [[likely]]
      return rte_eth_rx_burst(id_, queue, room.data(), static_cast<std::uint16_t>(room.size()));
    return memif_->receive(queue, room);
  }
  std::size_t receive(std::span<rte_mbuf*> room) { return receive(0, room); }
  // Takes over the first n packets of the burst and returns n; the others stay the caller's.
  std::size_t transmit(std::span<rte_mbuf*> burst) {
    if (memif_ == nullptr) [[likely]]
      return rte_eth_tx_burst(id_, 0, burst.data(), static_cast<std::uint16_t>(burst.size()));
    return memif_->transmit(burst);
  }

  // Descriptors that become readable when packets can be received in `queue`. Empty: the device has none and
  // must be polled.
  std::span<const int> wake_fds(std::uint16_t queue) const { return wakes_.of(queue); }
  // arm() enables interrupts before a worker sleeps, disarm() disables them: of PCI devices and memif peers.
  void arm(std::uint16_t queue) {
    if (interrupts_) rte_eth_dev_rx_intr_enable(id_, queue);
    if (memif_ != nullptr) memif_->arm(queue);
  }
  void disarm(std::uint16_t queue) {
    if (interrupts_) take_interrupt(queue);
    if (memif_ != nullptr) memif_->disarm(queue);
  }

 private:
  void claim_interface();
  void probe(std::size_t index, const std::string& xdp_program);
  void look_at_device();
  void set_mac(const MacAddress& mac);
  bool filter(std::span<const MacAddress> virtual_macs);
  void configure(Spread spread, bool interrupts);
  void set_up_queues();
  void set_up_mtu();
  void set_mtu(std::uint16_t mtu);
  void set_promiscuous(bool on);
  void start_device(Spread spread);
  void start_memif();
  void find_interrupts();
  void take_interrupt(std::uint16_t queue);
  void close() noexcept;
  void must(int result, const std::string& what) const;

  config::Port config_;
  rte_mempool* pool_;
  std::uint32_t ring_frame_;  // bytes, of an af_packet port
  std::string interface_;     // kernel interface; empty: none
  std::unique_ptr<ProcessLock> interface_lock_;
  std::string device_name_;  // DPDK's name of the device
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  std::uint16_t rx_queues_ = 0;
  bool started_ = false;
  unsigned mtu_found_ = 0;  // original MTU of the kernel interface, if it was changed; else 0
  InterfaceState followed_;
  std::atomic<std::uint32_t> largest_frame_ = kAnyFrame;
  PortAbility ability_;
  MacAddress mac_{};
  // MAC addresses as words, whose high 16 bits are zero: for readdress(), which runs on workers.
  std::atomic<std::uint64_t> own_word_ = 0;
  std::array<std::atomic<std::uint64_t>, kVirtualMacs> virtual_words_{};
  std::atomic<std::size_t> virtual_count_ = 0;
  WakeFds wakes_;
  bool interrupts_ = false;
  std::vector<BpfDescriptor> programs_;  // descriptors that the driver leaves open
  std::unique_ptr<memif::Port> memif_;   // replaces DPDK's device
  std::optional<RemovalWatch> removal_;
};

}  // namespace surety
