// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/changes.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "router/operate/generations/disk.h"
#include "router/operate/generations/site.h"
#include "router/operate/generations/store.h"
#include "tests/unit/router/operate/observe/fake_router.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kNow = 1'700'000'000;
using Command = int (*)(const ChangeRequest&, const ChangeContext&);

// The text of a file; a word stands for a file with that key alone.
constexpr std::string_view kRest = ": {}\n";
std::string whole(const std::string& text) {
  return text.empty() || text.find('\n') != text.npos ? text : text + std::string(kRest);
}
std::string text_of(const fs::path& file) {
  std::string text = disk::read(file, config::Links::followed);
  if (text.ends_with(kRest) && text.find(':') == text.size() - kRest.size())
    text.resize(text.size() - kRest.size());
  return text;
}
std::string hash_of_text(const std::string& text) {
  return ConfigTree{"edge.yaml", {{"edge.yaml", whole(text)}}}.hash();
}
Json change(const char* what, const char* takes = "at_once") {
  return {{"what", what}, {"takes", takes}, {"whom", ""}};
}

struct ChangesBed : testing::Test {
  void write(const fs::path& to, const std::string& text) const { std::ofstream(to) << whole(text); }
  // Runs a command; `text`: the candidate's.
  int run(Command command, const std::string& text, ChangeRequest request = {}) {
    write(candidate, text);
    request.router = "edge1";
    request.file = candidate;
    request.to = file;
    request.state = top.path() / "state";
    out.str("");
    err.str("");
    return command(request, {client, kNow, out, err});
  }
  int run(Command command, const ChangeRequest& request = {}) { return run(command, "", request); }
  std::vector<Generation> generations() const { return store.all(); }

  test::RuntimeDirectory top;
  const fs::path file = top.path() / "edge.yaml", candidate = top.path() / "candidate.yaml";
  const Store store{top.path() / "state/edge1"};
  const TelemetryClient client{{top.path()}};
  std::ostringstream out, err;
};

// --- no router runs ---

struct ChangesOff : ChangesBed {
  static std::string text(const std::string& port, const char* more = "") {
    return "version: 1\nports: {" + port + ": {device: null}}\n" + more;
  }
};

TEST_F(ChangesOff, ApplyInstallsForTheNextStart) {
  ASSERT_EQ(run(apply, text("a"), {.why = "first"}), 0) << err.str();
  EXPECT_EQ(text_of(file), text("a"));
  EXPECT_THAT(out.str(), EndsWith(file.string() + " is installed; it takes effect when the router starts\n"));
  ASSERT_EQ(run(apply, text("a"), {.why = "again"}), 0);
  EXPECT_EQ(out.str(), "nothing to change: " + file.string() + " is the same already\n");
  ASSERT_EQ(generations().size(), 1u);
  const Generation g = generations().front();
  EXPECT_EQ(g.how, "apply");
  EXPECT_EQ(g.why, "first");
  EXPECT_EQ(g.when, kNow);
  EXPECT_EQ(g.installed, file);
}

TEST_F(ChangesOff, ErrorsAreInTheAuthorsFileAndChangeNothing) {
  ASSERT_EQ(run(apply, text("a")), 0);
  EXPECT_EQ(run(apply, text("b", "nonsense: 1\n")), 1);
  EXPECT_THAT(err.str(), HasSubstr(candidate.string() + ":3:1: error: "));
  EXPECT_EQ(text_of(file), text("a"));
  EXPECT_EQ(generations().size(), 1u);
}

TEST_F(ChangesOff, DiffReturnsWhetherTheyDiffer) {
  ASSERT_EQ(run(apply, text("a")), 0);
  EXPECT_EQ(run(diff, text("a", "# a comment\n")), 0);
  EXPECT_EQ(out.str(), "nothing differs\n");
  EXPECT_EQ(run(diff, text("b")), 1);
  EXPECT_EQ(run(diff, text("b", "nonsense: 1\n")), 2);
}

TEST_F(ChangesOff, ATrialNeedsARouter) {
  ASSERT_EQ(run(apply, text("a")), 0);
  EXPECT_EQ(run(apply, text("b"), {.confirm = std::chrono::seconds(60)}), 1);
  EXPECT_EQ(err.str(),
            "surety apply: router edge1 does not run, so a trial is not possible: leave out --confirm\n");
  EXPECT_EQ(run(confirm), 1);
  EXPECT_EQ(err.str(), "surety confirm: router edge1 does not run: a trial ends with the router\n");
  EXPECT_EQ(text_of(file), text("a"));
}

TEST_F(ChangesOff, WhatTakesARestartIsInstalledOnRequest) {
  ASSERT_EQ(run(apply, text("a")), 0);
  const std::string next = text("a", "flow_table: {capacity: 4096}\n");
  EXPECT_EQ(run(apply, next), 1);
  EXPECT_THAT(err.str(), HasSubstr("Nothing has changed"));
  EXPECT_EQ(text_of(file), text("a"));
  EXPECT_EQ(run(apply, next, {.at_next_start = true}), 0);
  EXPECT_EQ(text_of(file), next);
}

TEST_F(ChangesOff, RollbackGoesToTheNewestOtherOneOrToANumber) {
  ASSERT_EQ(run(apply, text("a")), 0);
  EXPECT_EQ(run(rollback), 1);
  EXPECT_EQ(err.str(), "surety rollback: there is no earlier configuration to roll back to\n");
  for (const char* const name : {"b", "c"}) ASSERT_EQ(run(apply, text(name)), 0);
  ASSERT_EQ(run(rollback), 0);
  EXPECT_EQ(text_of(file), text("b"));
  ASSERT_EQ(run(rollback), 0);
  EXPECT_EQ(text_of(file), text("c")) << "generation 4, the newest, has the text of generation 2";
  ASSERT_EQ(run(rollback, {.generation = 1}), 0);
  EXPECT_EQ(text_of(file), text("a"));
  EXPECT_EQ(run(rollback, {.generation = 9}), 1);
  EXPECT_EQ(err.str(), "surety rollback: there is no generation 9: `surety history` lists them\n");
}

// --- a router runs ---

// Answers as changes_schema.json says; notes each command that may change something, with the text that the
// router's file has then.
class RunningRouter {
 public:
  RunningRouter(const test::RuntimeDirectory& directory, const fs::path& file)
      : file_(file),
        state_(directory.path() / "state/edge1"),
        socket_(directory, "edge1", [this](auto& r) { return answer(r); }) {}

  std::vector<std::string> asked() {
    const std::lock_guard guard(mutex_);
    return std::exchange(asked_, {});
  }
  template <class Set>
  void set(Set&& set) {
    const std::lock_guard guard(mutex_);
    set(*this);
  }
  void begin_trial(const std::string& who, const std::string& text, bool installing = false) {
    trial = {{"who", who},
             {"hash", hash_of_text(text)},
             {"before", hash},
             {"installing", installing},
             {"until", kNow + 60}};
    hash = hash_of_text(text);
  }

  std::string hash;
  Json trial, went_back, changes = Json::array({change("more for gold")});
  bool accepts = true, keeps = false;

 private:
  std::string answer(const std::string& request) {
    const std::lock_guard guard(mutex_);
    const std::size_t comma = request.find(',');
    const std::string name = request.substr(0, comma), command = name.substr(std::strlen("/surety/"));
    if (command != "changes" && command != "diff") asked_.push_back(command + " at " + text_of(file_));
    return Json{{name, answer(command, request.substr(comma + 1))}}.dump();
  }
  Json answer(const std::string& command, const std::string& argument) {
    if (command == "changes") return status();
    if (command == "diff") return verdict_of({}, changes);
    if (command == "confirm") return {{"hash", hash}, {"seconds", 10}};
    Json answer = verdict_of({});
    answer["in_effect"] = accepts;
    if (!accepts) answer["errors"].push_back(file_.string() + ":1:1: error: no memory");
    if (command == "try" && accepts) {
      const Json wanted = Json::parse(argument);
      begin_trial(wanted.at("who"), text_of(wanted.at("file").get<std::string>()),
                  !wanted.contains("seconds"));
      asked_.back() += " for " + std::to_string(wanted.value("seconds", 10));
    }
    if (command == "installed") trial = {};
    if (command == "back") {
      if (!keeps) hash = trial.at("before");
      answer["kept"] = keeps;
      trial = {};
    }
    return answer;
  }
  Json status() const {
    Json s = {{"router", "edge1"}, {"state", state_.string()}, {"file", file_.string()}, {"hash", hash}};
    if (!trial.is_null()) s["trial"] = trial;
    if (!went_back.is_null()) s["went_back"] = went_back;
    return s;
  }

  const fs::path file_, state_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  test::FakeRouter socket_;
};

struct ChangesOn : ChangesBed {
  ChangesOn() {
    write(file, "old");
    router.set([](auto& r) { r.hash = hash_of_text("old"); });
  }
  // `text` is on trial, from `surety apply`.
  void try_out(const std::string& text) {
    ASSERT_EQ(run(apply, text, {.confirm = std::chrono::seconds(60), .why = "tried"}), 0) << err.str();
    router.asked();
  }
  bool staged() const { return store.staged().has_value(); }

  RunningRouter router{top, file};
};

// A kill in between leaves a router that rolls back, or a file that it has already adopted.
TEST_F(ChangesOn, TheFileIsReplacedOnceTheRouterRunsWithItAndBeforeItIsTold) {
  ASSERT_EQ(run(apply, "new"), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("try at old for 10", "installed at new"));
  EXPECT_EQ(out.str(), "more for gold\nin effect\n");
  ASSERT_EQ(generations().size(), 2u);
  EXPECT_EQ(generations()[0].how, "found");
  EXPECT_EQ(generations()[1].how, "apply");
  EXPECT_EQ(generations()[1].changes, Json::array({"more for gold"}));
}

TEST_F(ChangesOn, WhatTheRouterDoesNotAdoptChangesNothing) {
  router.set([](auto& r) { r.accepts = false; });
  EXPECT_EQ(run(apply, "new"), 1);
  EXPECT_THAT(router.asked(), ElementsAre("try at old"));
  EXPECT_EQ(err.str(), candidate.string() + ":1:1: error: no memory\n");
  EXPECT_EQ(text_of(file), "old");
  EXPECT_FALSE(staged());
}

TEST_F(ChangesOn, AFileThatCannotBeWrittenEndsTheAttempt) {
  fs::create_directory(top.path() / ".edge.yaml.new");
  EXPECT_EQ(run(apply, "new"), 1);
  EXPECT_THAT(err.str(), StartsWith("surety apply: cannot write "));
  EXPECT_THAT(router.asked(), ElementsAre("try at old for 10", "back at old"));
  EXPECT_EQ(text_of(file), "old");
}

TEST_F(ChangesOn, ConfirmInstallsWhatIsOnTrial) {
  ASSERT_EQ(run(apply, "new", {.confirm = std::chrono::seconds(60), .why = "tried"}), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("try at old for 60"));
  EXPECT_THAT(out.str(), HasSubstr("in effect until " + time_text(kNow + 60) + ": "));
  EXPECT_EQ(text_of(file), "old");
  ASSERT_EQ(run(confirm), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("confirm at old", "installed at new"));
  EXPECT_EQ(generations().back().how, "apply --confirm");
  EXPECT_EQ(generations().back().why, "tried");
}

TEST_F(ChangesOn, ConfirmKeepsOutOfOthersTrialsAndOfEditedFiles) {
  try_out("new");
  write(file, "edited");
  EXPECT_EQ(run(confirm), 1);
  EXPECT_THAT(err.str(), HasSubstr("was edited after the trial began"));
  write(file, "old");
  router.set([](auto& r) { r.trial["hash"] = hash_of_text("another program's"); });
  EXPECT_EQ(run(confirm), 1);
  EXPECT_THAT(err.str(), HasSubstr("is not from `surety apply`"));
  EXPECT_THAT(router.asked(), IsEmpty());
  EXPECT_EQ(text_of(file), "old");
}

TEST_F(ChangesOn, ConfirmSaysWhyThereIsNothingToConfirm) {
  EXPECT_EQ(run(confirm), 1);
  EXPECT_EQ(err.str(), "surety confirm: there is nothing to confirm\n");
  for (const bool by_itself : {true, false}) {
    router.set([&](auto& r) { r.went_back = {{"when", kNow}, {"by_itself", by_itself}}; });
    EXPECT_EQ(run(confirm), 1);
    EXPECT_EQ(err.str(), std::string("surety confirm: ") +
                             (by_itself ? "too late: the router rolled back by itself"
                                        : "a command rolled the trial back") +
                             " at " + time_text(kNow) + "; apply it again\n");
  }
}

TEST_F(ChangesOn, RollbackEndsATrial) {
  try_out("new");
  ASSERT_EQ(run(rollback), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("back at old"));
  EXPECT_EQ(out.str(), "the trial is over; the previous configuration is in effect again\n");
  EXPECT_FALSE(staged());
}

// The router keeps a configuration that its file has: its author was killed after the installation.
TEST_F(ChangesOn, RollbackGoesOnFromATrialThatWasInstalled) {
  try_out("new");
  write(file, "new");
  router.set([](auto& r) { r.keeps = true; });
  ASSERT_EQ(run(rollback), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("back at new", "try at new for 10", "installed at old"));
  EXPECT_EQ(generations().back().how, "rollback");
}

TEST_F(ChangesOn, ATrialExcludesOtherChanges) {
  router.set([](auto& r) { r.begin_trial("bob", "his"); });
  EXPECT_EQ(run(apply, "new"), 1);
  EXPECT_THAT(err.str(),
              StartsWith("surety apply: a configuration of bob is on trial until " + time_text(kNow + 60)));
  EXPECT_THAT(router.asked(), IsEmpty());
}

TEST_F(ChangesOn, AnInstallationThatWasKilledIsEndedFirst) {
  router.set([](auto& r) { r.begin_trial("bob", "his", true); });
  ASSERT_EQ(run(apply, "new"), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("back at old", "try at old for 10", "installed at new"));
}

TEST_F(ChangesOn, ATrialDoesNotBeginFromAFileThatTheRouterHasNotRead) {
  write(file, "edited");
  EXPECT_EQ(run(apply, "new", {.confirm = std::chrono::seconds(60)}), 1);
  EXPECT_THAT(err.str(), HasSubstr(file.string() + " was edited after the router read it"));
  EXPECT_THAT(router.asked(), IsEmpty());
  EXPECT_EQ(run(apply, "new"), 0) << err.str();
  EXPECT_EQ(generations().front().how, Generation::kNotInEffect);
}

TEST_F(ChangesOn, RollbackPassesOverWhatWasNeverInEffect) {
  ASSERT_EQ(run(apply, "new"), 0);
  write(file, "edited");
  ASSERT_EQ(run(apply, "third"), 0);
  ASSERT_EQ(run(rollback), 0) << err.str();
  EXPECT_EQ(text_of(file), "new");
}

// The texts are the same, and the router reports a change: a `!file` has another content.
TEST_F(ChangesOn, OtherContentOfAFileTagIsAppliedButNotTried) {
  EXPECT_EQ(run(apply, "old", {.confirm = std::chrono::seconds(60)}), 1);
  EXPECT_THAT(err.str(), HasSubstr("only the content of `!file` has changed"));
  EXPECT_THAT(router.asked(), IsEmpty());
  ASSERT_EQ(run(apply, "old"), 0) << err.str();
  EXPECT_THAT(router.asked(), ElementsAre("try at old for 10", "installed at old"));
  EXPECT_EQ(generations().size(), 2u);
  EXPECT_EQ(run(rollback), 1) << "no generation has another text";
}

TEST_F(ChangesOn, HistoryMarksTheNewestOneThatTheRouterRuns) {
  for (const char* const text : {"new", "old", "third"}) ASSERT_EQ(run(apply, text), 0);
  router.set([](auto& r) { r.begin_trial("bob", "old"); });
  ASSERT_EQ(run(history, {.json = true}), 0) << err.str();
  std::vector<int> marked;
  for (const Json& row : Json::parse(out.str()))
    if (row.at("in_effect").get<bool>()) marked.push_back(row.at("generation"));
  EXPECT_EQ(marked, std::vector{3});
  ASSERT_EQ(run(history), 0);
  EXPECT_THAT(out.str(), HasSubstr("on trial until " + time_text(kNow + 60) + ", by bob: "));
}

TEST_F(ChangesOn, ReloadReturnsWhetherTheRouterRunsItsFile) {
  EXPECT_EQ(run(reload), 0);
  EXPECT_EQ(out.str(), "router edge1 runs the configuration of " + file.string() + "\n");
  router.set([](auto& r) { r.accepts = false; });
  EXPECT_EQ(run(reload), 1);
  EXPECT_THAT(err.str(), EndsWith("surety reload: refused; the running configuration is unchanged\n"));
}

TEST_F(ChangesOn, CheckAgainstTheRunningRouterFailsForARestart) {
  EXPECT_EQ(run(compare_with_running, "new"), 0);
  EXPECT_EQ(out.str(), "more for gold\n");
  router.set([](auto& r) { r.changes = Json::array({change("two workers", "restart")}); });
  EXPECT_EQ(run(compare_with_running, "new"), 1);
  EXPECT_EQ(out.str(), "two workers; takes a restart\n");
}

}  // namespace
}  // namespace surety
