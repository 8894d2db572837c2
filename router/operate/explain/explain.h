// SPDX-License-Identifier: BSD-3-Clause
// `surety explain`: the path of a packet through a running router, for people or (--json) for programs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "router/operate/observe/telemetry_client.h"

namespace surety {

struct ExplainRequest {
  std::vector<std::string> words{};     // question.h
  std::optional<std::string> router{};  // nullopt: the only one that runs
  bool json = false;                    // explanation.h, indented
};

// Exit status: 0, 1 when no router answers, 2 when such a packet is impossible. Errors go to `err`, as one
// line.
int explain(const ExplainRequest& request, const TelemetryClient& client, std::ostream& out,
            std::ostream& err);

}  // namespace surety
