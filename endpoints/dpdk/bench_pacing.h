// SPDX-License-Identifier: BSD-3-Clause
// `surety-endpoint bench --pacing`: how exactly a worker paces 1,000 gTFRC flows of 5 Mbit/s each.
//
// Real time, the product's worker, snapshots read each second as in a run; a memory port that notes when it
// takes each packet. The error of a packet is its distance from the one before it of the same flow, against
// packet size / rate. Budget: 99 of 100 at most 20 us, on an otherwise idle core.
#pragma once

#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "endpoints/dpdk/worker.h"
#include "router/daemon/ports/clock.h"

namespace surety::endpoints {

// Errors of the distances between a flow's packets.

// A cable in memory for benchmarks and tests: what one end transmits, the other receives, after a delay.
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

// Absolute errors between packets of a flow, by its source port; frames of IPv4 over Ethernet.
class PacingMeter final : public MemoryPort::Tap {
 public:
  // Counts frames of `frame` bytes that depart from `from` on, against the distance that is due.
  PacingMeter(std::uint16_t frame, Duration due, Time from);
  void on_departure(std::span<const std::uint8_t> frame, Time now) override;

  std::uint64_t packets() const { return packets_; }
  // The error that this share of all packets stays within, rounded up to kStep.
  Duration quantile(double share) const;
  Duration largest() const { return largest_; }

  static constexpr Duration kStep = Duration(100);

 private:
  static constexpr std::size_t kSteps = 20'000;  // beyond 2 ms: the last
  std::uint16_t frame_;
  Duration due_;
  Time from_;
  std::vector<Time> last_;  // indexed by source port
  std::vector<std::uint32_t> counts_;
  std::uint64_t packets_ = 0;
  Duration largest_{};
};

inline constexpr Duration kPacingBudget = std::chrono::microseconds(20);

// EAL runs. Prints the quantiles beside the budget. Throws std::runtime_error.
void bench_pacing(bool json);

}  // namespace surety::endpoints
