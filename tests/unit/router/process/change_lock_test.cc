// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/change_lock.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

namespace surety {
namespace {

TEST(ChangeLock, TellsTheSecondWhoTheFirstIs) {
  char name[] = "/tmp/lock-XXXXXX";
  const std::filesystem::path directory = ::mkdtemp(name);
  {
    const ChangeLock first(directory, "alice", "apply");
    EXPECT_FALSE(ChangeLock::if_free(directory, "bob", "setup"));
    try {
      const ChangeLock second(directory, "bob", "setup");
      ADD_FAILURE();
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()), "alice (apply, process " + std::to_string(::getpid()) +
                                           ") is changing this at the moment: try again when that is done");
    }
  }
  EXPECT_TRUE(ChangeLock::if_free(directory, "bob", "setup"));
  std::filesystem::remove_all(directory);
}

TEST(ChangeLock, SaysWhereItCannotBe) {
  EXPECT_THROW(ChangeLock("/nowhere", "alice", "apply"), std::runtime_error);
  char name[] = "/tmp/lock-XXXXXX";
  const std::filesystem::path directory = ::mkdtemp(name), fifo = directory / "lock";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  try {
    const ChangeLock lock(directory, "alice", "apply");
    ADD_FAILURE();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), "cannot write " + fifo.string() + ": it is a FIFO, not a regular file");
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace surety
