// SPDX-License-Identifier: BSD-3-Clause
// One run: a scenario in virtual time, deterministic for (scenario, seed).
//
// Single-threaded; several may run at the same time in one process, each with a pool of its own.
// DPDK must be running (lab_dpdk.h).
#pragma once

#include "tests/lab/results/result.h"
#include "tests/lab/simulation/lab_dpdk.h"
#include "tests/lab/simulation/plan.h"
#include "tests/lab/simulation/run_options.h"
#include "tests/lab/simulation/scenario_error.h"

namespace surety::lab {

// Throws ScenarioError when packet buffers run out.
RunResult run(const Plan& plan, PacketPool& pool, const RunOptions& options);

}  // namespace surety::lab
