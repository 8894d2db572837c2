// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "router/daemon/config_history.h"
#include "router/operate/generations/store.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A router that adopts all files, or none, at times that the test sets.
struct TrialBed : ::testing::Test {
  TrialBed() : top(made()), file(top / "edge.yaml"), candidate(top / "candidate" / "edge.yaml") {
    fs::create_directory(candidate.parent_path());
    write(file, "version: 1  # the first\n");
    write(candidate, "version: 1  # the second\n");
    before = gather(file).hash();
    after = gather(candidate).hash();
    in_force.hash = before;
    history.open(before);
  }
  ~TrialBed() override { fs::remove_all(top); }

  static fs::path made() {
    char name[] = "/tmp/trial-XXXXXX";
    return ::mkdtemp(name);
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  void install() { fs::copy_file(candidate, file, fs::copy_options::overwrite_existing); }

  Trial::Router router() {
    return {.name = "edge",
            .file = file,
            .now = [this] { return now; },
            .in_force = [this]() -> const InForce& { return in_force; },
            .take_over =
                [this](const std::string& from) {
                  if (accepts) in_force.hash = gather(from).hash();
                  return accepts;
                },
            .go_back =
                [this](InForce previous) {
                  if (accepts) in_force = std::move(previous);
                  return accepts;
                },
            .answer =
                [](bool in_effect) {
                  return Json{{"in_effect", in_effect}};
                },
            .changes = [] { return Json::parse(R"([{"what": "service gold: new"}])"); }};
  }
  Json request(const std::string& name, const std::string& arguments = "") {
    return trial.requests().at(name)(arguments);
  }
  Json try_out(int seconds) {
    return request("try", Json{{"file", candidate}, {"who", "alice"}, {"seconds", seconds}}.dump());
  }
  bool is_in_effect(const Json& answer) { return answer.at("in_effect"); }

  const fs::path top, file, candidate;
  std::string before, after;  // hashes of both configurations
  InForce in_force;
  bool accepts = true;
  Time now{};
  ConfigHistory history{top / "state", file};
  Trial trial{router(), history};
};

TEST_F(TrialBed, IsInEffectUntilItsTime) {
  EXPECT_TRUE(is_in_effect(try_out(60)));
  EXPECT_EQ(in_force.hash, after);
  const Json status = request("changes");
  EXPECT_EQ(status.at("router"), "edge");
  EXPECT_EQ(status.at("hash"), after);
  EXPECT_EQ(status.at("trial").at("who"), "alice");
  EXPECT_EQ(status.at("trial").at("before"), before);
  EXPECT_EQ(status.at("trial").at("installing"), false);
  EXPECT_FALSE(status.contains("went_back"));
  EXPECT_FALSE(trial.is_over(now + 59s));
  EXPECT_TRUE(trial.is_over(now + 60s));
}

// Its author has died, or lost the connection to the machine.
TEST_F(TrialBed, EndsWithThePreviousConfigurationIfNobodyConfirms) {
  try_out(60);
  trial.end();
  EXPECT_EQ(in_force.hash, before);
  EXPECT_FALSE(trial.is_on());
  const Json status = request("changes");
  EXPECT_FALSE(status.contains("trial"));
  EXPECT_EQ(status.at("went_back").at("who"), "alice");
  EXPECT_EQ(status.at("went_back").at("hash"), after);
  EXPECT_EQ(status.at("went_back").at("by_itself"), true);
}

// Its author was killed between the installation and the report of it.
TEST_F(TrialBed, StaysIfTheFileHasItInTime) {
  try_out(60);
  install();
  trial.end();
  EXPECT_EQ(in_force.hash, after);
  EXPECT_FALSE(trial.is_on());
  EXPECT_FALSE(request("changes").contains("went_back"));
}

TEST_F(TrialBed, GetsTenSecondsForItsInstallationOnceConfirmed) {
  try_out(60);
  now += 50s;
  EXPECT_EQ(request("confirm"), (Json{{"hash", after}, {"seconds", 10}}));
  EXPECT_EQ(request("changes").at("trial").at("installing"), true);
  EXPECT_FALSE(trial.is_over(now + 9s));
  EXPECT_TRUE(trial.is_over(now + 10s));
  install();
  EXPECT_TRUE(is_in_effect(request("installed")));
  EXPECT_FALSE(trial.is_on());
}

TEST_F(TrialBed, WithoutATimeIsForAClientThatInstallsAtOnce) {
  request("try", Json{{"file", candidate}, {"who", "alice"}}.dump());
  EXPECT_EQ(request("changes").at("trial").at("installing"), true);
  EXPECT_TRUE(trial.is_over(now + 10s));
}

TEST_F(TrialBed, DoesNotBeginWithARefusedConfiguration) {
  accepts = false;
  EXPECT_FALSE(is_in_effect(try_out(60)));
  EXPECT_FALSE(trial.is_on());
  EXPECT_EQ(in_force.hash, before);
}

TEST_F(TrialBed, RefusesRequestsOutOfPlaceWithAReason) {
  const auto reason = [](auto&& request) -> std::string {
    try {
      request();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(reason([&] { try_out(0); }), "a trial lasts from 1 s to 24 h");
  EXPECT_EQ(reason([&] { try_out(86401); }), "a trial lasts from 1 s to 24 h");
  EXPECT_EQ(reason([&] { request("confirm"); }), "no configuration is on trial: the trial is over");
  EXPECT_EQ(reason([&] { request("back"); }), "no configuration is on trial");
  try_out(86400);
  EXPECT_EQ(reason([&] { try_out(60); }),
            "a configuration of alice is on trial already: `surety confirm` or `surety rollback` first");
}

TEST_F(TrialBed, GoesBackOnRequestUnlessItIsInstalled) {
  try_out(60);
  EXPECT_EQ(request("back"), (Json{{"in_effect", true}, {"kept", false}}));
  EXPECT_EQ(in_force.hash, before);
  EXPECT_EQ(request("changes").at("went_back").at("by_itself"), false);
  try_out(60);
  install();
  EXPECT_EQ(request("back"), (Json{{"in_effect", true}, {"kept", true}}));
  EXPECT_EQ(in_force.hash, after);
}

TEST_F(TrialBed, TellsIfThePreviousConfigurationIsRefused) {
  try_out(60);
  accepts = false;
  EXPECT_EQ(request("back"), (Json{{"in_effect", false}, {"kept", false}}));
  EXPECT_FALSE(trial.is_on());
}

TEST_F(TrialBed, EndsWithASuccessfulReload) {
  try_out(60);
  accepts = false;
  EXPECT_FALSE(is_in_effect(request("reload", "bob")));
  EXPECT_TRUE(trial.is_on());
  accepts = true;
  EXPECT_TRUE(trial.reload("bob"));
  EXPECT_FALSE(trial.is_on());
  EXPECT_EQ(in_force.hash, before) << "the file decides";
}

// The file was replaced by another configuration than the one in effect.
TEST_F(TrialBed, ReadsTheFileThatAClientHasReplaced) {
  install();
  EXPECT_TRUE(is_in_effect(request("installed")));
  EXPECT_EQ(in_force.hash, after);
}

TEST_F(TrialBed, IsAGenerationOnceItIsConfirmed) {
  const auto newest = [this] { return Store(history.directory()).all().back(); };
  history.keep(false);
  EXPECT_EQ(newest().how, "start");
  try_out(60);
  history.keep(trial.is_on());
  EXPECT_EQ(newest().hash, before) << "it is not installed";
  install();
  request("installed");
  history.keep(trial.is_on());
  EXPECT_EQ(newest().hash, after);
  EXPECT_EQ(newest().how, "confirmed");
  EXPECT_EQ(newest().who, "alice");
  EXPECT_EQ(newest().changes, Json::array({"service gold: new"}));
}

TEST_F(TrialBed, IsNoGenerationWhenTheFileWasEditedMeanwhile) {
  history.keep(false);
  install();
  trial.reload("bob");
  write(file, "version: 1  # the third\n");
  history.keep(false);
  EXPECT_EQ(Store(history.directory()).all().size(), 1u);
}

}  // namespace
}  // namespace surety
