// SPDX-License-Identifier: BSD-3-Clause
// The series of the runs of one scenario as CSV (RFC 4180): a header, then a line for each time, seed and
// row; the time comes first. What has no value is empty.
#pragma once

#include <span>
#include <string>

#include "tests/lab/results/result.h"

namespace surety::lab {

std::string flows_csv(std::span<const RunResult> runs);
std::string queues_csv(std::span<const RunResult> runs);
std::string domains_csv(std::span<const RunResult> runs);
std::string aggregates_csv(std::span<const RunResult> runs);

}  // namespace surety::lab
