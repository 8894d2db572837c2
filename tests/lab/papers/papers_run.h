// SPDX-License-Identifier: BSD-3-Clause
// Runs experiments: every (experiment, seed, variant, point) is a job,
// and all cores stay busy from the first to the last.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <vector>

#include "tests/lab/papers/papers_run_collect.h"
#include "tests/lab/papers/papers_run_files.h"
#include "tests/lab/simulation/runner.h"

namespace surety::lab {

// What runs scenarios.
struct PapersEngine {
  std::function<std::shared_ptr<const Plan>(Scenario)> plan = make_plan;
  std::function<void(std::span<const Job>, const RunnerOptions&)> run = run_jobs;
};

struct PapersRunOptions {
  bool quick = false;
  unsigned threads = 0;                     // as of RunnerOptions
  const std::atomic<bool>* stop = nullptr;  // as there
  std::function<void(double)> progress;     // as there
  std::function<void(const RunResult&)> ran;
  // Each experiment in its order, as soon as its last run is there, or with what there is when it was
  // stopped. Never two calls at a time, nor while one of the others goes on.
  std::function<void(const Paper&, const ExperimentResult&)> done;
  PapersEngine engine{};
};

class PapersRun {
 public:
  // `papers` outlive it.
  PapersRun(std::span<const Paper> papers, PapersRunOptions options);
  ~PapersRun();

  // Reads all scenarios, so that an error does not wait for its turn.
  // False: `errors` says what is wrong with them.
  bool read(const PapersFiles& files, std::ostream& errors);
  std::uint16_t longest_packet() const;  // of the scenarios, for start_dpdk()
  std::size_t runs() const;
  // Once, after DPDK was started. Throws ScenarioError, which names the experiment,
  // and what run_jobs() throws.
  void run();

 private:
  struct Part;  // an experiment
  struct Origin {
    std::size_t part = 0, variant = 0, point = 0, seed = 0;  // indices
  };

  void plan(std::size_t part);
  void finish_before(std::size_t part);

  PapersRunOptions options_;
  std::vector<Part> parts_;
  std::size_t finished_ = 0;  // parts
  std::vector<Job> jobs_;
  std::vector<Origin> origins_;  // of the jobs
};

}  // namespace surety::lab
