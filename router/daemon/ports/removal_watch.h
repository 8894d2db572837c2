// SPDX-License-Identifier: BSD-3-Clause
// The removal of an Ethernet port's device, which DPDK reports on a thread of its own: drivers of bifurcated
// devices (mlx5) by RTE_ETH_EVENT_INTR_RMV, the PCI bus by RTE_DEV_EVENT_REMOVE for a device of vfio-pci. The
// kernel keeps the latter until this process has closed it, and workers may use it until then. Devices of
// uio_pci_generic and igb_uio are not reported.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace surety {

class RemovalWatch {
 public:
  // `port`: DPDK's number; `device`: DPDK's name of its device.
  RemovalWatch(std::uint16_t port, std::string device);
  ~RemovalWatch();
  RemovalWatch(const RemovalWatch&) = delete;
  RemovalWatch& operator=(const RemovalWatch&) = delete;

  // Thread-safe.
  bool removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  const std::uint16_t port_;
  const std::string device_;
  std::atomic<bool> removed_ = false;
};

}  // namespace surety
