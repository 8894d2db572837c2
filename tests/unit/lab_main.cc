// SPDX-License-Identifier: BSD-3-Clause
// main() of the tests of the lab: DPDK as the lab itself starts it.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/lab/simulation/lab_dpdk.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    surety::lab::start_dpdk(2);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return RUN_ALL_TESTS();
}
