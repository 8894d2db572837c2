// SPDX-License-Identifier: BSD-3-Clause
// Keeps a memif port's connection alive while workers use the port.
//
// DPDK's driver connects a client once, when the device is started, and forgets about it;
// and whoever loses its peer unmaps the shared memory in DPDK's interrupt thread,
// whatever a worker is doing with it. So the device is started again until its server is
// there, and nothing is unmapped while a worker is inside (memif_keeper.h).
#pragma once

#include <rte_ethdev.h>

#include <chrono>
#include <string>

#include "config/config.h"
#include "router/dpdk/ports/burst_gate.h"

namespace surety {

class MemifKeeper;

class MemifLink {
 public:
  // Of a configured port with its queues set up; the gate is opened when packets may pass. Until destroyed.
  MemifLink(std::uint16_t port, const config::Device& device, BurstGate& gate);
  ~MemifLink();  // shuts the gate
  MemifLink(const MemifLink&) = delete;
  MemifLink& operator=(const MemifLink&) = delete;

 private:
  friend class MemifKeeper;
  using Time = std::chrono::steady_clock::time_point;
  const std::string& path() const { return path_; }
  // While DPDK's interrupt thread works: workers stay out.
  void shut_out() { gate_.shut(); }
  void let_in() {
    if (started_) gate_.open();
  }
  void tend(Time now);
  void start(Time now);
  bool connected() const;

  std::uint16_t port_;
  bool server_;
  std::string path_;
  BurstGate& gate_;
  bool started_ = false, was_connected_ = false;
  Time patient_until_{};  // for a connection to come about
  MemifKeeper& keeper_;
};

}  // namespace surety
