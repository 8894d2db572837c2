// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/site.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "tests/unit/router/operate/generations/store_bed.h"
#include "tests/unit/router/operate/observe/fake_router.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

struct SiteTest : testing::Test {
  // A generation of a router, installed in `file`.
  void keep(const std::string& name, const fs::path& file) const {
    const Store store(state / name);
    store.open();
    const ConfigTree tree{"edge.yaml", {{"edge.yaml", "a: 1\n"}}};
    Generation about;
    about.installed = file;
    store.settle(tree, about, false);
  }
  Site find(ChangeRequest request = {}) const {
    request.state = state;
    return find_site(request, client);
  }
  std::string error() const {
    try {
      find();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "none";
  }

  test::RuntimeDirectory top;
  const fs::path state = top.path() / "state";
  const TelemetryClient client{{top.path()}};
};

TEST_F(SiteTest, TheRouterIsTheOneNamedOrTheCandidatesOrTheOnlyOne) {
  EXPECT_EQ(error(), "no router is running, and " + state.string() + " has no data of any");
  keep("edge1", "/etc/e.yaml");
  fs::create_directory(state / "no-generations");
  EXPECT_EQ(find().name, "edge1");
  keep("core", "/etc/c.yaml");
  EXPECT_EQ(error(), "several routers: choose one of core, edge1 with --name");
  const fs::path candidate = top.path() / "candidate.yaml";
  std::ofstream(candidate) << "version: 1\nrouter: {name: edge2}\nports: {a: {device: null}}\n";
  EXPECT_EQ(find({.file = candidate}).name, "edge2");
  EXPECT_EQ(find({.router = "edge3", .file = candidate}).name, "edge3");
}

TEST_F(SiteTest, TheFileIsTheOneGivenOrTheLastOneOrTheUsualOne) {
  EXPECT_EQ(find({.router = "edge1"}).file, "/etc/surety/edge1.yaml");
  keep("edge1", "/srv/e.yaml");
  EXPECT_EQ(find({.router = "edge1"}).file, "/srv/e.yaml");
  EXPECT_EQ(find({.router = "edge1", .to = "/tmp/e.yaml"}).file, "/tmp/e.yaml");
  EXPECT_EQ(find({.router = "edge1"}).store.directory(), state / "edge1");
  EXPECT_FALSE(find({.router = "edge1"}).router);
}

TEST_F(SiteTest, ARouterThatRunsHasTheLastWord) {
  const test::FakeRouter router(top, "edge1", [](const std::string&) {
    const Json status = {
        {"router", "edge1"}, {"state", "/run/s"}, {"file", "/run/e.yaml"}, {"hash", "0123456789abcdef"}};
    return Json{{"/surety/changes", status}}.dump();
  });
  const Site site = find({.to = "/tmp/e.yaml"});
  EXPECT_EQ(site.name, "edge1");
  EXPECT_EQ(site.file, "/run/e.yaml");
  EXPECT_EQ(site.store.directory(), "/run/s");
  ASSERT_TRUE(site.router);
  EXPECT_EQ(site.router->trial(), nullptr);
  EXPECT_FALSE(find({.router = "edge2"}).router) << "another one";
}

}  // namespace
}  // namespace surety
