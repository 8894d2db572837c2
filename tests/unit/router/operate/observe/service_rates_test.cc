// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/service_rates.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{1000s};

// Three services: 8 kbit/s a contract (1000 bytes per second), 800 kbit/s, and one that promises nothing.
class ServiceRatesTest : public testing::Test {
 protected:
  ServiceReading& at(std::size_t service, std::uint64_t in, std::uint64_t out, std::uint64_t contracts = 1) {
    ServiceReading& s = services[service];
    s = {};
    s.counters.bytes = {in, out};
    s.counters.contracts = contracts;
    return s;
  }

  ServiceRates rates{{8_kbps, 800_kbps, Rate{}}};
  std::vector<ServiceReading> services = std::vector<ServiceReading>(3);
};

TEST_F(ServiceRatesTest, BeforeTheFirstSampleOnlyThePromiseIsKnown) {
  at(0, 5000, 100, 3);
  rates.apply(services, kStart);
  EXPECT_EQ(services[0].committed_bytes_per_second, 3000);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 0);
}

TEST_F(ServiceRatesTest, AchievedIsWhatWasDeliveredOverTheTimeSince) {
  at(0, 10'000, 1000);
  at(1, 0, 0);
  at(2, 100, 7);
  rates.sample(services, kStart);
  at(0, 11'000, 2500);
  at(1, 50'000, 0, 2);
  at(2, 1100, 7, 0);
  rates.apply(services, kStart + 2s);
  EXPECT_EQ(services[0].achieved_in_bytes_per_second, 500);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 1250);
  EXPECT_EQ(services[0].committed_bytes_per_second, 1000);
  EXPECT_EQ(services[1].committed_bytes_per_second, 200'000);
  EXPECT_EQ(services[2].achieved_bytes_per_second, 500);
}

TEST_F(ServiceRatesTest, WhatIsLostBehindTheConditionerIsNotAchieved) {
  at(0, 1000, 1000).counters.lost_bytes = {500, 900};
  rates.sample(services, kStart);
  at(0, 4000, 3000).counters.lost_bytes = {1500, 2900};
  rates.apply(services, kStart + 1s);
  EXPECT_EQ(services[0].achieved_in_bytes_per_second, 2000);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 2000);
}

TEST_F(ServiceRatesTest, DeliveredNeverGoesBack) {
  const auto delivered = [&](std::uint64_t in, std::uint64_t lost) {
    at(0, in, 0).counters.lost_bytes = {lost, 0};
    rates.apply(services, kStart);
    return services[0].delivered_bytes[0];
  };
  EXPECT_EQ(delivered(1000, 0), 1000u);
  EXPECT_EQ(delivered(1000, 400), 1000u) << "what waited was lost with its port";
  EXPECT_EQ(delivered(1300, 400), 1000u);
  EXPECT_EQ(delivered(1500, 400), 1100u);
}

TEST_F(ServiceRatesTest, AtTheMomentOfTheFirstSampleThereIsNoTimeToDivideBy) {
  at(0, 3000, 0);
  rates.sample(services, kStart);
  rates.apply(services, kStart);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 0);
}

TEST_F(ServiceRatesTest, AReadingOlderThanTheSampleShowsNoRate) {
  at(0, 10'000, 500);
  rates.sample(services, kStart);
  at(0, 9'000, 400);
  rates.apply(services, kStart + 1s);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 0);
}

TEST_F(ServiceRatesTest, AfterAReloadThereMayBeMoreServicesAndOtherPromises) {
  at(0, 10'000, 0);
  rates.sample(services, kStart);
  rates.set_committed({16_kbps, 800_kbps, Rate{}, 8_kbps});
  services.resize(4);
  at(0, 11'000, 0);
  at(3, 700, 300);
  rates.apply(services, kStart + 1s);
  EXPECT_EQ(services[0].committed_bytes_per_second, 2000);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 1000);
  EXPECT_EQ(services[3].committed_bytes_per_second, 1000);
  EXPECT_EQ(services[3].achieved_bytes_per_second, 1000) << "it had carried nothing when the window began";
}

// The rate is k * 100 bytes per second in the k-th second: only the last ten samples count.
TEST_F(ServiceRatesTest, TheWindowMovesOn) {
  std::uint64_t bytes = 0;
  for (unsigned second = 0; second <= 20; ++second) {
    bytes += second * 100;
    at(0, 0, bytes);
    rates.sample(services, kStart + second * 1s);
  }
  rates.apply(services, kStart + 20s);
  // Samples of seconds 11 to 20: what came in seconds 12 to 20 over nine seconds.
  EXPECT_EQ(services[0].achieved_bytes_per_second, 100 * (12 + 20) / 2);
  at(0, 0, bytes);
  rates.apply(services, kStart + 23s);
  EXPECT_EQ(services[0].achieved_bytes_per_second, 100 * 9 * (12 + 20) / 2 / 12.0);
}

}  // namespace
}  // namespace surety
