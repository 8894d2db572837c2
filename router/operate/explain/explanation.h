// SPDX-License-Identifier: BSD-3-Clause
// The trace of a packet through a running router, and its explanation.
//
// trace() uses the data plane's own parts, without changing them. It runs on the worker that owns the parts,
// between two turns: some microseconds, without allocation. The calling thread adds names: explanation().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "router/operate/explain/explain.h"
#include "router/operate/observe/reading_json.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/ingress.h"

namespace surety {

// The trace through one worker's Ingress.
struct IngressTrace {
  struct Filtered {
    std::uint16_t filter = kNoFilter;  // index into Config::filters
    std::uint32_t entry = 0;           // index of the entry, or the number of entries
    bool permit = true;
  };
  ParsedPacket header;
  ParseOutcome parsed;  // vlan_unknown among it
  bool source_accepted = true;
  Filtered filter_in, filter_out;
  std::uint16_t rule = Classifier::kNoRule;
  ClassifyStage::Forecast flow;
  FlowCounters counters;  // the state's, else the flow's
  Duration idle{};
  std::uint32_t held = 0;  // packets of that state
  ConditionStage::Forecast conditioned;
  RouteTarget target;

  bool state_known() const { return flow.id != kNoFlow; }
  std::uint32_t next_hop = kNextHopNone;
  NextHopEntry hop;
};
// Traces `frame`, which arrives by `port`; sets its destination MAC address.
void trace(const Ingress& ingress, std::span<std::uint8_t> frame, PortIndex port, Time now,
           IngressTrace& out);

// True if this worker has a record of the flow.
bool knows(const Ingress& ingress, const FlowKey& key, Time now);

// The trace through the Egress of its port.
struct QueueTrace : QueueStatus {
  bool known = false;        // false: no queue, since the interface was removed
  InterfaceIndex owner = 0;  // owner of the queue: an interface, or the port
  std::uint8_t class_index = 0;
  Precedence precedence = Precedence::out;  // precedence of its DSCP
  std::uint32_t limit = 0;                  // for packets of that precedence
  double refusal = 0;                       // probability
  std::uint32_t waiting = 0;                // packets in all queues of the port
};
// Traces a packet with this DSCP that leaves by `interface`. `snapshot`: the Egress's.
void trace(const Egress& egress, const Snapshot& snapshot, PortIndex port, InterfaceIndex interface,
           std::uint8_t dscp, Time now, QueueTrace& out);

// The answer to a question as JSON: the result of each part of the data plane for the packet, under the
// part's name.
//
// Members that do not apply are left out: no `rule` if none matches, no `contract` if there is no state, no
// `queue` if the packet reaches none. `verdict` is the outcome: `leaves`, `waits`, `dropped` or `kernel`,
// with its reason; `sentence` is the same in words.
struct Traces {
  Question question;
  Arrival arrival;
  std::size_t worker = 0;  // worker of the trace
  IngressTrace ingress;
  std::optional<Prefix> route{};                // nullopt: the control thread has not answered
  std::optional<IpAddress> gateway{};           // nullopt: the destination is on the link
  std::array<QueueTrace, kPrecedences> queues;  // for the packet as IN, and as OUT
};

// The DSCP of the outgoing packet.
std::uint8_t mark_of(const IngressTrace& trace, const Snapshot& snapshot, Precedence precedence);
// True if the packet reaches a queue, or would if its neighbour were resolved.
bool comes_to_queue(const IngressTrace& trace);

Json explanation(const Traces& traces, const Snapshot& snapshot);

// Renders an explanation, or {"error": "..."}, as lines for people.
std::string render_explanation(const Json& answer);

}  // namespace surety
