// SPDX-License-Identifier: BSD-3-Clause
// One core that polls: the loop around all ports, the only reader of the clock, and the life of a run:
// resolve the gateways, send, close.
//
// Single writer of everything it counts (CONTRIBUTING.md rule 9); the observer learns of it by snapshots.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "endpoints/dpdk/sampler.h"
#include "endpoints/dpdk/snapshot.h"
#include "endpoints/dpdk/traffic.h"
#include "endpoints/host/station.h"
#include "router/daemon/ports/clock.h"

namespace surety::endpoints {

// A worker's interface to a port: bursts of mbufs in and out, one indirect call each.
struct FramePort {
  virtual ~FramePort() = default;
  // Fills `room` from the front; the mbufs are the caller's.
  virtual std::size_t receive(std::span<rte_mbuf*> room) = 0;
  // Takes the first n of the burst over and returns n; the others stay the caller's.
  virtual std::size_t transmit(std::span<rte_mbuf*> burst) = 0;
};

// Moves frames between one port and its `Station`. Frames that the device does not take are offered again, in
// order, before new ones are fetched: nothing is dropped here, and nothing is allocated per packet.
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

struct WorkerOptions {
  std::optional<Duration> duration;              // from time 0; none: until all senders are done, or stop()
  bool until_senders_end = true;                 // a run with a duration ends early when all senders are done
  bool gentle = false;                           // leave the core to others while nothing is due
  Duration patience = std::chrono::seconds(10);  // for gateways to answer
  Duration farewell = std::chrono::seconds(2);   // for flows to close
};

class Worker {
 public:
  enum class Outcome : std::uint8_t { running, unresolved, finished };

  // `ports` and `macs` as in the configuration; `pool`: buffers for what is sent.
  Worker(Traffic& traffic, const TscClock& clock, std::span<const std::unique_ptr<FramePort>> ports,
         rte_mempool* pool, SnapshotExchange& exchange, const WorkerOptions& options);

  // The whole run, on the worker's core. The last snapshot is published when it returns `finished`.
  void run();
  // From any thread: close the flows and end.
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  Outcome outcome() const { return outcome_.load(std::memory_order_acquire); }

  // One turn: what came in, what is due. Returns how many frames that were.
  std::size_t turn();

 private:
  bool resolve();
  void send();
  void close();
  bool over(Time now) const;
  void rest(std::size_t frames);
  Time next_wakeup() const;

  Traffic& traffic_;
  const TscClock& clock_;
  SnapshotExchange& exchange_;
  WorkerOptions options_;
  std::vector<PortSample> counters_;
  std::vector<std::unique_ptr<PortLoop>> loops_;
  EndWatch ends_;
  Sampler sampler_;
  Time zero_{};
  std::atomic<bool> stop_{false};
  std::atomic<Outcome> outcome_{Outcome::running};
};

}  // namespace surety::endpoints
