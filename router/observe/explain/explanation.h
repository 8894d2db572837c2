// SPDX-License-Identifier: BSD-3-Clause
// The answer to a question as JSON: what each part of the data plane says of the packet, by its name.
//
// Members that do not apply are left out: no `rule` where none matches, no `contract` where nothing is kept,
// no `queue` where it does not come to one. `verdict` says how it ends: `leaves`, `waits`, `dropped` or
// `kernel`, with its reason; `sentence` says it in words.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "router/observe/explain/packet_trace.h"
#include "router/observe/explain/question.h"
#include "router/observe/reading_json.h"

namespace surety {

struct Traces {
  Question question;
  Arrival arrival;
  std::size_t worker = 0;  // whose trace it is
  IngressTrace ingress;
  std::optional<Prefix> route{};                // none: nobody could be asked
  std::optional<IpAddress> gateway{};           // none: the destination is on the link
  std::array<QueueTrace, kPrecedences> queues;  // as it leaves IN, and OUT
};

// The DSCP that it leaves with.
std::uint8_t mark_of(const IngressTrace& trace, const Snapshot& snapshot, Precedence precedence);
// Whether it comes to a queue, or would if its neighbour were known.
bool comes_to_queue(const IngressTrace& trace);

Json explanation(const Traces& traces, const Snapshot& snapshot);

// That answer, or one {"error": "..."}, as lines for people.
std::string render_explanation(const Json& answer);

}  // namespace surety
