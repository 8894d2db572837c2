// SPDX-License-Identifier: BSD-3-Clause
// For the tests of generations: the store of a router in a directory that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "router/operate/generations/store.h"

namespace surety::test {

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

}  // namespace surety::test
