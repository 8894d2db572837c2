// SPDX-License-Identifier: BSD-3-Clause
// One run as the JSON object that `surety-lab run --json` prints on a line.
//
// The keys and their order are part of the interface: those of the README first, further ones after them.
// Rates are whole bits per second, times seconds with nine decimals, ratios and packet averages have six;
// null: no such value. The same result gives the same bytes on every machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/lab/results/result.h"

namespace surety::lab {

nlohmann::ordered_json to_json(const RunResult& run);
// The same, with "sample_s" and in each row its series: one value per sample, null: nothing to show.
nlohmann::ordered_json with_series(const RunResult& run);

// `value` with so many decimals (0: a whole number); null when it is not finite.
nlohmann::ordered_json rounded(double value, int decimals);

// On one line, newline included. Names that are not UTF-8 show replacement characters.
std::string to_line(const nlohmann::ordered_json& json);

}  // namespace surety::lab
