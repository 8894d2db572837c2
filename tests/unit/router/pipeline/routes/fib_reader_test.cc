// SPDX-License-Identifier: BSD-3-Clause
// Workers look up while the control thread changes the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "router/pipeline/routes/fib.h"
#include "tests/unit/any_cpu.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

TEST(FibReader, SeesTheOldOrTheNewOnly) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("10.0.0.0/16"), 3));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> turns{0}, strange{0};
  std::thread reader([&, cpu = sched_getcpu()] {
    test::run_beside(cpu);
    std::uint32_t ips[64];
    std::uint64_t values[64];
    for (std::uint32_t i = 0; i < 64; ++i) ips[i] = (10u << 24) + i * 128;
    while (!done) {
      fib.lookup4(ips, values, 64);
      for (unsigned i = 0; i < 64; ++i) {
        const bool in_first = i < 2, in_second = i == 2 || i == 3;
        if (values[i] != 3 && !(in_first && values[i] == 4) && !(in_second && values[i] == 5)) ++strange;
      }
      ++turns;
      std::this_thread::yield();
    }
  });
  fib.set_quiesce([&] {
    for (const auto until = turns + 2; turns < until;) std::this_thread::yield();
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(fib.add(prefix("10.0.0.0/25"), 4));
    EXPECT_TRUE(fib.remove(prefix("10.0.0.0/25")));
    EXPECT_TRUE(fib.add(prefix("10.0.1.0/25"), 5));
    EXPECT_TRUE(fib.remove(prefix("10.0.1.0/25")));
  }
  done = true;
  reader.join();
  EXPECT_EQ(strange, 0U);
}

// A route that is there all the while answers all the while, in the old table and in the one that has grown.
// The reader is nearly always in the middle of a long vector, with the table in its hands.
TEST(FibReader, MeetsNoGapAsItGrows) {
  constexpr unsigned kLong = 4096;
  Fib fib("fib", 100'000);
  ASSERT_TRUE(fib.add(prefix("192.0.2.0/25"), 3));
  ASSERT_TRUE(fib.add(prefix("2001:db9::/48"), 3));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> turns{0}, strange{0};
  std::thread reader([&, cpu = sched_getcpu()] {
    test::run_beside(cpu);
    std::vector<std::uint32_t> ips;
    std::vector<std::array<std::uint8_t, 16>> addresses(kLong);
    std::vector<std::uint64_t> values(kLong);
    for (std::uint32_t i = 0; i < kLong; ++i) ips.push_back(0xc0000200 + i % 128);
    for (auto& a : addresses) std::memcpy(a.data(), address("2001:db9::1").data(), 16);
    const auto look = [&] { strange += kLong - static_cast<std::uint64_t>(std::ranges::count(values, 3U)); };
    while (!done) {
      fib.lookup4(ips.data(), values.data(), kLong);
      look();
      fib.lookup6(reinterpret_cast<const std::uint8_t(*)[16]>(addresses.data()), values.data(), kLong);
      look();
      ++turns;
    }
  });
  unsigned quiesced = 0;
  fib.set_quiesce([&] {
    ++quiesced;
    for (const auto until = turns + 2; turns < until;) std::this_thread::yield();
  });
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    IpAddress v6 = address("2001:db8::");
    v6.data()[4] = static_cast<std::uint8_t>(i >> 8);
    v6.data()[5] = static_cast<std::uint8_t>(i);
    EXPECT_TRUE(fib.add({IpAddress::v4(__builtin_bswap32(0x0a000000 + (i << 6))), 27}, i + 1));
    EXPECT_TRUE(fib.add({v6, 64}, i + 1));
  }
  done = true;
  reader.join();
  EXPECT_GE(quiesced, 2u) << "IPv4's has grown, and memory of IPv6's came free";
  EXPECT_EQ(strange, 0U);
}

}  // namespace
}  // namespace surety
