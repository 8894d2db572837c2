// SPDX-License-Identifier: BSD-3-Clause
// The devices of a router's ports, indexed by place: opened and closed one by one, readable from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "router/daemon/linux/kernel_devices.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/port.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// A change of a port's device by another program.
struct DeviceChange {
  std::size_t place = 0;
  bool gone = false;              // deleted, renamed or removed: the port is missing now
  bool mtu = false, mac = false;  // changes of
  MacAddress mac_before{};
};

// A device could not be opened or changed.
struct PortError : std::runtime_error {
  PortError(std::string name, const std::string& what) : std::runtime_error(what), port(std::move(name)) {}
  std::string port;
};

class PortSet {
 public:
  explicit PortSet(const Pools& pools) : pools_(pools) {}

  // Indexed by place; nullptr: not open. Ports that workers use may be touched by workers only.
  std::span<const std::unique_ptr<DpdkPort>> all() const { return ports_; }
  bool is_open(std::size_t place) const { return ports_[place] != nullptr; }
  // True if the device did not exist when it was to be opened, and has not appeared since.
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
  // True if an open port has the device, so that it cannot be opened twice.
  bool in_use(const config::Device& device) const;

  // True if the port's device is gone, and not closed yet.
  bool is_lost(std::size_t place) const { return lost_[place].port != nullptr; }

  // Probes the device; start() comes next. Throws std::runtime_error, and then nothing is open.
  void open(const config::Port& port, std::size_t place);
  void start(std::size_t place, const WorkPlan::Port& plan);
  // Closes a port that no worker uses. The kernel's interface gets its settings back.
  void close(std::size_t place);
  void close_all();
  // Closes the ports that `config` no longer has.
  void close_removed(const config::Config& config);
  // The workers are about to adopt a snapshot without the devices that are gone.
  void detach_lost();
  // Closes the detached ones, once no worker uses them.
  void close_lost();
  // Changes the settings of all ports that are in both configurations, or of none: then it throws PortError.
  void change(const config::Config& now, const config::Config& next);

  // Follows what other programs have changed of the devices of open ports, and returns the changes that
  // concern the ports, an MTU until `config` has it. A port whose device is gone is missing afterwards;
  // workers use the device until their next snapshot. The workers must be updated().
  std::vector<DeviceChange> follow_devices(const config::Config& config);
  // Enters the MTUs of devices into a configuration, before change() applies it.
  void note_device_mtus(config::Config& config) const;

  // Capabilities of each port; for a port that is not open only whether it exists.
  std::vector<PortAbility> abilities(const config::Config& config) const;
  // Reads the devices' statistics. Thread-safe.
  void read(std::span<PortReading> rows) const;
  // The number of ports with a link. Thread-safe.
  std::size_t up() const;

 private:
  // A port whose device is gone. The settings outlive the port.
  struct Lost {
    std::optional<InterfaceSettings> settings;
    std::unique_ptr<DpdkPort> port;
    bool detached = false;
  };
  void lose(std::size_t place);

  const Pools& pools_;
  std::array<std::optional<InterfaceSettings>, kMaxPorts> settings_;  // outlive the ports
  std::array<std::unique_ptr<DpdkPort>, kMaxPorts> ports_;
  std::array<Lost, kMaxPorts> lost_;
  std::array<config::Device, kMaxPorts> devices_;
  std::array<std::atomic<bool>, kMaxPorts> missing_{};
  mutable std::mutex mutex_;               // guards started_ against readers on other threads
  std::array<bool, kMaxPorts> started_{};  // may be read
};

// The devices that a reload opens: closed again unless it succeeds.
class PortOpening {
 public:
  explicit PortOpening(PortSet& ports) : ports_(ports) {}
  ~PortOpening();
  PortOpening(PortOpening&&) = default;

  // Opens all devices that are not open, except those still missing, PCI devices that were missing, or,
  // without `missing_too`, all that were missing; true: some were skipped because others use them. Throws
  // PortError, as start() does.
  bool open(const config::Config& config, bool missing_too = true);
  void start(const config::Config& config, const WorkPlan& plan) const;
  void keep() {
    opened_.clear();
    were_missing_.clear();
  }

 private:
  PortSet& ports_;
  std::vector<std::size_t> opened_, were_missing_;  // were_missing_: are so again unless they are kept
};

}  // namespace surety
