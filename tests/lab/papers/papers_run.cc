// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace surety::lab {

struct PapersRun::Part {
  const Paper* paper;
  const Experiment* experiment;
  bool left_out;
  std::size_t seeds;
  std::vector<Scenario> scenarios;  // by variant, then point; until they are planned
  std::optional<Collector> collector;
};

namespace {

std::string name_of(const Experiment& e, std::size_t variant, std::size_t point) {
  std::string name = "experiment " + e.id;
  if (!e.variants[variant].name.empty()) name += ", variant " + e.variants[variant].name;
  if (e.swept) name += fmt::format(", {} {}", e.sweep_label, e.points[point].x);
  return name;
}

std::optional<Scenario> read_scenario(const Experiment& e, std::size_t variant, std::size_t point, bool quick,
                                      const PapersFiles& files, std::ostream& errors) {
  const auto name = "scenarios/" + e.variants[variant].scenario;
  const auto file = files.texts.find(name);
  if (file == files.texts.end()) {
    errors << fmt::format("{}: error: there is no {}{}\n", name_of(e, variant, point), files.place, name);
    return {};
  }
  auto parsed = parse_scenario(file->second, files.place + name, e.settings_of(variant, point, quick));
  if (parsed.ok()) return std::move(parsed.scenario);
  errors << name_of(e, variant, point) << ":\n";
  for (const auto& d : parsed.diagnostics) errors << d.format();
  return {};
}

template <class F>
void for_each_place(const Experiment& e, F&& f) {
  for (std::size_t v = 0; v < e.variants.size(); ++v) {
    for (std::size_t p = 0; p < e.points.size(); ++p) f(v, p);
  }
}

}  // namespace

PapersRun::PapersRun(std::span<const Paper> papers, PapersRunOptions options) : options_(std::move(options)) {
  for (const auto& p : papers) {
    for (const auto& e : p.experiments)
      parts_.push_back(
          {&p, &e, options_.quick && e.only_full, options_.quick ? e.seeds.quick : e.seeds.full, {}, {}});
  }
}

PapersRun::~PapersRun() = default;

bool PapersRun::read(const PapersFiles& files, std::ostream& errors) {
  bool ok = true;
  for (Part& part : parts_) {
    bool part_ok =
        !part.left_out;  // of an experiment the first error is shown: the others mostly say the same
    for_each_place(*part.experiment, [&](std::size_t v, std::size_t p) {
      if (!part_ok) return;
      auto scenario = read_scenario(*part.experiment, v, p, options_.quick, files, errors);
      part_ok = scenario.has_value();
      if (scenario) part.scenarios.push_back(std::move(*scenario));
    });
    ok = ok && (part_ok || part.left_out);
  }
  return ok;
}

std::uint16_t PapersRun::longest_packet() const {
  std::uint16_t longest = 0;
  for (const auto& part : parts_) {
    for (const auto& s : part.scenarios) longest = std::max(longest, lab::longest_packet(s));
  }
  return longest;
}

std::size_t PapersRun::runs() const {
  std::size_t n = 0;
  for (const auto& part : parts_) n += part.scenarios.size() * part.seeds;
  return n;
}

void PapersRun::plan(std::size_t index) {
  Part& part = parts_[index];
  if (part.left_out) return;
  part.collector.emplace(*part.experiment, part.seeds);
  std::vector<std::shared_ptr<const Plan>> plans;
  for_each_place(*part.experiment, [&](std::size_t v, std::size_t p) {
    try {
      plans.push_back(options_.engine.plan(std::move(part.scenarios[plans.size()])));
    } catch (const ScenarioError& e) {
      throw ScenarioError(fmt::format("{}: {}", name_of(*part.experiment, v, p), e.what()));
    }
  });
  part.scenarios.clear();
  // Seed by seed: what an interruption leaves is then of whole seeds.
  for (std::size_t seed = 0; seed < part.seeds; ++seed) {
    std::size_t i = 0;
    for_each_place(*part.experiment, [&](std::size_t v, std::size_t p) {
      origins_.push_back({index, v, p, seed});
      jobs_.push_back({plans[i++], seed + 1});
    });
  }
}

void PapersRun::finish_before(std::size_t part) {
  for (; finished_ < part; ++finished_) {
    Part& p = parts_[finished_];
    ExperimentResult result;
    if (p.collector) result = p.collector->result();
    result.experiment = p.experiment;
    result.left_out = p.left_out;
    p.collector.reset();
    options_.done(*p.paper, result);
  }
}

void PapersRun::run() {
  for (std::size_t i = 0; i < parts_.size(); ++i) plan(i);
  RunnerOptions runner;
  runner.threads = options_.threads;
  runner.stop = options_.stop;
  runner.progress = options_.progress;
  runner.done = [this](std::size_t job, RunResult&& result) {
    const Origin& o = origins_[job];
    finish_before(o.part);
    if (options_.ran) options_.ran(result);
    if (result.interrupted) return;  // shorter than it should be: not a result
    parts_[o.part].collector->add(o.variant, o.point, o.seed, result);
    if (job + 1 == jobs_.size() || origins_[job + 1].part != o.part) finish_before(o.part + 1);
  };
  options_.engine.run(jobs_, runner);
  finish_before(parts_.size());
}

}  // namespace surety::lab
