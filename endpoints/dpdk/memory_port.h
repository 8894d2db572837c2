// SPDX-License-Identifier: BSD-3-Clause
// A cable in memory for benchmarks and tests: what one end transmits, the other receives, after a delay.
#pragma once

#include <vector>

#include "endpoints/dpdk/frame_port.h"
#include "router/daemon/ports/clock.h"

namespace surety::endpoints {

class MemoryPort final : public FramePort {
 public:
  // Called for every frame at the moment when the device takes it.
  struct Tap {
    virtual ~Tap() = default;
    virtual void on_departure(std::span<const std::uint8_t> frame, Time now) = 0;
  };

  // `frames`: a power of two; more that are under way from here are not taken. `delay`: of what departs here.
  MemoryPort(const TscClock& clock, std::size_t frames, Duration delay)
      : clock_(clock), delay_(delay), ring_(frames) {}
  ~MemoryPort() override;
  void connect(MemoryPort& peer) { peer_ = &peer; }
  void tap(Tap* tap) { tap_ = tap; }

  std::size_t receive(std::span<rte_mbuf*> room) override { return peer_->arrivals(room); }
  std::size_t transmit(std::span<rte_mbuf*> burst) override;

 private:
  struct Flight {
    rte_mbuf* mbuf;
    Time due;
  };
  std::size_t arrivals(std::span<rte_mbuf*> room);

  const TscClock& clock_;
  Duration delay_;
  std::vector<Flight> ring_;  // from here to the peer
  std::size_t head_ = 0, tail_ = 0;
  MemoryPort* peer_ = nullptr;
  Tap* tap_ = nullptr;
};

}  // namespace surety::endpoints
