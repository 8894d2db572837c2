// SPDX-License-Identifier: BSD-3-Clause
// main() of the tests that need DPDK's memory: no huge pages, no devices, nothing shared with other
// processes, so that they run anywhere, in parallel and without privileges.
#include <gtest/gtest.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include <array>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::array<std::string, 9> words{"unit", "--no-huge",      "--no-pci",     "--no-shconf",          "-m",
                                   "512",  "--no-telemetry", "--lcores=0@0", "--log-level=lib.eal:4"};
  std::array<char*, 9> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
    std::fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  rte_eal_cleanup();
  return failed;
}
