// SPDX-License-Identifier: BSD-3-Clause
// The decision about a packet that arrives at a queue: RIO's verdict first, then whether there is room.
// Queues of any storage share it: the ring of active_queue.h, the chunks of hierarchy/pooled_queue.h.
//
// Guarantees: RIO sees every arrival. A packet that it refuses is `early` or `forced` even when the queue is
// full; one that it accepts or would mark, but for which there is no room, is `overflow` (and not marked).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "aqm/params.h"
#include "aqm/queue_measure.h"
#include "aqm/rio.h"
#include "conditioners/counter_table.h"
#include "conditioners/csa_controller.h"
#include "conditioners/packet.h"
#include "conditioners/units.h"

namespace surety {

// Outcome of an arrival.
struct ArrivalResult {
  DropReason drop = DropReason::none;  // early, forced, overflow or none
  bool mark = false;                   // set CE on it (it was accepted)
  // CSA's congestion event for this OUT arrival, refused ones included: judged on the average that counts it.
  // None without RIO.
  CongestionEvent event = CongestionEvent::none;
};

// Action for the caller on one packet of a burst: drop, mark, or signal.
struct ArrivalNotice {
  std::uint8_t index = 0;  // position of the packet in the burst
  ArrivalResult result;
  bool needed() const {
    return (result.drop != DropReason::none) | result.mark | (result.event != CongestionEvent::none);
  }
};

// clang-format off
#define SURETY_QUEUE_COUNTERS(X)                                                                               \
  X(arrivals,       "surety_queue_arrivals_total", "Packets that arrived at the queue, including drops.", "ARRIVALS") \
  X(departures,     "surety_queue_departures_total",     "Packets that left the queue.", "")                   \
  X(departed_bytes, "surety_queue_departed_bytes_total", "Bytes of IP packets that left the queue.", "")       \
  X(early_drops,    "surety_queue_early_drops_total", "Packets dropped between RIO's min and max.", "EARLY")   \
  X(forced_drops,   "surety_queue_forced_drops_total", "Packets dropped with RIO's average above max.", "FORCED") \
  X(overflow_drops, "surety_queue_overflow_drops_total", "Packets dropped because the queue was full.", "OVERFLOW") \
  X(ecn_marks,      "surety_queue_ecn_marks_total", "Packets marked CE in place of an early drop.", "MARKED")
// clang-format on
struct QueueCounters {
  SURETY_COUNTERS(QueueCounters, SURETY_QUEUE_COUNTERS)
  // Packets in the queue.
  std::uint64_t waiting() const {
    return arrivals - departures - early_drops - forced_drops - overflow_drops;
  }
};

// The decision on one arrival, without a branch on the verdict, which no predictor can learn.
struct Admission {
  RioVerdict verdict;
  CongestionEvent event;
  bool full;

  bool accepted() const { return verdict < RioVerdict::early; }
  bool overflow() const { return accepted() & full; }
  bool admitted() const { return accepted() & !full; }
  bool marked() const { return (verdict == RioVerdict::mark) & !full; }
  ArrivalResult result() const {
    constexpr std::array<DropReason, 4> kByVerdict{DropReason::none, DropReason::none, DropReason::early,
                                                   DropReason::forced};
    return {overflow() ? DropReason::overflow : kByVerdict[static_cast<std::size_t>(verdict)], marked(),
            event};
  }
  // In counters of the arrival's precedence; the arrival itself counts elsewhere.
  template <class Counters>
  void count(Counters& counters) const {
    counters.early_drops += verdict == RioVerdict::early;
    counters.forced_drops += verdict == RioVerdict::forced;
    counters.overflow_drops += overflow();
    counters.ecn_marks += marked();
  }
};

// Rules of a queue: its own, or those of all queues with the same parameters.
struct QueueRules {
  explicit QueueRules(const ActiveQueueParams& params) : measure(params) {
    if (params.rio) rio.emplace(*params.rio);
  }
  QueueMeasure measure;
  std::optional<RioRules> rio;  // none: tail drop
};

// The content of a queue: packets, and bytes as queue_measure.h counts them.
struct QueueContent {
  std::uint32_t packets, in_packets, counted, in_counted;
};

// Counters and state of a queue, for readings.
struct QueueStatus {
  std::array<QueueCounters, kDropPrecedences> counters;
  std::array<std::uint32_t, kDropPrecedences> depth{};  // packets
  double level = 0;                                     // packets, as the limit counts them
  bool has_rio = false, congested = false;              // congested: at the last arrival or settle()
  double average_in = 0, average_total = 0;             // packets; 0 without RIO
};

// State of a queue's decisions, in a cache line.
struct QueueDecision {
  explicit QueueDecision(std::uint64_t seed) : rio(seed) {}

  // `no_place()`: the storage has none, whatever the limit is.
  template <class NoPlace>
  [[gnu::always_inline]] Admission arrive(const QueueRules& rules, const QueueContent& waits,
                                          Precedence precedence, bool ecn_capable, NoPlace no_place,
                                          Time now) {
    auto verdict = RioVerdict::accept;
    auto event = CongestionEvent::none;
    if (rules.rio) {
      verdict =
          rules.rio->arrive(rio, precedence, ecn_capable, in_level(rules, waits), level(rules, waits), now);
      if (precedence == Precedence::out) event = rio.detector.out_arrival(rules.rio->congested(rio));
    }
    const bool full = rules.measure.full(precedence, waits.packets, waits.counted);
    return {verdict, event, full || no_place()};
  }
  // After departures of one precedence, which left `waits`.
  void depart(const QueueRules& rules, Precedence departed, std::uint64_t packets, const QueueContent& waits,
              Time now) {
    if (rules.rio && packets > 0) rio.depart(departed, waits.in_packets, waits.packets, now);
  }
  // Decays the averages of an idle queue up to `now`.
  void settle(const QueueRules& rules, const QueueContent& waits, Time now) {
    if (rules.rio) rules.rio->settle(rio, waits.in_packets, waits.packets, now);
  }
  // Follows other rules; a RIO that stays keeps its averages, a new one begins as `fresh`.
  void adopt(const QueueRules& before, const QueueRules& after, const RioState& fresh,
             const QueueContent& waits, Time now) {
    settle(before, waits, now);
    if (after.rio && !before.rio) rio = fresh;
  }

  // Probability that arrive() would refuse or mark a packet now.
  double refusal(const QueueRules& rules, const QueueContent& waits, Precedence precedence, bool no_place,
                 Time now) const {
    if (rules.measure.full(precedence, waits.packets, waits.counted) || no_place) return 1;
    if (!rules.rio) return 0;
    return rules.rio->refusal(rio, precedence, in_level(rules, waits), level(rules, waits), now);
  }
  // State at the last arrival or settle(); false without RIO.
  bool congested(const QueueRules& rules) const { return rules.rio && rules.rio->congested(rio); }
  QueueStatus status(const QueueRules& rules, const QueueContent& waits, const QueueCounters& in,
                     const QueueCounters& out, const QueueCounters& red = {}) const {
    const auto reds = static_cast<std::uint32_t>(red.waiting());
    QueueStatus s{{in, out, red},
                  {waits.in_packets, waits.packets - waits.in_packets - reds, reds},
                  level(rules, waits)};
    if (!rules.rio) return s;
    s.has_rio = true;
    s.congested = rules.rio->congested(rio);
    s.average_in = rules.rio->average_in(rio);
    s.average_total = rules.rio->average_total(rio);
    return s;
  }

  static double level(const QueueRules& rules, const QueueContent& waits) {
    return rules.measure.level(waits.packets, waits.counted);
  }
  static double in_level(const QueueRules& rules, const QueueContent& waits) {
    return rules.measure.level(waits.in_packets, waits.in_counted);
  }

  RioState rio;
};

}  // namespace surety
