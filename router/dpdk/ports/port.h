// SPDX-License-Identifier: BSD-3-Clause
// A port made from one `device:` line: probed, then configured and started, and given back. All are DPDK's
// devices, but for memif (router/dpdk/memif), whose peers DPDK's driver would trust.
//
// The constructor opens the device, so that one knows what it can do; start() makes queues and lets packets
// in. Errors are one sentence with the fix, thrown as std::runtime_error by these two; nothing throws
// afterwards.
#pragma once

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/dpdk/memif/port.h"
#include "router/dpdk/ports/port_device.h"
#include "router/dpdk/ports/process_lock.h"
#include "router/dpdk/ports/wake_fds.h"
#include "router/dpdk/ports/work_plan.h"
#include "router/linux/bpf_descriptors.h"
#include "router/linux/steer.h"
#include "router/packet_disposal.h"

namespace surety {

// A `null` device of this name receives without end (benchmarks fill in what); the others only swallow.
inline constexpr const char* kFeedDevice = "feed";

class DpdkPort {
 public:
  // Probes. `pool`: what packets are received into, of the device's NUMA node (pools.h). `xdp_program`: the
  // object file that says which frames of an af_xdp port come here; default: the router's.
  DpdkPort(const config::Port& config, std::size_t index, rte_mempool* pool,
           const std::string& xdp_program = steer_object_path());
  ~DpdkPort();
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  const PortAbility& ability() const { return ability_; }
  int socket() const;  // NUMA node; that of the calling core where the device has none

  // Receives in `rx_queues` queues over which the device spreads packets by `spread` (none: as it likes), and
  // transmits in one. std::runtime_error where the device cannot. Once.
  void start(std::uint16_t rx_queues = 1, Spread spread = Spread::none);

  // Another configuration of the same device: MTU, promiscuous. std::runtime_error where the device cannot;
  // then it is as it was.
  void change(const config::Port& next);

  // Another process has just closed the devices that are to be opened here.
  static void follow_another();

  // What stands behind a device of this kind in the kernel, and which interface (empty: none).
  static KernelPeer peer(const config::Device& device);
  static std::string interface(const config::Device& device);
  static std::string describe(const config::Device& device);  // as in YAML

  std::uint16_t id() const { return id_; }
  std::uint16_t rx_queues() const { return rx_queues_; }
  const MacAddress& mac() const { return mac_; }
  bool link_up() const;
  std::optional<Rate> speed() const;  // of the link, where the device knows
  std::uint64_t rx_missed() const;    // lost before the router saw them

  // Each queue has one thread, and so has transmit().
  std::size_t receive(std::uint16_t queue, std::span<rte_mbuf*> room) {
    if (memif_ == nullptr) [[likely]]
      return rte_eth_rx_burst(id_, queue, room.data(), static_cast<std::uint16_t>(room.size()));
    return memif_->receive(queue, room);
  }
  std::size_t receive(std::span<rte_mbuf*> room) { return receive(0, room); }
  // Takes the first n of the burst over and returns n; the others stay the caller's.
  std::size_t transmit(std::span<rte_mbuf*> burst) {
    if (memif_ == nullptr) [[likely]]
      return rte_eth_tx_burst(id_, 0, burst.data(), static_cast<std::uint16_t>(burst.size()));
    return memif_->transmit(burst);
  }

  // What becomes readable when something can be received in `queue`. Empty: this device has nothing of the
  // kind, somebody must look.
  std::span<const int> wake_fds(std::uint16_t queue) const { return wakes_.of(queue); }
  // A sleeping worker's announcement to the device, and its taking back: PCI devices and memif peers
  // interrupt only then.
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
  std::string interface_;  // of the kernel; empty: none
  std::unique_ptr<ProcessLock> interface_lock_;
  std::string device_name_;  // as DPDK knows it
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  std::uint16_t rx_queues_ = 0;
  bool started_ = false;
  unsigned mtu_found_ = 0;  // of the kernel's interface, where we have given it another; else 0
  PortAbility ability_;
  MacAddress mac_{};
  WakeFds wakes_;
  bool interrupts_ = false;
  std::vector<BpfDescriptor> programs_;  // that the driver does not close
  std::unique_ptr<memif::Port> memif_;   // in place of a device of DPDK's
};

}  // namespace surety
