// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/command_papers.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "tests/lab/papers/papers_report.h"
#include "tests/lab/papers/papers_run.h"
#include "tests/lab/results/result_json.h"
#include "tests/lab/simulation/interrupt.h"
#include "tests/lab/simulation/progress.h"

namespace surety::lab {
namespace {

// Results as they come: on standard output at once, in the report at the end.
class Printer {
 public:
  Printer(const std::vector<Paper>& papers, bool json) : json_(json) {
    for (const auto& p : papers) reports_.push_back({&p, {.paper = p.name, .title = p.title}, {}});
  }

  void add(const Paper& paper, const ExperimentResult& result) {
    PaperReport& report = reports_.at(report_of(paper));
    if (!json_ && report.experiments.empty()) std::cout << paper.title << "\n\n";
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      report.tally.add(result.rows[i].verdict);
      if (json_) std::cout << to_line(row_json(paper.name, *result.experiment, i, result.rows[i]));
    }
    if (!json_) std::cout << experiment_text(result);
    std::cout << std::flush;
    failed_ = failed_ || result.failed();
    report.experiments.push_back(result);
  }
  void finish() const {
    if (!json_) std::cout << summary_text(tallies_of(reports_));
  }
  bool failed() const { return failed_; }
  std::span<const PaperReport> reports() const { return reports_; }

 private:
  std::size_t report_of(const Paper& paper) const {
    std::size_t i = 0;
    while (reports_[i].paper != &paper) ++i;
    return i;
  }

  bool json_, failed_ = false;
  std::vector<PaperReport> reports_;
};

struct Speed {
  std::size_t runs = 0;
  std::uint64_t events = 0, hops = 0;
};

PapersRunOptions run_options(const PapersOptions& options, const Interrupt& interrupt) {
  PapersRunOptions run;
  run.quick = options.quick;
  run.threads = options.threads;
  run.stop = interrupt.stop();
  return run;
}

int run_papers(const PapersOptions& options, const PapersFiles& files, const std::vector<Paper>& papers) {
  const Interrupt interrupt;
  const Stopwatch watch;
  Printer printer(papers, options.json);
  Speed speed;
  std::optional<ProgressBar> bar;
  auto run = run_options(options, interrupt);
  run.progress = [&](double part) { bar->advance(part); };
  run.ran = [&](const RunResult& r) {
    bar->run_done();
    speed = {speed.runs + 1, speed.events + r.events, speed.hops + r.hops};
  };
  run.done = [&](const Paper& paper, const ExperimentResult& result) {
    bar->clear();
    printer.add(paper, result);
  };
  PapersRun all(papers, std::move(run));
  if (!all.read(files, std::cerr)) return 1;
  if (!options.report.empty()) std::filesystem::create_directories(options.report);  // before an hour's work
  bar.emplace(stderr, all.runs());
  start_dpdk(options.threads, all.longest_packet());
  all.run();
  bar->clear();
  printer.finish();
  if (!options.report.empty()) write_papers_report(options.report, printer.reports(), options.quick);
  std::cerr << "surety-lab: " << speed_line(speed.runs, speed.events, speed.hops, watch.elapsed_s()) << '\n';
  if (!std::cout.flush()) throw std::runtime_error("standard output takes no more");
  if (interrupt.status() != 0) return interrupt.status();
  return printer.failed() ? 1 : 0;
}

}  // namespace

int command_papers(const PapersOptions& options) {
  try {
    const auto files = options.from_dir.empty() ? embedded_papers_files() : papers_files_in(options.from_dir);
    const auto papers = load_papers(files, {options.only, options.filter}, std::cerr);
    return papers ? run_papers(options, files, *papers) : 1;
  } catch (const std::exception& e) {
    std::cerr << "surety-lab: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety::lab
