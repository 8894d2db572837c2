// SPDX-License-Identifier: BSD-3-Clause
// Counters of the data plane: 64-bit numbers with one writer, the worker that owns them.
//
// A counter is one line of a list (counter_table.h). Between two turns of the worker loop no packet is
// missing, per port and in total:
//   ingress port:  rx + fragments = drops of ingress stages + punted + held + forwarded + signals
//   egress port:   enqueued = drops of egress stages + queued + tx
//   together:      sum of forwarded + sum of originated = sum of enqueued + sum of (handed_over - taken_over)
// handed_over - taken_over are the packets that workers have handed over to the owners of ports, which have
// not taken them yet.
#pragma once

#include <array>
#include <cstdint>

#include "conditioners/counter_table.h"
#include "conditioners/drop_reason.h"
#include "conditioners/packet.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// clang-format off
#define SURETY_PORT_COUNTERS(X)                                                                                \
  X(rx_packets, "surety_port_rx_packets_total", "Packets received.", "RX")                                     \
  X(rx_bytes,   "surety_port_rx_bytes_total",   "Bytes of frames received, without FCS.", "RX BYTES")          \
  X(tx_packets, "surety_port_tx_packets_total", "Packets transmitted.", "TX")                                  \
  X(tx_bytes,   "surety_port_tx_bytes_total",   "Bytes of frames transmitted, without FCS.", "TX BYTES")       \
  X(forwarded,  "surety_port_forwarded_packets_total", "Packets received here and handed to an egress port.", "FORWARDED") \
  X(signals,    "surety_port_signals_total",                                                                   \
                "Congestion signals received here that ended in this router and were accepted.", "")           \
  X(fragments,  "surety_port_fragments_total",                                                                 \
                "Additional packets that fragmentation made of packets received here.", "")                    \
  X(enqueued,   "surety_port_enqueued_packets_total", "Packets that reached the egress of this port.", "")     \
  X(originated, "surety_port_originated_packets_total",                                                        \
                "Packets of the router itself (signals, frames of the kernel) handed to this egress port.", "") \
  X(held,       "surety_port_held_packets", "Packets received here that wait in input buffers.", "HELD")
// clang-format on
struct PortCounters {
  SURETY_COUNTERS(PortCounters, SURETY_PORT_COUNTERS)
  // Packets that other workers have handed over to the worker that owns this egress port, and those that this
  // worker has taken over. Their difference is shown.
  std::uint64_t handed_over = 0, taken_over = 0;
  // Indexed by reason. The stage of a drop reason determines whether the port counts as ingress or as egress;
  // the other two are ingress counters.
  std::array<std::uint64_t, kDropReasons> drops{};
  std::array<std::uint64_t, kPuntReasons> punted{};
  std::array<std::uint64_t, kDegradeReasons> degraded{};  // forwarded as best effort
};

// A new port has taken the index of a removed one. `gone` takes over the counts, except packets received by
// the removed port that are still held: these count for the new port.
inline void start_anew(PortCounters& c, PortCounters& gone) {
  PortCounters fresh;
  fresh.rx_packets = fresh.held = c.held;
  c.rx_packets -= c.held;
  c.held = 0;
  for (const auto& info : PortCounters::table()) gone.*info.member += c.*info.member;
  gone.handed_over += c.handed_over;
  gone.taken_over += c.taken_over;
  const auto add = [](auto& to, const auto& of) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += of[i];
  };
  add(gone.drops, c.drops);
  add(gone.punted, c.punted);
  add(gone.degraded, c.degraded);
  c = fresh;
}

// A service's packets, at its conditioners and behind. Offered: passed, dropped or held; delivered: passed
// and not lost.
// clang-format off
#define SURETY_SERVICE_COUNTERS_BY_PRECEDENCE(X)                                                               \
  X(packets,    "surety_service_packets_total", "Packets that passed the conditioner.", "")                    \
  X(bytes,      "surety_service_bytes_total",   "Bytes of IP packets that passed the conditioner.", "")        \
  X(lost,       "surety_service_lost_packets_total", "Packets dropped behind the conditioner.", "")            \
  X(lost_bytes, "surety_service_lost_bytes_total", "Bytes of IP packets dropped behind the conditioner.", "")
#define SURETY_SERVICE_COUNTERS(X)                                                                             \
  X(dropped,    "surety_service_dropped_packets_total", "Packets dropped by the conditioner.", "DROPPED")      \
  X(dropped_bytes, "surety_service_dropped_bytes_total", "Bytes of IP packets dropped by the conditioner.", "") \
  X(held,       "surety_service_held_packets", "Packets in input buffers.", "HELD")                            \
  X(contracts,  "surety_service_contracts", "Contracts in use, each with the rate of the service.", "CONTRACTS") \
  X(flows,      "surety_flows", "Flows in the flow table.", "FLOWS")
// clang-format on
struct ServiceCounters {
#define X(name, metric, help, column) std::array<std::uint64_t, kPrecedences> name{};
  SURETY_SERVICE_COUNTERS_BY_PRECEDENCE(X)
#undef X
  SURETY_COUNTERS(ServiceCounters, SURETY_SERVICE_COUNTERS)
  static constexpr auto table_by_precedence() {
    using Self = ServiceCounters;
    using Info = CounterInfo<Self, std::array<std::uint64_t, kPrecedences>>;
    return std::to_array<Info>({SURETY_SERVICE_COUNTERS_BY_PRECEDENCE(SURETY_COUNTER_INFO)});
  }
};

// clang-format off
#define SURETY_AGGREGATE_COUNTERS(X)                                                                           \
  X(remarked,   "surety_ard_remarked_total", "IN packets remarked OUT.", "REMARKED")                           \
  X(dropped,    "surety_ard_dropped_total",  "Packets dropped early and fairly (P_drop).", "DROPPED")          \
  X(passed_in,  "", "IN packets that stayed IN.", "IN")                                                        \
  X(passed_out, "", "OUT packets, which the marker only meters.", "OUT")
// clang-format on
struct AggregateCounters {
  SURETY_COUNTERS(AggregateCounters, SURETY_AGGREGATE_COUNTERS)
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

// The cycles are one family, surety_worker_cycles_total, by state.
// clang-format off
#define SURETY_WORKER_COUNTERS(X)                                                                              \
  X(busy_cycles, "", "TSC cycles of turns that found packets.", "BUSY CYCLES")                                 \
  X(idle_cycles, "", "TSC cycles of turns that found none.", "IDLE CYCLES")                                    \
  X(turns,       "", "Turns of the worker's loop.", "TURNS")
// clang-format on
struct WorkerCounters {
  SURETY_COUNTERS(WorkerCounters, SURETY_WORKER_COUNTERS)
};

// Cycles and packets per stage. The router has no clock: the driver provides a counter, the lab none.
class StageMeter {
 public:
  using Counter = std::uint64_t (*)();
  explicit StageMeter(Counter counter = nullptr) : counter_(counter) {}

  void start() {
    if (counter_ != nullptr) last_ = counter_();
  }
  // The stage that ran since the last start() or lap() handled `packets`.
  void lap(Stage stage, std::size_t packets) {
    if (counter_ == nullptr) return;
    const std::uint64_t t = counter_();
    counters_.cycles[static_cast<std::size_t>(stage)] += t - last_;
    counters_.packets[static_cast<std::size_t>(stage)] += packets;
    last_ = t;
  }
  const StageCounters& counters() const { return counters_; }

 private:
  Counter counter_;
  std::uint64_t last_ = 0;
  StageCounters counters_;
};

}  // namespace surety
