// SPDX-License-Identifier: BSD-3-Clause
// Many runs at once: one thread per core, each with packet buffers of its own that it
// makes once, results in order.
#pragma once

#include <span>
#include <vector>

#include "tests/lab/simulation/simulation.h"

namespace surety::lab {

struct Job {
  std::shared_ptr<const Plan> plan;
  std::uint64_t seed = 1;
  LinkTap* tap = nullptr;  // of `tap_link`
  std::size_t tap_link = 0;
};

struct RunnerOptions {
  unsigned threads = 0;  // 0: default_threads() of lab_dpdk.h; at most kMaxThreads
  // True: running jobs end early (RunResult::interrupted), others are not begun.
  const std::atomic<bool>* stop = nullptr;

  // Neither is called while another call of either goes on, on whatever thread.
  // Part of all jobs done, 0..1 by simulated time, never less than before.
  std::function<void(double)> progress = {};
  // Each result, as soon as those of all jobs before it have been handed over.
  std::function<void(std::size_t job, RunResult&&)> done = {};
};

// Begins jobs in their order. Neither results nor their order depend on the number of threads. When a job or
// `done` throws, no further job is begun, those before it are still handed over, those after it are not, and
// its exception is thrown when all have ended; of several, that of the first job.
void run_jobs(std::span<const Job> jobs, const RunnerOptions& options);

// The length of the longest IP packet that the scenario's senders make; at least kLongestPacket.
std::uint16_t longest_packet(const Scenario& scenario);
// How many packets may be on the way at one time: at least kPoolPackets, and more where there are many hosts.
std::uint32_t pool_packets(const Scenario& scenario);

}  // namespace surety::lab
