// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kScenario =
    "version: 1\nname: s\nduration: 10 s\nhosts: [a, b]\nlinks: [{between: [a, b], delay: 1 ms}]\n"
    "senders: [{name: f, host: a, to: b, protocol: udp, rate: 80 kbit/s, packet: 1000 B}]\n";
constexpr const char* kPaper =
    "version: 1\npaper: p\ntitle: t\nseeds: {full: 2, quick: 1}\nexperiments:\n"
    "  - id: one\n    title: One\n    scenario: s.yaml\n    variants: {short: {set: {duration: 5 s}}, long: "
    "{}}\n"
    "    quick: {set: {duration: 1 s}}\n"
    "    rows: [{what: w, value: long.duration_s - short.duration_s}]\n"
    "  - id: two\n    title: Two\n    scenario: s.yaml\n    only: full\n"
    "    sweep: {key: duration, values: [2 s, 3 s]}\n"
    "    rows: [{what: w, value: sum(duration_s)}]\n";

PapersFiles files(const std::string& paper = kPaper, const std::string& scenario = kScenario) {
  return {"dir/", {{"p.yaml", paper}, {"scenarios/s.yaml", scenario}}};
}

// A plan is its scenario, and a run says how long it took.
struct FakePlan {
  Scenario scenario;
};
double duration_of(const Job& job) {
  return seconds(reinterpret_cast<const FakePlan*>(job.plan.get())->scenario.duration);
}

struct FakeLab {
  std::vector<std::string> ran;   // "5 s, seed 1"
  std::vector<std::string> done;  // ids with what they showed
  std::size_t interrupted_at = 1000;

  PapersRunOptions options(bool quick) {
    PapersRunOptions o;
    o.quick = quick;
    o.engine.plan = [](Scenario s) {
      if (s.duration == std::chrono::seconds(3)) throw ScenarioError("b cannot be reached");
      return plan(std::move(s));
    };
    o.engine.run = [this](std::span<const Job> jobs, const RunnerOptions& runner) { run(jobs, runner); };
    o.done = [this](const Paper&, const ExperimentResult& r) { done.push_back(shown(r)); };
    return o;
  }
  static std::shared_ptr<const Plan> plan(Scenario s) {
    const auto fake = std::make_shared<FakePlan>(FakePlan{std::move(s)});
    return {fake, reinterpret_cast<const Plan*>(fake.get())};
  }
  void run(std::span<const Job> jobs, const RunnerOptions& runner) {
    for (std::size_t i = 0; i < jobs.size() && i <= interrupted_at; ++i) {
      RunResult r;
      r.duration_s = duration_of(jobs[i]);
      r.interrupted = i == interrupted_at;
      ran.push_back(std::to_string(static_cast<int>(r.duration_s)) + " s, seed " +
                    std::to_string(jobs[i].seed));
      runner.done(i, std::move(r));
      if (i + 1 < jobs.size()) ran.back() += done.empty() ? "" : "; " + done.back() + " is done";
    }
  }
  static std::string shown(const ExperimentResult& r) {
    std::string text = r.experiment->id;
    if (r.left_out) text += " left out";
    for (const auto& row : r.rows) text += " " + testing::PrintToString(row.seeds);
    return text;
  }
};

std::vector<Paper> load(const PapersFiles& f) {
  std::ostringstream errors;
  auto papers = load_papers(f, {}, errors);
  EXPECT_EQ(errors.str(), "");
  return papers.value_or(std::vector<Paper>{});
}

TEST(PapersRun, RunsSeedBySeedAndEndsEachExperimentAtItsLastRun) {
  const auto all = files();
  auto papers = load(all);
  FakeLab lab;
  auto options = lab.options(false);
  options.engine.plan = FakeLab::plan;
  PapersRun run(papers, options);
  std::ostringstream errors;
  ASSERT_TRUE(run.read(all, errors)) << errors.str();
  EXPECT_EQ(run.runs(), 8u);
  EXPECT_EQ(run.longest_packet(), kLongestPacket);
  run.run();
  EXPECT_THAT(lab.ran,
              ElementsAre("5 s, seed 1", "10 s, seed 1", "5 s, seed 2", "10 s, seed 2; one { 5, 5 } is done",
                          "2 s, seed 1; one { 5, 5 } is done", "3 s, seed 1; one { 5, 5 } is done",
                          "2 s, seed 2; one { 5, 5 } is done", "3 s, seed 2"));
  EXPECT_THAT(lab.done, ElementsAre("one { 5, 5 }", "two { 5, 5 }"));
}

TEST(PapersRun, QuickHasItsOwnSeedsAndSettings) {
  const auto all = files();
  const auto papers = load(all);
  FakeLab lab;
  PapersRun run(papers, lab.options(true));
  std::ostringstream errors;
  ASSERT_TRUE(run.read(all, errors)) << errors.str();
  EXPECT_EQ(run.runs(), 2u);
  run.run();
  EXPECT_THAT(lab.done, ElementsAre("one { 0 }", "two left out"));
}

TEST(PapersRun, AnInterruptedRunIsNoResult) {
  const auto all = files();
  const auto papers = load(all);
  FakeLab lab;
  lab.interrupted_at = 3;
  auto options = lab.options(false);
  options.engine.plan = FakeLab::plan;
  PapersRun run(papers, options);
  std::ostringstream errors;
  ASSERT_TRUE(run.read(all, errors));
  run.run();
  EXPECT_THAT(lab.done, ElementsAre("one { 5 }", "two {}"));
}

TEST(PapersRun, NamesTheExperimentThatCannotBePlanned) {
  const auto all = files();
  const auto papers = load(all);
  FakeLab lab;
  PapersRun run(papers, lab.options(false));
  std::ostringstream errors;
  ASSERT_TRUE(run.read(all, errors));
  try {
    run.run();
    FAIL() << "no error";
  } catch (const ScenarioError& e) {
    EXPECT_STREQ(e.what(), "experiment two, duration 3: b cannot be reached");
  }
}

std::string read_errors(const PapersFiles& f) {
  const auto papers = load(f);
  FakeLab lab;
  PapersRun run(papers, lab.options(false));
  std::ostringstream errors;
  EXPECT_FALSE(run.read(f, errors));
  return errors.str();
}

TEST(PapersRun, TellsWhatIsWrongWithScenarios) {
  auto missing = files();
  missing.texts.erase("scenarios/s.yaml");
  EXPECT_EQ(read_errors(missing),
            "experiment one, variant short: error: there is no dir/scenarios/s.yaml\n"
            "experiment two, duration 2: error: there is no dir/scenarios/s.yaml\n");
  const auto wrong = read_errors(files(kPaper, std::string(kScenario) + "durtaion: 1 s\n"));
  EXPECT_THAT(wrong,
              testing::StartsWith("experiment one, variant short:\ndir/scenarios/s.yaml:7:1: error: "));
  EXPECT_THAT(wrong, HasSubstr("experiment two, duration 2:\n"));
}

}  // namespace
}  // namespace surety::lab
