// SPDX-License-Identifier: BSD-3-Clause
// Errors of the distances between a flow's packets.
#pragma once

#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "endpoints/dpdk/memory_port.h"

namespace surety::endpoints {

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

}  // namespace surety::endpoints
