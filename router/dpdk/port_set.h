// SPDX-License-Identifier: BSD-3-Clause
// The devices of a router's ports, by place: opened and closed one by one, and asked from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "router/dpdk/ports/pools.h"
#include "router/dpdk/ports/port.h"
#include "router/linux/interface_settings.h"
#include "router/observe/reading.h"
#include "router/wire/headers.h"

namespace surety {

class PortSet {
 public:
  explicit PortSet(const Pools& pools) : pools_(pools) {}

  // By place; null: there is none, or it is not open. Of a place that workers know, only they touch the port.
  std::span<const std::unique_ptr<DpdkPort>> all() const { return ports_; }
  bool is_open(std::size_t place) const { return ports_[place] != nullptr; }
  // Whether its device was not there when it was to be opened, and has not come since.
  bool is_missing(std::size_t place) const { return missing_[place].load(std::memory_order_relaxed); }
  bool any_missing() const {
    return std::ranges::any_of(missing_, [](const auto& m) { return m.load(); });
  }
  std::ptrdiff_t open_ports() const {
    return std::ranges::count_if(ports_, [](const auto& p) { return p != nullptr; });
  }
  void set_missing(std::size_t place, bool missing) {
    missing_[place].store(missing, std::memory_order_relaxed);
  }
  // Whether a port that is open has the device, so that it cannot be opened twice.
  bool in_use(const config::Device& device) const;

  // The device is probed; start() comes next. Throws std::runtime_error, and then nothing is open.
  void open(const config::Port& port, std::size_t place);
  void start(std::size_t place, const WorkPlan::Port& plan);
  // Nobody receives from it, nor transmits, any more. The kernel's interface is as it was.
  void close(std::size_t place);

  // What each can do; of those that are not open, no more than that they are there.
  std::vector<PortAbility> abilities(const config::Config& config) const;
  // What the devices say of themselves. From any thread.
  void read(std::span<PortReading> rows) const;
  // How many have a link. The same.
  std::size_t up() const;

 private:
  const Pools& pools_;
  std::array<std::optional<InterfaceSettings>, kMaxPorts> settings_;  // outlive the ports
  std::array<std::unique_ptr<DpdkPort>, kMaxPorts> ports_;
  std::array<config::Device, kMaxPorts> devices_;
  std::array<std::atomic<bool>, kMaxPorts> missing_{};
  mutable std::mutex mutex_;               // of what follows, for who reads
  std::array<bool, kMaxPorts> started_{};  // may be asked how they do
};

}  // namespace surety
