// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/this_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

namespace surety {
namespace {

TEST(ProcessUse, CountsDescriptorsThatAreOpen) {
  const ProcessMeter meter(1.5);
  const ProcessUse before = meter.read();
  std::vector<Fd> open;
  for (int i = 0; i < 10; ++i) open.emplace_back(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(meter.read().open_fds, before.open_fds + 10);
  open.clear();
  EXPECT_EQ(meter.read().open_fds, before.open_fds);
  EXPECT_GT(before.max_fds, before.open_fds);
  EXPECT_EQ(before.start_time_seconds, 1.5);
}

TEST(ProcessUse, MemoryThatIsWrittenIsResident) {
  const ProcessMeter meter(0);
  const std::uint64_t before = meter.read().resident_bytes;
  EXPECT_GT(before, 1'000'000u);
  const std::vector<char> memory(std::size_t{64} << 20, 'x');
  EXPECT_GT(meter.read().resident_bytes, before + (std::uint64_t{60} << 20)) << memory.back();
}

TEST(ProcessUse, CpuTimeGoesOn) {
  const ProcessMeter meter(0);
  const double before = meter.read().cpu_seconds;
  volatile std::uint64_t work = 0;
  while (meter.read().cpu_seconds < before + 0.02)
    for (int i = 0; i < 100'000; ++i) work = work + 1;
  EXPECT_GT(work, 0u);
}

}  // namespace
}  // namespace surety
