// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/bench_pacing.h"

#include <gtest/gtest.h>

#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kFrame = 114;

std::vector<std::uint8_t> frame(std::uint16_t source_port, std::size_t length = kFrame) {
  std::vector<std::uint8_t> f(length);
  f[34] = static_cast<std::uint8_t>(source_port >> 8);
  f[35] = static_cast<std::uint8_t>(source_port);
  return f;
}

TEST(PacingMeter, MeasuresTheDistanceWithinEachFlow) {
  PacingMeter m(kFrame, 100us, Time{});
  m.on_departure(frame(1), Time(0us));
  m.on_departure(frame(2), Time(50us));
  EXPECT_EQ(m.packets(), 0u);
  m.on_departure(frame(1), Time(100us));  // exact
  m.on_departure(frame(2), Time(153us));  // 3 us late
  m.on_departure(frame(1), Time(190us));  // 10 us early
  EXPECT_EQ(m.packets(), 3u);
  EXPECT_EQ(m.largest(), 10us);
  EXPECT_EQ(m.quantile(1.0 / 3), PacingMeter::kStep);
  EXPECT_EQ(m.quantile(2.0 / 3), 3us + PacingMeter::kStep);
  EXPECT_EQ(m.quantile(1), 10us + PacingMeter::kStep);
}

TEST(PacingMeter, CountsNeitherOtherFramesNorTheWarmUp) {
  PacingMeter m(kFrame, 100us, Time(1s));
  m.on_departure(frame(1), Time(1s) - 1ns);
  m.on_departure(frame(1), Time(1s) + 5us);
  EXPECT_EQ(m.packets(), 0u);
  m.on_departure(frame(1, 60), Time(1s) + 50us);
  m.on_departure(frame(1), Time(1s) + 105us);
  EXPECT_EQ(m.packets(), 1u);
  EXPECT_EQ(m.largest(), 0us);
}

TEST(PacingMeter, HugeErrorsAreInTheLastStep) {
  PacingMeter m(kFrame, 100us, Time{});
  m.on_departure(frame(1), Time(0us));
  m.on_departure(frame(1), Time(1s));
  EXPECT_EQ(m.largest(), 1s - 100us);
  EXPECT_EQ(m.quantile(0.5), 2ms);
}

TEST(PacingMeter, NothingMeasuredIsNoError) {
  EXPECT_EQ(PacingMeter(kFrame, 100us, Time{}).quantile(0.99), Duration{});
}

}  // namespace
}  // namespace surety::endpoints
