// SPDX-License-Identifier: BSD-3-Clause
// Reports a CPU that lacks the instructions of the build, before SIGILL would end the process. Compiled for
// the baseline CPU and run before any other code of ours.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

[[gnu::constructor(101)]] void check_cpu() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
    return;
  const char* text =
      "surety: this program was built with -march=" SURETY_MARCH
      ", which this CPU does not have; build with `cmake --preset release -DSURETY_MARCH=x86-64-v2`\n";
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) std::abort();
  std::_Exit(1);
}

}  // namespace
