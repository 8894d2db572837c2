// SPDX-License-Identifier: BSD-3-Clause
// What the data plane would do to a packet that came now, asked of its own parts and changing none of them.
//
// For the worker that owns them, between two turns: some microseconds, without allocation. Names are given by
// who asks (explanation.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "router/egress.h"
#include "router/ingress.h"

namespace surety {

// By one worker's Ingress.
struct IngressTrace {
  struct Filtered {
    std::uint16_t filter = kNoFilter;  // index into Config::filters
    std::uint32_t entry = 0;           // of it, or the number of them
    bool permit = true;
  };
  // What the conditioner would say.
  enum class Fate : std::uint8_t { in, out, waits, dropped };

  ParsedPacket header;
  ParseOutcome parsed;  // vlan_unknown among it
  bool source_accepted = true;
  Filtered filter_in, filter_out;
  std::uint16_t rule = Classifier::kNoRule, service = 0;
  bool flow_known = false, state_known = false;  // its record, and that of its state, its contract's
  bool own_state = false;                        // there is a state, known or not
  bool excess = false;                           // the state is that of the rule's excess contract
  FlowCounters counters;                         // of the state, else of the flow
  Duration idle{};
  std::uint32_t held = 0, held_bytes = 0;
  std::array<Meter::Level, 2> buckets{};
  std::uint16_t domain = kNoDomain;
  Ratio alpha;  // that the flow lives by
  Fate fate = Fate::in;
  bool red = false;  // of a meter: beyond both
  RouteTarget target;
  std::uint32_t next_hop = kNextHopNone;
  NextHopEntry hop;
};
// `frame` came in by `port`, and is given its address.
void trace(const Ingress& ingress, std::span<std::uint8_t> frame, PortIndex port, Time now,
           IngressTrace& out);

// Whether this worker has a record of a flow.
bool knows(const Ingress& ingress, const FlowKey& key, Time now);

// By the Egress of its port.
struct QueueTrace {
  bool known = false;        // else there is no queue for it: its interface is gone
  InterfaceIndex owner = 0;  // in whose queues it waits: an interface's, or the port's
  std::uint8_t class_index = 0;
  Precedence precedence = Precedence::out;  // that its DSCP says
  std::array<std::uint32_t, kPrecedences> depth{};
  double level = 0;         // packets, as the limit and RIO count them (queue_measure.h)
  std::uint32_t limit = 0;  // for packets of that precedence
  bool rio = false;
  double average_in = 0, average_total = 0;
  double refusal = 0;         // probability
  std::uint32_t waiting = 0;  // at the port, all queues
};
// A packet with this DSCP that leaves by `interface`. `snapshot`: that the Egress goes by.
void trace(const Egress& egress, const Snapshot& snapshot, PortIndex port, InterfaceIndex interface,
           std::uint8_t dscp, Time now, QueueTrace& out);

}  // namespace surety
