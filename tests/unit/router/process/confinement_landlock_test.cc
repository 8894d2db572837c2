// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/confinement.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(Landlock, SaysWhatThisKernelsHolds) {
  EXPECT_EQ(landlock::summary(-1), "all files (no Landlock here)");
  EXPECT_EQ(landlock::summary(0), "all files (no Landlock here)");
  for (const long abi : {1, 2, 3}) EXPECT_EQ(landlock::summary(abi), "files by Landlock") << abi;
  for (const long abi : {4, 5, 7}) EXPECT_EQ(landlock::summary(abi), "files and TCP by Landlock") << abi;
}

}  // namespace
}  // namespace surety
