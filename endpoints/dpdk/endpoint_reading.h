// SPDX-License-Identifier: BSD-3-Clause
// Reading of a running `surety-endpoint`: its senders by line of YAML, its sinks by port and protocol, and
// the drops of its ports; and the table of it on a terminal. Sums and means over flows, never single flows
// (router/operate/observe/README.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conditioners/drop_reason.h"
#include "endpoints/engine/engine.h"

namespace surety::endpoints {

inline constexpr std::size_t kFlowStates = 5;
using FlowCounts = std::array<std::uint32_t, kFlowStates>;  // indexed by FlowState

// The mean of what is known; none while nothing is.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ > 0 ? std::optional(sum_ / static_cast<double>(count_)) : std::nullopt;
  }

 private:
  double sum_ = 0;
  std::uint32_t count_ = 0;
};

// One line under `senders`. Counters are sums over its flows since they started, packets and bytes whole IP
// packets; rates are bytes per second, sums over its flows.
struct SenderReading {
  std::string name, protocol;
  FlowCounts flows{};
  std::uint32_t failed = 0;  // closed flows that failed
  std::uint64_t sent_packets = 0, sent_bytes = 0, received_packets = 0, received_bytes = 0;
  std::uint64_t payload_bytes = 0, lost_packets = 0, retransmitted_packets = 0;
  double target = 0;                        // sum over all flows, started or not; 0: no target
  double delivered = 0;                     // in the last second
  Mean respect;                             // RoS so far, of flows with a target
  Mean rtt;                                 // seconds
  Mean loss_event_rate;                     // TFRC, gTFRC
  std::optional<double> allowed_rate;       // X; TFRC, gTFRC
  std::optional<double> broken_guarantees;  // flows with X < g / theta; gTFRC
};

// Sums over the sinks of one port and one transport; flows that are over included.
struct SinkReading {
  std::string port, protocol;
  FlowCounts flows{};
  std::uint64_t received_packets = 0, received_bytes = 0, payload_bytes = 0, lost_packets = 0;
  double delivered = 0;  // in the last second
};

struct EndpointPortReading {
  std::string name;
  std::array<std::uint64_t, kRefusals> refusals{};
  std::array<std::uint64_t, kDropReasons> drops{};  // frames that reached no flow
  std::uint64_t rx_packets = 0, tx_packets = 0;
};

struct EndpointReading {
  std::string version;
  double elapsed = 0;  // seconds since time 0
  std::vector<SenderReading> senders;
  std::vector<SinkReading> sinks;
  std::vector<EndpointPortReading> ports;
};

// The table that `surety-endpoint run` redraws each second: a row per line of YAML and per sink. Rows beyond
// `rows` (title and header included) are left out; a last line says how many.
std::string live_text(const EndpointReading& reading, std::size_t rows);

// Draws each text over the one before, by ANSI controls.
class LiveTable {
 public:
  // Output for the terminal that replaces the last text by `text`, each of whose lines ends with a newline,
  // none wider than the terminal.
  std::string draw(const std::string& text);

 private:
  std::size_t drawn_ = 0;  // lines on the terminal
};

// Cuts every line to `columns` characters.
std::string clipped(const std::string& text, std::size_t columns);

}  // namespace surety::endpoints
