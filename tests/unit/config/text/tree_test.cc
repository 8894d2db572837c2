// SPDX-License-Identifier: BSD-3-Clause
// Configurations and values as they lie on a disk.
#include "config/text/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/parse.h"

namespace surety::config {
namespace {

namespace fs = std::filesystem;

class OnDisk : public testing::Test {
 protected:
  // A name that means something in a pattern.
  OnDisk() : home_(fs::path(testing::TempDir()) / "tree_test [x]") {
    fs::create_directories(home_ / "customers");
  }
  ~OnDisk() override { fs::remove_all(home_); }
  OnDisk(const OnDisk&) = delete;
  OnDisk& operator=(const OnDisk&) = delete;

  void write(const std::string& name, const std::string& text, mode_t mode = 0640) const {
    std::ofstream(home_ / name) << text;
    chmod((home_ / name).c_str(), mode);
  }
  ParseResult parsed() const { return parse_file((home_ / "main.yaml").string()); }
  std::string error() const {
    const auto all = parsed().diagnostics;
    return all.empty()
               ? ""
               : all.front().format().substr(home_.string().size() + 1,
                                             all.front().format().find('\n') - home_.string().size() - 1);
  }

  const fs::path home_;
};

TEST_F(OnDisk, IncludesWhatIsThereAndTellsWhatItRead) {
  setenv("TREE_TEST_NAME", "north", 1);
  write("main.yaml",
        "version: 1\ninclude: customers/*.yaml\nrouter: {name: !env TREE_TEST_NAME}\nmetrics: {listen: !file "
        "listen}\n");
  write("customers/b.yaml", "ports: {b: {device: null}}\n");
  write("customers/a.yaml", "ports: {a: {device: null}}\n");
  write("listen", "127.0.0.1:9999\n");
  const auto result = parsed();
  ASSERT_TRUE(result.ok()) << error();
  EXPECT_EQ(result.config->ports.at(0).name, "a");
  EXPECT_EQ(result.config->router.name, "north");
  EXPECT_EQ(result.config->metrics.listen, "127.0.0.1:9999");
  EXPECT_EQ(result.tree.texts.size(), 3U);
  EXPECT_EQ(result.tree.texts.at("customers/a.yaml"), "ports: {a: {device: null}}\n");
  EXPECT_EQ(result.tree.values.at("file listen"), "127.0.0.1:9999");

  // As it was, with values as they are now.
  fs::remove_all(home_ / "customers");
  write("listen", "127.0.0.1:8888\n");
  EXPECT_EQ(parse_tree(result.tree).config.value().metrics.listen, "127.0.0.1:9999");
  Tree stored = result.tree;
  stored.values.clear();
  const auto again = parse_stored(stored);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.config->metrics.listen, "127.0.0.1:8888");
  EXPECT_EQ(again.config->ports.size(), 2U);
  EXPECT_EQ(again.tree.hash(), result.tree.hash());
  unsetenv("TREE_TEST_NAME");
  EXPECT_EQ(parse_stored(stored).diagnostics.at(0).message,
            "`!env TREE_TEST_NAME`: not in the environment of this program");
}

TEST_F(OnDisk, WhatCannotBeReadIsNamedWhereItIsWanted) {
  write("main.yaml", "version: 1\ninclude: [none.yaml]\n");
  EXPECT_EQ(error(), "main.yaml:2:11: error: `none.yaml`: cannot be read: No such file or directory");
  write("main.yaml", "version: 1\ninclude: [customers]\n");
  EXPECT_EQ(error(), "main.yaml:2:11: error: `customers`: cannot be read: Is a directory");
  write("main.yaml", "version: 1\ninclude: [a.yaml]\n");
  write("a.yaml", "ports: {a: {device: nu");
  EXPECT_EQ(error(),
            "main.yaml:2:11: error: `a.yaml`: the last line has no line break: the rest may be missing; "
            "end a complete file with a line break");
  write("main.yaml", "version: 1\nrouter: {name: !file none}\n");
  EXPECT_EQ(error(), "main.yaml:2:16: error: `!file none`: cannot be read: No such file or directory");
  write("none", std::string("a\0b", 3));
  EXPECT_EQ(error(), "main.yaml:2:16: error: `!file none`: not a text: it contains a zero byte");
}

TEST_F(OnDisk, ASecretIsNotForEverybody) {
  write("main.yaml", "version: 1\nrouter: {name: !file name}\nports: {a: {device: null}}\n");
  for (const mode_t mode : {mode_t{0644}, mode_t{0602}}) {
    write("name", "north\n", mode);
    EXPECT_EQ(error(),
              "main.yaml:2:16: error: `!file name`: every user of this machine may read or change it; run "
              "`chmod o-rwx` on it");
  }
  write("name", "north\r\n", 0640);
  EXPECT_EQ(parsed().config.value().router.name, "north");
}

// Vectors of the FNV reference (draft-eastlake-fnv, appendix C).
TEST(Hash, Fnv1a64) {
  EXPECT_EQ(hash_of(""), "cbf29ce484222325");
  EXPECT_EQ(hash_of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_of("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace surety::config
