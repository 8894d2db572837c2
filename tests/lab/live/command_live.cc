// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/command_live.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/lab/live/live_compare.h"
#include "tests/lab/live/live_limits.h"
#include "tests/lab/live/live_process.h"
#include "tests/lab/live/live_programs.h"
#include "tests/lab/live/live_run.h"
#include "tests/lab/simulation/progress.h"
#include "tests/lab/simulation/runner.h"

namespace surety::lab {

namespace {

constexpr int kDiffers = 1, kRefused = 2, kCannot = 3;

std::atomic<bool> stop{false};
std::atomic<int> received{0};

// Also a second Ctrl-C only asks: namespaces and programs are to go first, which takes a few seconds.
void handle_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    received.store(number, std::memory_order_relaxed);
    stop.store(true, std::memory_order_relaxed);
  };
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes is no reason to leave namespaces behind
}

class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& kept) : path_(kept), keep_(!kept.empty()) {
    std::string made = "/tmp/surety-live-XXXXXX";
    std::error_code error;
    if (keep_)
      std::filesystem::create_directories(path_, error);
    else if (mkdtemp(made.data()) == nullptr)
      error = {errno, std::generic_category()};
    else
      path_ = made;
    if (error)
      throw LiveError(
          fmt::format("cannot create the directory {}: {}", keep_ ? path_ : made, error.message()));
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool keep_;
};

int fail(int status, const std::string& sentence) {
  std::cerr << "surety-lab: " << sentence << '\n';
  return status;
}

void check_machine() {
  if (geteuid() != 0)
    throw LiveError(
        "a live run makes network namespaces and opens packet sockets: it needs root; run `sudo surety-lab "
        "live ...`");
  for (const auto& program : {surety_program(), endpoint_program()})
    if (access(program.c_str(), X_OK) != 0)
      throw LiveError(fmt::format("there is no program {}; install all of surety", program));
}

struct LabResults {
  std::vector<RunResult> measured, whole;
};

// Of the scenario, and of the same with all of it measured. The flows are the same packet for packet.
LabResults run_lab(const std::shared_ptr<const Plan>& plan, std::uint64_t seed) {
  Scenario all = scenario_of(*plan);
  all.measure = {{}, all.duration};
  const auto whole = make_plan(std::move(all));
  std::vector<Job> jobs;
  for (const auto& p : {plan, whole})
    for (std::uint64_t s = seed; s < seed + kLabSeeds; ++s) jobs.push_back({p, s});
  LabResults results;
  RunnerOptions options;
  options.stop = &stop;
  options.done = [&](std::size_t job, RunResult&& r) {
    (job < kLabSeeds ? results.measured : results.whole).push_back(std::move(r));
  };
  run_jobs(jobs, options);
  return results;
}

int run_both(const std::shared_ptr<const Plan>& plan, const LiveOptions& o) {
  check_machine();
  const WorkDirectory directory(o.keep_dir);
  const LabResults lab = run_lab(plan, o.seed);
  if (stop) return 128 + received;
  std::cerr << fmt::format("surety-lab: the lab is done; {} s in real time follow\n",
                           seconds(scenario_of(*plan).duration));
  LiveOutcome live;
  {
    ProgressBar bar(stderr, 1);
    live = run_live(*plan, {o.seed, directory.path(), &stop, [&](double part) { bar.advance(part); }});
  }
  if (live.interrupted) return 128 + received;
  const LiveComparison comparison = compare(lab.measured, lab.whole, live);
  std::cout << (o.json ? comparison.json().dump() + '\n' : comparison.text()) << std::flush;
  if (comparison.agrees()) return 0;
  return comparison.doubtful() ? kCannot : kDiffers;
}

}  // namespace

int command_live(const LiveOptions& o) {
  auto parsed = parse_scenario_file(o.file, o.settings);
  for (const auto& d : parsed.diagnostics) std::cerr << d.format();
  if (!parsed.ok()) return kRefused;
  handle_signals();
  try {
    start_dpdk();
    const auto plan = make_plan(std::move(*parsed.scenario));
    const auto refusals = live_refusals(*plan);
    for (const auto& r : refusals) fail(kRefused, "cannot run live: " + r);
    return refusals.empty() ? run_both(plan, o) : kRefused;
  } catch (const ScenarioError& e) {
    return fail(kRefused, e.what());
  } catch (const std::exception& e) {
    return fail(kCannot, e.what());
  }
}

}  // namespace surety::lab
