// SPDX-License-Identifier: BSD-3-Clause
// One run: a scenario in virtual time, deterministic for (scenario, seed).
//
// Single-threaded; several may run at the same time in one process, each with a pool of its own. DPDK must be
// running (lab_dpdk.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "tests/lab/results/result.h"
#include "tests/lab/scenario/scenario.h"
#include "tests/lab/simulation/lab_dpdk.h"

namespace surety::lab {

// Sees every frame offered to a link, in order: Ethernet header, IP packet. `direction` 0: forth; `now`
// counts from the start of the run.
struct LinkTap {
  virtual ~LinkTap() = default;
  virtual void on_frame(std::size_t link, int direction, std::span<const std::uint8_t> frame, Time now) = 0;
};

// What is the same for all runs of a scenario (routing, compiled router configurations). Immutable, shared
// between threads. Throws ScenarioError (one sentence) for what only shows here: a host that cannot be
// reached.
class Plan;
struct ScenarioError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline constexpr const char* kNoBuffers =
    "the packet buffers are used up: too many packets are on the way at one time";
std::shared_ptr<const Plan> make_plan(Scenario scenario);
const Scenario& scenario_of(const Plan& plan);

struct RunOptions {
  std::uint64_t seed = 1;
  LinkTap* tap = nullptr;  // of `tap_link`
  std::size_t tap_link = 0;
  const std::atomic<bool>* stop = nullptr;  // true: ends at the next sample, with what is there
  std::function<void(double)> progress;     // called now and then with the part done, 0..1
};

// Throws ScenarioError when packet buffers run out.
RunResult run(const Plan& plan, PacketPool& pool, const RunOptions& options);

}  // namespace surety::lab
