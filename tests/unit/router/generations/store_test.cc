// SPDX-License-Identifier: BSD-3-Clause
#include "router/generations/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "router/generations/disk.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

struct StoreBed : ::testing::Test {
  StoreBed() {
    char name[] = "/tmp/store-XXXXXX";
    top = ::mkdtemp(name);
    store = Store(top / "state");
    store.open();
  }
  ~StoreBed() override { fs::remove_all(top); }

  static ConfigTree tree(const std::string& text) { return {"edge.yaml", {{"edge.yaml", text}}}; }
  static Generation about(const ConfigTree& t, const char* how) {
    Generation g;
    g.how = how;
    g.main = t.main;
    g.hash = t.hash();
    return g;
  }
  Generation keep(const std::string& text) {
    return *store.settle(tree(text), about(tree(text), "found"), false);
  }

  fs::path top;
  Store store{""};
};

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

TEST_F(StoreBed, IsForItsUserAlone) {
  keep("a");
  for (const auto& entry : fs::recursive_directory_iterator(top / "state"))
    EXPECT_EQ(disk::rights_of(entry.path())->mode & 0077u, 0u) << entry.path();
}

TEST_F(StoreBed, SaysWhatIsDamagedOrNewer) {
  keep("a");
  const fs::path file = top / "state/generations/000001/about.json";
  const std::string good = disk::read(file);
  const auto said = [&](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    try {
      store.all();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said("{"), file.string() + " is damaged: remove its directory");
  EXPECT_NE(said("{\"format\": 2}").find("a newer version of surety (format 2"), std::string::npos);
  EXPECT_EQ(said(good), "");
}

TEST_F(StoreBed, InstallsSeveralFilesInOneStep) {
  const fs::path file = top / "edge.yaml";
  disk::write(file, "a: 1\n", {.mode = 0640});
  const ConfigTree two{"edge.yaml", {{"edge.yaml", "include: more/*.yaml\n"}, {"more/x.yaml", "c: 1\n"}}},
      other{"e.yaml", {{"e.yaml", "include: [x.yaml]\n"}, {"x.yaml", "e: 1\n"}}};
  for (const ConfigTree& t : {two, other, two, tree("a: 2\n")}) {
    const ConfigTree wanted = installable(t, file);
    install(wanted, file);
    EXPECT_EQ(gather(file), wanted);
    EXPECT_EQ(gather(file).hash(), wanted.hash());
    EXPECT_EQ(unwrapped(gather(file)), t);
    EXPECT_EQ(disk::rights_of(file)->mode, 0640u);
  }
  EXPECT_FALSE(fs::exists(top / "edge.applied"));
}

TEST_F(StoreBed, WhatIsInUseAndWasEditedIsNotWrittenOver) {
  const fs::path file = top / "edge.yaml";
  const ConfigTree two{"edge.yaml", {{"edge.yaml", "include: [x.yaml]\n"}, {"x.yaml", "c: 1\n"}}};
  const ConfigTree first = installable(two, file);
  install(first, file);
  const fs::path used = seen_in(first, file) / "x.yaml";
  std::ofstream(used) << "c: 2\n";
  const ConfigTree again = installable(two, file);
  EXPECT_NE(seen_in(again, file), used.parent_path());
  install(again, file);
  EXPECT_EQ(unwrapped(gather(file)), two);
}

TEST_F(StoreBed, LeavesWhatIsIncludedFromElsewhereWhereItIs) {
  const std::string outside = top / "common.yaml";
  std::ofstream(outside) << "c: 1\n";
  const ConfigTree t = {"edge.yaml", {{"edge.yaml", "include: [" + outside + "]\n"}, {outside, "c: 1\n"}}};
  const fs::path staged = store.put(installable(t, top / "edge.yaml"), "asked");
  EXPECT_EQ(as_installed(staged, top / "edge.yaml").hash(), t.hash());
  EXPECT_FALSE(inside("../x.yaml"));
}

}  // namespace
}  // namespace surety
