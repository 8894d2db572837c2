// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "router/operate/generations/changes.h"
#include "router/operate/generations/disk.h"
#include "tests/unit/router/operate/generations/store_bed.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

using test::StoreBed;

TEST_F(StoreBed, KeepsWhatIsInstalledAndNothingElse) {
  EXPECT_EQ(keep("a").number, 1);
  EXPECT_EQ(keep("a").number, 1);
  store.stage(tree("b"), about(tree("b"), "apply"));
  EXPECT_EQ(keep("a").number, 1);  // it was never installed
  EXPECT_FALSE(store.staged());
  store.stage(tree("b"), about(tree("b"), "apply"));
  const Generation b = keep("b");
  EXPECT_EQ(b.number, 2);
  EXPECT_EQ(b.parent, 1);
  EXPECT_EQ(b.how, "apply");
  EXPECT_EQ(store.tree_of(store.all().front()), tree("a"));
}

// Only whoever has seen it taken can tell.
TEST_F(StoreBed, OfTheSameTextsIsOneThatWasTaken) {
  keep("a");
  const auto settled = [&](bool taken) {
    return *store.settle(tree("a"), about(tree("a"), "found"), false, taken);
  };
  EXPECT_EQ(settled(true).number, 1);
  store.stage(tree("a"), about(tree("a"), "apply"));
  EXPECT_EQ(settled(false).number, 1);
  store.stage(tree("a"), about(tree("a"), "apply"));
  EXPECT_EQ(settled(true).number, 2);
  EXPECT_EQ(settled(true).number, 2);
}

TEST_F(StoreBed, WhatIsOnTrialStaysStaged) {
  keep("a");
  store.stage(tree("b"), about(tree("b"), "apply"));
  EXPECT_EQ(store.settle(tree("a"), {}, true)->number, 1);
  ASSERT_TRUE(store.staged());
  EXPECT_EQ(store.staged()->tree, tree("b"));
}

TEST_F(StoreBed, HalfOfOneIsNothing) {
  keep("a");
  store.put(tree("b"), "staged");  // killed before it was described
  EXPECT_FALSE(store.staged());
  EXPECT_EQ(keep("b").how, "found");
}

TEST_F(StoreBed, KeepsTheNewestFifty) {
  for (int i = 1; i <= 60; ++i) keep(std::to_string(i));
  const auto all = store.all();
  ASSERT_EQ(all.size(), Store::kKept);
  EXPECT_EQ(all.front().number, 11);
  EXPECT_EQ(store.tree_of(all.back()), tree("60"));
}

TEST_F(StoreBed, ChangesOfSubscribersInARowMakeRoomForOthers) {
  const auto change = [&](const std::string& text, const char* how, const char* why) {
    Generation g = about(tree(text), how);
    g.why = why;
    store.stage(tree(text), g);
    store.settle(tree(text), g, false, true);
  };
  const auto kept = [&] {
    std::vector<std::string> all;
    for (const Generation& g : store.all())
      if (g.how != "subscribers import") all.push_back(g.how);
    return all;
  };
  change("first", "apply", "");
  for (int n = 0; n < 3; ++n) change(fmt::format("a{}", n), "subscribers import", "RADIUS accounting");
  change("second", "apply", "");
  for (int n = 0; n < 55; ++n) change(fmt::format("b{}", n), "subscribers import", "RADIUS accounting");
  EXPECT_EQ(kept(), (std::vector<std::string>{"apply", "apply"}));
  EXPECT_EQ(store.all().size(), Store::kKept);
  EXPECT_EQ(store.tree_of(store.all().back()), tree("b54"));
  EXPECT_EQ(store.tree_of(store.all()[store.all().size() - 2]), tree("b53")) << "one step back";
  change("third", "subscribers import", "the billing");
  change("fourth", "apply", "");
  EXPECT_EQ(kept(), (std::vector<std::string>{"apply", "apply", "apply"}));
  EXPECT_EQ(store.all().size(), Store::kKept);
  EXPECT_EQ(store.all()[store.all().size() - 2].why, "the billing");
}

TEST_F(StoreBed, IsForItsUserAlone) {
  keep("a");
  for (const auto& entry : fs::recursive_directory_iterator(top / "state"))
    EXPECT_EQ(disk::rights_of(entry.path())->mode & 0077u, 0u) << entry.path();
}

TEST_F(StoreBed, SaysWhatIsDamagedOrNewer) {
  keep("a");
  const fs::path file = top / "state/generations/000001/about.json";
  const std::string good = disk::read(file, config::Links::refused);
  const auto said = [&](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    std::vector<std::string> damaged;
    const std::size_t there = store.all(&damaged).size();
    EXPECT_EQ(there + damaged.size(), 1U);
    return damaged.empty() ? "" : damaged.front();
  };
  const auto changed = [&](const char* key, Json value) {
    Json about = Json::parse(good);
    about[key] = std::move(value);
    return said(about.dump());
  };
  const std::string is_damaged = file.string() + " is damaged: remove its directory";
  EXPECT_EQ(said("{"), is_damaged);
  EXPECT_EQ(said(""), is_damaged);
  EXPECT_EQ(changed("changes", "none"), is_damaged);
  EXPECT_EQ(changed("changes", Json::array({1})), is_damaged);
  EXPECT_EQ(changed("when", std::int64_t{1} << 60), is_damaged) << "no year has it";
  EXPECT_EQ(changed("generation", 7), file.string() + " is of generation 7: remove its directory");
  EXPECT_NE(changed("main", "../../../edge.yaml").find("is damaged"), std::string::npos);
  EXPECT_EQ(said(good), "");
  std::ofstream(file) << "{\"format\": 2}";
  try {
    store.all();
    FAIL() << "of a newer version";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("a newer version of surety (format 2"), std::string::npos);
  }
}

// A generation that is damaged, in whatever way.
struct DamagedStore : StoreBed, testing::WithParamInterface<const char*> {
  DamagedStore() { ::alarm(60); }  // a FIFO that is opened to be read stops whoever opens it
  ~DamagedStore() override { ::alarm(0); }

  void damage(const std::string& name) const {
    const fs::path directory = top / "state/generations" / name, described = directory / "about.json",
                   main = directory / "configuration/edge.yaml";
    const std::string how = GetParam();
    const fs::path file = how.starts_with("main") ? main : described;
    fs::remove_all(how == "a file" ? directory : file);
    if (how.ends_with("a FIFO")) ::mkfifo(file.c_str(), 0600);
    if (how.ends_with("a link to a device")) fs::create_symlink("/dev/zero", file);
    if (how.ends_with("a directory")) fs::create_directory(file);
    if (how.ends_with("half of it")) std::ofstream(file) << "{\"format\": 1,";
    if (how == "a file") std::ofstream(directory) << "text";
  }
};

INSTANTIATE_TEST_SUITE_P(Generations, DamagedStore,
                         testing::Values("about: a FIFO", "about: a link to a device", "about: a directory",
                                         "about: half of it", "about: gone", "a file", "main: a FIFO",
                                         "main: a link to a device", "main: gone"));

TEST_P(DamagedStore, TheOthersAreThereAndTheNextIsKept) {
  for (const char* const text : {"a", "b", "c"}) keep(text);
  for (const char* const name : {"000001", "000003"}) damage(name);
  std::vector<std::string> damaged;
  const auto there = store.all(&damaged);
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there.front().number, 2);
  EXPECT_EQ(store.tree_of(there.front()), tree("b"));
  ASSERT_EQ(damaged.size(), 2U);
  EXPECT_NE(damaged[0].find((top / "state/generations/000001").string()), std::string::npos) << damaged[0];
  EXPECT_NE(damaged[1].find((top / "state/generations/000003").string()), std::string::npos) << damaged[1];
  const Generation next = keep("d");
  EXPECT_EQ(next.number, 4) << "the damaged one keeps its number";
  EXPECT_EQ(next.parent, 2);
  EXPECT_EQ(store.tree_of(next), tree("d"));
}

TEST_P(DamagedStore, WhatIsStagedIsNoneAndGoes) {
  keep("a");
  store.stage(tree("b"), about(tree("b"), "apply"));
  damage("staged");
  EXPECT_FALSE(store.staged());
  EXPECT_EQ(keep("b").how, "found");
  EXPECT_EQ(store.tree_of(store.all().back()), tree("b"));
}

TEST_P(DamagedStore, HistoryNamesItAndRollbackGoesOnWithTheOthers) {
  const fs::path file = top / "edge.yaml";
  const auto text = [](const char* name) {
    return fmt::format("version: 1\nports: {{{}: {{device: null}}}}\n", name);
  };
  const TelemetryClient nobody(std::vector<fs::path>{top / "run"});
  std::ostringstream out, err;
  const ChangeContext context{nobody, 1'700'000'000, out, err};
  ChangeRequest request{.router = "state", .file = top / "candidate.yaml", .to = file, .state = top};
  for (const char* const name : {"a", "b", "c"}) {
    std::ofstream(request.file) << text(name);
    ASSERT_EQ(apply(request, context), 0) << err.str();
  }
  const std::size_t there = store.all().size();
  damage("000002");
  ASSERT_EQ(history(request, context), 0) << err.str();
  const std::string left_out = "surety history: left out: ";
  EXPECT_NE(err.str().find(left_out), std::string::npos);
  EXPECT_NE(err.str().find("generations/000002"), std::string::npos) << err.str();
  EXPECT_EQ(store.all().size(), there - 1);
  ASSERT_EQ(rollback(request, context), 0) << err.str();
  EXPECT_EQ(disk::read(file, config::Links::followed), text("a"));
  std::ofstream(request.file) << text("d");
  ASSERT_EQ(apply(request, context), 0) << err.str();
  EXPECT_EQ(disk::read(file, config::Links::followed), text("d"));
  request.generation = 2;
  EXPECT_EQ(rollback(request, context), 1);
}

TEST_F(StoreBed, OnlyWhatItNamesItselfIsAGeneration) {
  keep("a");
  for (const char* const name : {"2", "0000003", "-00004", "9999999999", "000005x"})
    fs::create_directory(top / "state/generations" / name);
  std::vector<std::string> damaged;
  EXPECT_EQ(store.all(&damaged).size(), 1U);
  EXPECT_TRUE(damaged.empty());
  EXPECT_EQ(keep("b").number, 2);
}

}  // namespace
}  // namespace surety
