// SPDX-License-Identifier: BSD-3-Clause
// What the data plane counts. Plain 64-bit numbers with one writer, the worker that owns them
// (CONTRIBUTING.md rule 9).
//
// The law, exact between two turns of the worker loop (CONTRIBUTING.md rule 4), per port and in total:
//   ingress port:  rx = drops of ingress stages + punted + held + forwarded + signals
//   egress port:   enqueued = drops of egress stages + queued + tx
//   together:      sum of forwarded + sum of originated = sum of enqueued + sum of (given - taken)
// given - taken is what workers have handed over to the owners of ports and those have not taken yet.
#pragma once

#include <array>
#include <cstdint>

#include "conditioners/degrade_reason.h"
#include "conditioners/drop_reason.h"
#include "conditioners/packet.h"
#include "router/wire/headers.h"

namespace surety {

struct PortCounters {
  std::uint64_t rx_packets = 0, rx_bytes = 0;  // bytes of frames, as ethtool counts them (without FCS)
  std::uint64_t tx_packets = 0, tx_bytes = 0;
  std::uint64_t forwarded = 0;   // as ingress: handed to an egress
  std::uint64_t signals = 0;     // as ingress: congestion signals that ended here and were not refused
  std::uint64_t enqueued = 0;    // as egress: taken over
  std::uint64_t given = 0;       // as egress: handed over to the worker that owns it
  std::uint64_t taken = 0;       // as egress: of that, by the owner
  std::uint64_t originated = 0;  // as egress: of our own, handed to it: signals, what the kernel sends
  std::uint64_t held = 0;        // as ingress, now: waiting in input buffers
  std::array<std::uint64_t, kDropReasons>
      drops{};  // by reason; the stage tells whether as ingress or as egress
  std::array<std::uint64_t, kPuntReasons> punted{};
  std::array<std::uint64_t, kDegradeReasons> degraded{};  // as ingress: went on as best effort, by reason
};

struct ServiceCounters {
  std::array<std::uint64_t, kPrecedences> packets{}, bytes{};  // conditioned and let go, by precedence
  std::uint64_t dropped = 0;                                   // by the conditioner
  std::uint64_t held = 0;                                      // now
  std::uint64_t contracts = 0;  // now: conditioner states alive, each worth `committed`
  std::uint64_t flows = 0;      // now: flows in the table
};

// clang-format off
#define SURETY_STAGES(X) X(rx) X(parse) X(classify) X(route) X(condition) X(rewrite) X(enqueue) X(dequeue) X(tx) X(other)
// clang-format on
enum class Stage : std::uint8_t {
#define X(name) name,
  SURETY_STAGES(X)
#undef X
      count,
};
inline constexpr std::size_t kStages = static_cast<std::size_t>(Stage::count);
inline constexpr std::array<std::string_view, kStages> kStageNames{{
#define X(name) #name,
    SURETY_STAGES(X)
#undef X
}};

struct StageCounters {
  std::array<std::uint64_t, kStages> cycles{}, packets{};
};

struct WorkerCounters {
  std::uint64_t busy_cycles = 0, idle_cycles = 0, turns = 0;
};

}  // namespace surety
