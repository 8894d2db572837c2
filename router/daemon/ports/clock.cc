// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/clock.h"

#include <rte_cycles.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr int kTries = 16;          // one of them is not interrupted
constexpr auto kLeast = 50ms;       // two readings within 50 ns each: 2 parts per million
constexpr double kRounding = 0.01;  // more than the error of DPDK's figure
const TscReading kProgramStart = read_tsc();

std::int64_t kernel_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

double measure() {
  const auto passed = std::chrono::nanoseconds(kernel_ns() - kProgramStart.ns);
  if (passed < kLeast) std::this_thread::sleep_for(kLeast - passed);
  const TscReading now = read_tsc();
  const auto hz =
      static_cast<double>(now.tsc - kProgramStart.tsc) * 1e9 / static_cast<double>(now.ns - kProgramStart.ns);
  const auto nominal = static_cast<double>(rte_get_tsc_hz());
  // A machine that was stopped in between, and one of its clocks with it.
  return std::abs(hz - nominal) > kRounding * nominal ? nominal : hz;
}

}  // namespace

TscReading read_tsc() {
  TscReading best{};
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = kernel_ns();
    const std::uint64_t tsc = rte_rdtsc_precise();
    const std::int64_t after = kernel_ns();
    if (i == 0 || after - before < best.uncertain)
      best = {tsc, before + (after - before) / 2, after - before};
  }
  return best;
}

double tsc_hz() {
  static const double hz = measure();
  return hz;
}

}  // namespace surety
