// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/service_rates.h"

#include <gmock/gmock.h>

namespace surety {
namespace {

using testing::Optional;

std::vector<WorkerReading> workers(std::uint64_t busy, std::uint64_t idle) {
  std::vector<WorkerReading> rows(2);
  rows[1].counters = {.busy_cycles = busy, .idle_cycles = idle, .turns = 1};
  return rows;
}

TEST(BusyRatios, AreOfTheTimeBetweenTwoSamples) {
  BusyRatios ratios;
  auto rows = workers(0, 0);
  ratios.sample(workers(1000, 9000));
  ratios.apply(rows);
  EXPECT_EQ(rows[1].busy_ratio, std::nullopt) << "one sample is no time";
  ratios.sample(workers(1300, 9100));
  ratios.apply(rows);
  EXPECT_THAT(rows[1].busy_ratio, Optional(0.75));
  EXPECT_EQ(rows[0].busy_ratio, std::nullopt) << "it has not turned";
  ratios.sample(workers(1300, 9200));
  ratios.apply(rows);
  EXPECT_THAT(rows[1].busy_ratio, Optional(0.0));
}

}  // namespace
}  // namespace surety
