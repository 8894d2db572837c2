// SPDX-License-Identifier: BSD-3-Clause
// Moves frames between one port and its `Station`. Frames that the device does not take are offered again, in
// order, before new ones are fetched: nothing is dropped here, and nothing is allocated per packet.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "endpoints/dpdk/frame_port.h"
#include "endpoints/dpdk/snapshot.h"
#include "endpoints/host/station.h"
#include "router/daemon/ports/clock.h"

namespace surety::endpoints {

class PortLoop {
 public:
  static constexpr std::size_t kBurst = 64;

  // `pool`: buffers of sent frames. All arguments outlive the loop.
  PortLoop(FramePort& port, Station& station, rte_mempool* pool, const TscClock& clock, PortSample& counters);
  ~PortLoop();
  PortLoop(const PortLoop&) = delete;
  PortLoop& operator=(const PortLoop&) = delete;

  // One burst in; how many frames.
  std::size_t receive();
  // Sends due frames, some bursts at most; returns how many frames the device has taken.
  std::size_t transmit();
  bool backlog() const { return begin_ < end_; }

 private:
  std::size_t flush();
  void refill();

  FramePort& port_;
  Station& station_;
  rte_mempool* pool_;
  const TscClock& clock_;
  PortSample& counters_;
  // mbufs_[begin_, end_) wait for the device; [end_, ready_) are empty buffers with their slots.
  std::array<rte_mbuf*, kBurst> mbufs_{};
  std::array<FrameSlot, kBurst> slots_{};
  std::size_t begin_ = 0, end_ = 0, ready_ = 0;
};

}  // namespace surety::endpoints
