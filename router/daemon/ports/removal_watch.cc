// SPDX-License-Identifier: BSD-3-Clause
#define ALLOW_EXPERIMENTAL_API  // rte_dev_event_callback_register(), of DPDK 18.05

#include "router/daemon/ports/removal_watch.h"

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace surety {

namespace {

int on_port(std::uint16_t, rte_eth_event_type, void* removed, void*) {
  static_cast<std::atomic<bool>*>(removed)->store(true, std::memory_order_relaxed);
  return 0;
}

// The watches of all devices: DPDK 22.11 ends all callbacks when one of them is unregistered with the name of
// its device, so there is one, which stays.
class Devices {
 public:
  static Devices& all() {
    static Devices devices;
    return devices;
  }
  void add(const std::string& device, std::atomic<bool>& removed) {
    const std::lock_guard lock(mutex_);
    removed_[device] = &removed;
  }
  void remove(const std::string& device) {
    const std::lock_guard lock(mutex_);
    removed_.erase(device);
  }

 private:
  // Without memory for the callback removals are not reported.
  Devices() { rte_dev_event_callback_register(nullptr, on_device, this); }

  static void on_device(const char* device, rte_dev_event_type event, void* devices) {
    if (event == RTE_DEV_EVENT_REMOVE) static_cast<Devices*>(devices)->report(device);
  }
  void report(const std::string& device) {
    const std::lock_guard lock(mutex_);
    if (const auto at = removed_.find(device); at != removed_.end())
      at->second->store(true, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::map<std::string, std::atomic<bool>*> removed_;  // the key is the name of the device
};

}  // namespace

RemovalWatch::RemovalWatch(std::uint16_t port, std::string device) : port_(port), device_(std::move(device)) {
  rte_eth_dev_callback_register(port_, RTE_ETH_EVENT_INTR_RMV, on_port, &removed_);
  Devices::all().add(device_, removed_);
}

// -EAGAIN: the callback is running.
RemovalWatch::~RemovalWatch() {
  while (rte_eth_dev_callback_unregister(port_, RTE_ETH_EVENT_INTR_RMV, on_port, &removed_) == -EAGAIN)
    std::this_thread::yield();
  Devices::all().remove(device_);
}

}  // namespace surety
