// SPDX-License-Identifier: BSD-3-Clause
// router/dpdk/telemetry under a real EAL, asked by the real client over the real socket.
#include "router/dpdk/telemetry.h"

#include <gtest/gtest.h>
#include <rte_eal.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

#include "router/observe/telemetry_client.h"
#include "tests/unit/router/observe/fake_router.h"
#include "tests/unit/router/observe/sample_reading.h"

namespace surety {
namespace {

Json ask(std::string_view table) {
  return TelemetryClient().table(table, "unit-telemetry");
}

TEST(Telemetry, HandsOutEveryTable) {
  const Telemetry telemetry(test::sample_reading);
  ASSERT_TRUE(telemetry.ok());
  for (const std::string_view name : kTables)
    EXPECT_EQ(ask(name), table(test::sample_reading(), name)) << name;
}

TEST(Telemetry, HandsOutALongTableFromOneReading) {
  int readings = 0;
  Reading reading = test::sample_reading();
  reading.ports.resize(kMaxPorts, reading.ports[0]);
  const Telemetry telemetry([&] {
    ++readings;
    return reading;
  });
  EXPECT_EQ(ask("drops"), table(reading, "drops"));
  EXPECT_EQ(readings, 1);
  EXPECT_EQ(ask("domains"), table(reading, "domains"));
  EXPECT_EQ(readings, 2);
}

TEST(Telemetry, AnswersNullWhenTheRouterIsGoneAndAgainWhenItIsBack) {
  { const Telemetry telemetry(test::sample_reading); }
  EXPECT_THROW(ask("ports"), std::runtime_error);
  const Telemetry telemetry(test::sample_reading);
  EXPECT_EQ(ask("ports"), table(test::sample_reading(), "ports"));
}

}  // namespace
}  // namespace surety

// A runtime directory of its own: nothing shared with routers of this machine.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const surety::test::RuntimeDirectory directory;
  setenv("RUNTIME_DIRECTORY", directory.path().c_str(), 1);
  std::array<std::string, 9> words{"unit",
                                   "--no-huge",
                                   "--no-pci",
                                   "--no-shconf",
                                   "-m",
                                   "512",
                                   "--lcores=0@0",
                                   "--file-prefix=surety-unit-telemetry",
                                   "--log-level=lib.eal:4"};
  std::array<char*, 9> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 1;
  const int failed = RUN_ALL_TESTS();
  rte_eal_cleanup();
  return failed;
}
