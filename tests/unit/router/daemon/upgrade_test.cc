// SPDX-License-Identifier: BSD-3-Clause
// When `surety reload` becomes an upgrade, and what is refused; test_upgrade.py and test_systemd.py in
// tests/functional/appliance upgrade routers.
#include "router/daemon/upgrade.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "router/daemon/hand_over.h"
#include "router/process/fd.h"
#include "tests/unit/router/operate/observe/fake_router.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class UpgradeTest : public testing::Test {
 protected:
  static constexpr const char* kRequests = "/run/surety-upgrade";
  static constexpr const char* kMainProcess = "4711";

  void SetUp() override {
    if (contents("/proc/self/cmdline").find("--take-over") != std::string::npos)
      GTEST_SKIP() << "a broken upgrade() has started this program";
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, for a /run of its own";
    if (::unshare(CLONE_NEWNS) != 0)
      GTEST_SKIP() << "cannot make a mount namespace: " << std::strerror(errno);
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("run", "/run", "tmpfs", 0, nullptr), 0);
    fs::create_directory(kRequests);
    ::setenv("RUNTIME_DIRECTORY", directory_.path().c_str(), 1);
    stderr_ = std::cerr.rdbuf(said_.rdbuf());
  }
  void TearDown() override {
    if (stderr_ == nullptr) return;
    std::cerr.rdbuf(stderr_);
    for (const char* const name : {"RUNTIME_DIRECTORY", "MAINPID", "SURETY_FILE"}) ::unsetenv(name);
    ::umount2("/run", MNT_DETACH);
  }

  // A router that claims to be process `process`.
  void run_router(pid_t process) {
    RouterFacts facts;
    facts.process = process;
    router_.emplace(directory_, "edge1", [facts](const std::string& request) {
      return Json{{request.substr(0, request.find(',')), to_json(facts)}}.dump();
    });
  }
  // A request of an upgrade() that waits until the file is closed.
  static Fd request(const fs::path& file = fs::path(kRequests) / kMainProcess) {
    Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
    return fd;
  }
  std::string said() {
    std::string text = said_.str();
    said_.str("");
    return text;
  }

  test::RuntimeDirectory directory_;
  std::optional<test::FakeRouter> router_;
  std::ostringstream said_;
  std::streambuf* stderr_ = nullptr;
};

TEST_F(UpgradeTest, AReloadIsOneUnlessSystemdAndAnUpgradeWantMore) {
  const Fd waiting = request();
  EXPECT_EQ(upgrade_instead_of_reload({}), std::nullopt) << "not invoked by systemd";
  ::setenv("MAINPID", "4712", 1);
  EXPECT_EQ(upgrade_instead_of_reload({}), std::nullopt) << "the request is for another process";
  EXPECT_EQ(contents(fs::path(kRequests) / kMainProcess), "");
}

TEST_F(UpgradeTest, ARequestOfAProcessThatIsGoneIsNone) {
  ::setenv("MAINPID", kMainProcess, 1);
  request();  // closed at once
  EXPECT_EQ(upgrade_instead_of_reload({}), std::nullopt);
  EXPECT_EQ(contents(fs::path(kRequests) / kMainProcess), "");
}

TEST_F(UpgradeTest, ALinkIsNoRequest) {
  ::setenv("MAINPID", kMainProcess, 1);
  const fs::path elsewhere = directory_.path() / "file";
  const Fd locked = request(elsewhere);
  fs::create_symlink(elsewhere, fs::path(kRequests) / kMainProcess);
  EXPECT_EQ(upgrade_instead_of_reload({}), std::nullopt);
  EXPECT_EQ(contents(elsewhere), "");
}

TEST_F(UpgradeTest, ARequestIsTakenAndItsFailureSaid) {
  ::setenv("MAINPID", kMainProcess, 1);
  const Fd waiting = request();
  EXPECT_EQ(upgrade_instead_of_reload({}), 1);
  EXPECT_EQ(said(), "surety: error: no router is running: start one with `surety run`\n");
  EXPECT_EQ(contents(fs::path(kRequests) / kMainProcess), "taken\n");
}

// A router cannot name the file that the new one is started with, nor answer for another service's process.
TEST_F(UpgradeTest, TheUnitHasTheLastWord) {
  ::setenv("MAINPID", kMainProcess, 1);
  const Fd waiting = request();
  run_router(4712);
  EXPECT_EQ(upgrade_instead_of_reload({}), 1);
  EXPECT_EQ(said(), "surety: error: its unit does not set SURETY_FILE to the configuration of the router\n");
  ::setenv("SURETY_FILE", "/etc/surety/edge1.yaml", 1);
  EXPECT_EQ(upgrade_instead_of_reload({}), 1);
  EXPECT_EQ(said(), "surety: error: process 4712 answers, but the main process of the unit is 4711\n");
}

TEST_F(UpgradeTest, ThereMustBeARouter) {
  EXPECT_EQ(upgrade("edge1"), 1);
  EXPECT_EQ(said(), "surety: error: no router called edge1 is running: start it with `surety run`\n");
}

TEST_F(UpgradeTest, ARouterOfAnotherUserIsLeftAlone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const char done = 1;
    if (::setresuid(65534, 65534, 65534) == 0 && ::write(ends[1], &done, 1) == 1) ::pause();
    ::_exit(1);
  }
  char done = 0;
  EXPECT_EQ(::read(ends[0], &done, 1), 1);
  run_router(other);
  EXPECT_EQ(upgrade("edge1"), 1);
  EXPECT_EQ(said(),
            fmt::format("surety: error: process {} belongs to another user: run this as that user\n", other));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace surety
