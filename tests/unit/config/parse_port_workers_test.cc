// SPDX-License-Identifier: BSD-3-Clause
// Who works for the ports: `workers`, and a port's `worker` and `receive`. What is wrong with them stands in
// tests/unit/broken/workers*.yaml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parse.h"

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config parsed(const std::string& workers, const std::string& port = "") {
  const auto result =
      parse("version: 1\n" + workers + "\nports: {a: {device: null" + port + "}}\n", "f.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config.value_or(Config{});
}
Port port(const std::string& options, const std::string& workers = "") {
  const auto c = parsed(workers, ", " + options);
  return c.ports.empty() ? Port{} : c.ports[0];
}

TEST(ParseWorkers, AListOfCores) {
  const auto c = parsed("workers: [2, 1]");
  EXPECT_THAT(c.workers, ElementsAre(2, 1));
  EXPECT_EQ(c.idle, Config::Idle::adaptive);
}

TEST(ParseWorkers, CoresAndWhatTheyDoWithoutWork) {
  const auto c = parsed("workers: {cores: [1, 2], idle: poll}");
  EXPECT_THAT(c.workers, ElementsAre(1, 2));
  EXPECT_EQ(c.idle, Config::Idle::poll);
  EXPECT_EQ(parsed("workers: {idle: adaptive}").idle, Config::Idle::adaptive);
}

TEST(ParseWorkers, WithoutCoresTheyAreAllButTheFirst) {
  EXPECT_THAT(parsed("workers: {idle: poll}").workers, IsEmpty());
  EXPECT_THAT(parsed("").workers, IsEmpty());
}

TEST(ParsePortWorkers, NothingSaidIsNothingDecided) {
  const auto p = port("promiscuous: off");
  EXPECT_EQ(p.owner, std::nullopt);
  EXPECT_EQ(p.rx_queues, std::nullopt);
  EXPECT_THAT(p.rx_workers, IsEmpty());
}

TEST(ParsePortWorkers, AreCores) {
  const auto p = port("worker: 2, receive: {queues: 4, workers: [1, 2]}", "workers: [1, 2]");
  EXPECT_EQ(p.owner, 2u);
  EXPECT_EQ(p.rx_queues, 4);
  EXPECT_THAT(p.rx_workers, ElementsAre(1, 2));
}

TEST(ParsePortWorkers, WithoutWorkersAnyCoreMayBeOne) {
  EXPECT_EQ(port("worker: 7").owner, 7u);
  EXPECT_THAT(port("receive: {workers: 7}").rx_workers, ElementsAre(7));
}

TEST(ParsePortWorkers, AWorkerMayHaveMoreQueuesThanAnother) {
  EXPECT_THAT(port("receive: {queues: 3, workers: [1, 1, 2]}", "workers: [1, 2]").rx_workers,
              ElementsAre(1, 1, 2));
  EXPECT_EQ(port("receive: {queues: 64}").rx_queues, 64);
}

TEST(ParsePortWorkers, TheSectionsMayStandInAnyOrder) {
  const auto result = parse("version: 1\nports: {a: {device: null, worker: 1}}\nworkers: [1]\n", "f");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.config->ports[0].owner, 1u);
}

}  // namespace
}  // namespace surety::config
