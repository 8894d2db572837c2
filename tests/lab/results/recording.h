// SPDX-License-Identifier: BSD-3-Clause
// The runs of one scenario as the console's page reads them: the tables of a router, of which the series of
// the first run stand in the rows, and the tables over all runs as text.
//
//   {"title": ..., "about": ..., "step_seconds": 0.1,
//    "tables": {"contracts": [{"customer": ..., "over_time": {"throughput_bytes_per_second": [...], ...}},
//    ...],
//               "queues": [...], "domains": [...], "aggregates": [...]},
//    "results": [{"title": ..., "columns": [{"title": ..., "number": true}, ...], "rows": [["...", ...],
//    ...]}]}
//
// Rows have the names and units of router/operate/observe/reading_json.h; a flow is a contract, whose
// customer is the sender. `met` is the router's own verdict (conformance), `end_to_end` is about what the
// application got. null: no value. Of very many values in all (kMostValues) some in a row are shown by their
// mean. The same results give the same bytes on every machine.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "tests/lab/results/result.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

inline constexpr std::size_t kMostValues = 2'000'000;

nlohmann::ordered_json recording_of(const Scenario& scenario, std::span<const RunResult> runs,
                                    std::size_t most_values = kMostValues);

}  // namespace surety::lab
