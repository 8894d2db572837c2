// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/process_lock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace surety {
namespace {

std::string fresh_name() {
  static int number = 0;
  return fmt::format("test-{}-{}", getpid(), ++number);
}

TEST(ProcessLock, IsHeldByOneProcess) {
  const std::string name = fresh_name();
  const ProcessLock first(name);
  EXPECT_FALSE(first.holder());
  EXPECT_EQ(ProcessLock(name).holder(), std::to_string(getpid())) << "who lives is not waited for";
}

TEST(ProcessLock, IsFreeAfterItsHolder) {
  const std::string name = fresh_name();
  { const ProcessLock first(name); }
  EXPECT_FALSE(ProcessLock(name).holder());
}

// A child of the holder's has the file, too: the lock stays a while, as it does until the kernel has freed
// what a killed router had.
TEST(ProcessLock, OfOneWhoIsKilledIsWaitedFor) {
  const std::string name = fresh_name();
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const ProcessLock lock(name);
    if (fork() == 0) {
      (void)!write(ready[1], "x", 1);
      poll(nullptr, 0, 500);
      _exit(0);
    }
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(holder, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(holder), &ended, WEXITED | WNOWAIT), 0);
  const ProcessLock ours(name);
  EXPECT_FALSE(ours.holder());
  waitpid(holder, nullptr, 0);
  for (const int fd : ready) close(fd);
}

}  // namespace
}  // namespace surety
