// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/disk.h"

#include <sys/stat.h>

#include <stdexcept>
#include <string>

#include "tests/unit/router/operate/generations/store_bed.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

struct DiskTest : test::StoreBed {};

// `surety apply` writes beside the router's file, whatever another has put there.
TEST_F(DiskTest, WhatCannotBeWrittenIsNamed) {
  const fs::path file = top / "edge.yaml", beside = top / ".edge.yaml.new";
  ASSERT_EQ(::mkfifo(beside.c_str(), 0600), 0);
  try {
    disk::write(beside, "a", {});
    FAIL() << "it is a FIFO";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(e.what(), "cannot write " + beside.string() + ": it is a FIFO or a socket, not a regular file");
  }
  EXPECT_THROW(disk::replace(file, "a", {}), std::runtime_error);
  disk::replace(file, "a", {});  // what was in the way is gone
  EXPECT_EQ(disk::read(file, config::Links::followed), "a");
}

}  // namespace
}  // namespace surety
