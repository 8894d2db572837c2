// SPDX-License-Identifier: BSD-3-Clause
// Tends all memif ports of this process from inside DPDK's interrupt thread.
//
// The driver handles its control sockets there, and when a peer has gone it unmaps the shared memory at once,
// under the hands of a worker in the middle of a burst. So the thread spends its time in an interrupt of
// ours: it watches the sockets, shuts the workers out when one of them has something to say, and only then
// goes back to let the driver hear it. Other drivers' interrupts and alarms wait for a second at most.
//
// Once there has been a memif port, the thread never leaves for good: with the last one gone it waits here,
// because rte_eal_cleanup() frees the memory of interrupts that it would walk over (the driver leaves its
// listening socket among them).
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "router/process/fd.h"

namespace surety {

class MemifLink;

class MemifKeeper {
 public:
  // The one of this process, for as long as it lives. std::runtime_error where DPDK takes no interrupt.
  static MemifKeeper& instance();
  MemifKeeper(const MemifKeeper&) = delete;
  MemifKeeper& operator=(const MemifKeeper&) = delete;

  // Tended from now on, until removed.
  void add(MemifLink& link);
  void remove(MemifLink& link);

 private:
  using Clock = std::chrono::steady_clock;
  MemifKeeper();
  static void interrupt(void* self);
  void come_back();
  void watch();
  bool wait_for_control(const std::vector<std::string>& links);
  std::vector<std::string> paths();
  void tend();
  void shut_out();
  void let_in();

  Fd always_;         // always readable: the thread comes back here
  Fd changed_;        // readable: there are other links now
  std::mutex mutex_;  // of links_
  std::vector<MemifLink*> links_;
  int passes_ = 0;  // of the interrupt thread's own work, before workers may go on
};

// The control sockets of memif connections by these paths, of either side: listening or connected.
std::vector<int> control_sockets(const std::vector<std::string>& paths);

}  // namespace surety
