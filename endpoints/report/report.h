// SPDX-License-Identifier: BSD-3-Clause
// Result of a run: per flow the target, what was delivered, and whether it is enough; as JSON and text.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "endpoints/engine/refusal.h"
#include "endpoints/report/flow_track.h"

namespace surety::endpoints {

struct Report {
  double seconds = 0;                // duration of the run
  std::vector<FlowResult> flows;     // flows of our senders, those of one line of YAML one after the other
  std::vector<FlowResult> accepted;  // flows at our sinks whose senders are elsewhere
  std::array<std::uint64_t, kRefusals> refusals{};
  double tolerance = 0.04;

  bool kept() const;  // every flow with a target
  // One object: version (of this format: 1), duration_s, tolerance, kept, flows, accepted, refusals. A flow
  // has the keys of surety-lab: name, protocol, target_bps, delivered_bps, throughput_bps (what arrived),
  // ...; what is not known is null.
  std::string json() const;
  // Tables of flows, refusals, and a verdict: a line for each missed target. More than 8 flows of one line of
  // YAML are one row with their least, mean and greatest. The throughput is shown beside the delivered rate
  // where they differ by half a percent.
  std::string text() const;
};

}  // namespace surety::endpoints
