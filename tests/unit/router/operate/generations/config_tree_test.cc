// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/config_tree.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <string>

#include "config/parse.h"
#include "router/operate/generations/disk.h"
#include "tests/unit/router/operate/generations/store_bed.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

struct ConfigTreeTest : test::StoreBed {};

TEST_F(ConfigTreeTest, InstallsSeveralFilesInOneStep) {
  const fs::path file = top / "edge.yaml";
  disk::write(file, "a: 1\n", {.mode = 0640});
  const ConfigTree two{"edge.yaml", {{"edge.yaml", "include: more/*.yaml\n"}, {"more/x.yaml", "c: 1\n"}}},
      other{"e.yaml", {{"e.yaml", "include: [x.yaml]\n"}, {"x.yaml", "e: 1\n"}}};
  for (const ConfigTree& t : {two, other, two, tree("a: 2\n")}) {
    const ConfigTree wanted = installable(t, file);
    install(wanted, file);
    EXPECT_EQ(gather(file), wanted);
    EXPECT_EQ(hash_of(config::parse_file(file).tree), wanted.hash());
    EXPECT_EQ(wanted.files.size(), t.files.size());
    EXPECT_EQ(disk::rights_of(file)->mode, 0640u);
  }
  EXPECT_FALSE(fs::exists(top / "edge.applied"));
}

TEST_F(ConfigTreeTest, LaysOutWhatAPointerPointsAt) {
  const fs::path file = top / "edge.yaml", x = top / "more/x.yaml", y = top / "more/y.yaml";
  const auto with = [](const char* text, std::map<std::string, std::string> more) {
    more["edge.yaml"] = fmt::format("# {}\ninclude: more/*.yaml\n", text);
    return ConfigTree{"edge.yaml", std::move(more)};
  };
  const auto all = [](const auto&, const auto&) { return true; };
  const auto none = [](const auto&, const auto&) { return false; };
  disk::write(file, "a: 1\n", {.mode = 0640});
  const ConfigTree two = with("two", {{"more/x.yaml", "x: 1\n"}, {"more/y.yaml", "y: 1\n"}}),
                   one = with("one", {{"more/x.yaml", "x: 2\n"}});
  install(two, file);
  EXPECT_EQ(pointed_at(file), top / "edge.applied" / two.hash());
  lay_out(file, none);  // nothing stands in the way
  EXPECT_EQ(gather(file), two);
  EXPECT_EQ(pointed_at(file), fs::path());
  install(one, file);
  EXPECT_THROW(lay_out(file, none), std::runtime_error);
  EXPECT_EQ(gather(file), one);
  EXPECT_EQ(disk::read(x, config::Links::followed), "x: 1\n");
  lay_out(file, all);
  EXPECT_EQ(gather(file), one);
  EXPECT_EQ(pointed_at(file), fs::path());
  EXPECT_FALSE(fs::exists(y));
  EXPECT_FALSE(fs::exists(top / "edge.applied"));
  EXPECT_EQ(disk::rights_of(x)->mode, 0640u);
  install(with("three", {{"more/x.yaml", "x: 2\n"}}), file);
  EXPECT_EQ(pointed_at(file), fs::path()) << "one rename is enough";
}

TEST_F(ConfigTreeTest, WhatIsInUseAndWasEditedIsNotWrittenOver) {
  const fs::path file = top / "edge.yaml";
  const ConfigTree two{"edge.yaml", {{"edge.yaml", "include: [x.yaml]\n"}, {"x.yaml", "c: 1\n"}}};
  const ConfigTree first = installable(two, file);
  install(first, file);
  const fs::path used = pointed_at(file) / "x.yaml";
  std::ofstream(used) << "c: 2\n";
  const ConfigTree again = installable(two, file);
  install(again, file);
  EXPECT_NE(pointed_at(file), used.parent_path());
  EXPECT_EQ(gather(file), two);
}

TEST_F(ConfigTreeTest, LeavesWhatIsIncludedFromElsewhereWhereItIs) {
  const std::string outside = top / "common.yaml";
  std::ofstream(outside) << "c: 1\n";
  const ConfigTree t = {"edge.yaml", {{"edge.yaml", "include: [" + outside + "]\n"}, {outside, "c: 1\n"}}};
  const fs::path staged = store.put(installable(t, top / "edge.yaml"), "asked");
  EXPECT_EQ(as_installed(staged, top / "edge.yaml").hash(), t.hash());
  EXPECT_FALSE(inside("../x.yaml"));
}

}  // namespace
}  // namespace surety
