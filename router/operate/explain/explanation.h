// SPDX-License-Identifier: BSD-3-Clause
// The answer to a question as JSON: the result of each part of the data plane for the packet, under the
// part's name.
//
// Members that do not apply are left out: no `rule` if none matches, no `contract` if there is no state, no
// `queue` if the packet reaches none. `verdict` is the outcome: `leaves`, `waits`, `dropped` or `kernel`,
// with its reason; `sentence` is the same in words.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "router/operate/explain/packet_trace.h"
#include "router/operate/explain/question.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

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
