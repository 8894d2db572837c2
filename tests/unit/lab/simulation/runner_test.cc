// SPDX-License-Identifier: BSD-3-Clause
// Real runs of a small scenario: what matters is who gets which result when.
#include "tests/lab/simulation/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_mempool.h>

#include <stdexcept>

#include "tests/lab/results/result_json.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;

Scenario scenario(const char* duration, const char* packet = "500 B") {
  auto result =
      parse_scenario(std::string("version: 1\nname: small\nseed: 7\nduration: ") + duration +
                         "\nhosts: [a, b]\nlinks: [{between: [a, b], rate: 1 Mbit/s, loss: 0.1}]\n"
                         "senders: [{name: f, host: a, to: b, protocol: udp, rate: 500 kbit/s, packet: " +
                         packet + "}]\n",
                     "small.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return std::move(*result.scenario);
}

class LabRunner : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_dpdk(); }

  // The first is the longest: with two threads it ends last.
  std::vector<Job> jobs(std::size_t n) const {
    const auto longer = make_plan(scenario("100 s")), shorter = make_plan(scenario("2 s"));
    std::vector<Job> made;
    for (std::size_t i = 0; i < n; ++i) made.push_back({i == 0 ? longer : shorter, i + 1});
    return made;
  }
};

using Order = std::vector<std::size_t>;

RunnerOptions noting(Order& order, unsigned threads) {
  return {.threads = threads, .done = [&order](std::size_t job, RunResult&&) { order.push_back(job); }};
}

TEST_F(LabRunner, WithoutJobsNothingHappens) {
  Order order;
  run_jobs({}, noting(order, 2));
  EXPECT_THAT(order, ElementsAre());
}

TEST_F(LabRunner, ResultsComeInTheOrderOfTheJobs) {
  for (const unsigned threads : {1u, 2u, 5u, 0u}) {
    Order order;
    run_jobs(jobs(6), noting(order, threads));
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5)) << threads;
  }
}

TEST_F(LabRunner, ResultsAreThoseOfTheirJobsWhateverTheNumberOfThreads) {
  const auto all = jobs(6);
  const auto lines = [&](unsigned threads) {
    std::vector<std::string> made;
    run_jobs(all, {.threads = threads,
                   .done = [&](std::size_t, RunResult&& r) { made.push_back(to_line(to_json(r))); }});
    return made;
  };
  const auto expected = lines(1);
  EXPECT_EQ(lines(2), expected);
  EXPECT_EQ(lines(3), expected);
  EXPECT_NE(expected[1], expected[2]);  // other seeds, other losses
}

TEST_F(LabRunner, SeedAndDurationReachTheRun) {
  run_jobs(jobs(2), {.threads = 1, .done = [](std::size_t job, RunResult&& r) {
                       EXPECT_EQ(r.seed, job + 1);
                       EXPECT_EQ(r.duration_s, job == 0 ? 100 : 2);
                     }});
}

std::size_t lab_pools() {
  std::size_t n = 0;
  rte_mempool_walk(
      [](rte_mempool* pool, void* count) {
        if (std::string(pool->name).starts_with("lab")) ++*static_cast<std::size_t*>(count);
      },
      &n);
  return n;
}

TEST_F(LabRunner, AThreadMakesOnePoolForAllItsJobs) {
  std::vector<std::size_t> pools;
  run_jobs(jobs(5), {.threads = 1, .done = [&](std::size_t, RunResult&&) { pools.push_back(lab_pools()); }});
  EXPECT_THAT(pools, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(lab_pools(), 0u);
}

TEST_F(LabRunner, NeitherCallIsMadeDuringAnother) {
  std::atomic<int> inside{0};
  const auto enter = [&] {
    EXPECT_EQ(inside.fetch_add(1), 0);
    std::this_thread::yield();
    inside.fetch_sub(1);
  };
  run_jobs(jobs(8), {.threads = 2,
                     .progress = [&](double) { enter(); },
                     .done = [&](std::size_t, RunResult&&) { enter(); }});
}

TEST_F(LabRunner, ProgressGrowsToOneWithTheSimulatedTime) {
  std::vector<double> parts, at_end;
  run_jobs(jobs(3), {.threads = 1,
                     .progress = [&](double part) { parts.push_back(part); },
                     .done = [&](std::size_t, RunResult&&) { at_end.push_back(parts.back()); }});
  EXPECT_TRUE(std::ranges::is_sorted(parts));
  EXPECT_GT(parts.front(), 0);
  EXPECT_LT(parts.front(), 0.5);
  EXPECT_THAT(at_end, ElementsAre(testing::DoubleNear(100. / 104, 1e-9),
                                  testing::DoubleNear(102. / 104, 1e-9), testing::DoubleNear(1, 1e-9)));
}

TEST_F(LabRunner, NothingIsBegunAfterAStop) {
  const std::atomic<bool> stop{true};
  Order order;
  auto options = noting(order, 2);
  options.stop = &stop;
  run_jobs(jobs(3), options);
  EXPECT_THAT(order, ElementsAre());
}

TEST_F(LabRunner, AStopEndsWhatRunsAndHandsItOver) {
  std::atomic<bool> stop{false};
  std::vector<RunResult> results;
  run_jobs(jobs(3), {.threads = 1,
                     .stop = &stop,
                     .progress = [&](double) { stop = true; },
                     .done = [&](std::size_t, RunResult&& r) { results.push_back(std::move(r)); }});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].interrupted);
  EXPECT_GT(results[0].duration_s, 0);
  EXPECT_LT(results[0].duration_s, 100);
}

struct Broken : LinkTap {
  void on_frame(std::size_t, int, std::span<const std::uint8_t>, Time) override {
    throw std::runtime_error("disk full");
  }
};

template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

TEST_F(LabRunner, AJobThatFailsIsTheLastToCount) {
  Broken tap;
  auto all = jobs(5);
  all[2].tap = &tap;
  for (const unsigned threads : {1u, 2u, 5u}) {
    Order order;
    EXPECT_EQ(thrown([&] { run_jobs(all, noting(order, threads)); }), "disk full");
    EXPECT_THAT(order, ElementsAre(0, 1)) << threads;
    EXPECT_EQ(lab_pools(), 0u);
  }
}

TEST_F(LabRunner, WhereReceivingAResultFailsNoOtherIsHandedOver) {
  for (const unsigned threads : {1u, 2u}) {
    Order order;
    const auto take = [&](std::size_t job, RunResult&&) {
      order.push_back(job);
      if (job == 1) throw std::runtime_error("closed");
    };
    EXPECT_EQ(thrown([&] { run_jobs(jobs(5), {.threads = threads, .done = take}); }), "closed");
    EXPECT_THAT(order, ElementsAre(0, 1)) << threads;
  }
}

TEST_F(LabRunner, PoolsHoldTheLongestPacketOfAllJobs) {
  const std::vector<Job> both{{make_plan(scenario("1 s"))}, {make_plan(scenario("1 s", "9000 B"))}};
  std::vector<std::uint64_t> received;
  run_jobs(both, {.threads = 1, .done = [&](std::size_t, RunResult&& r) {
                    received.push_back(r.flows[0].received_packets);
                  }});
  EXPECT_GT(received[0], 0u);
  EXPECT_GT(received[1], 0u);
}

TEST(LabPoolPackets, GrowWithTheHosts) {
  Scenario s = scenario("1 s");
  EXPECT_EQ(pool_packets(s), kPoolPackets);
  s.hosts.resize(4001);
  EXPECT_EQ(pool_packets(s), 160'040u);
}

TEST(LabLongestPacket, IsThatOfASenderOrTheUsualOne) {
  EXPECT_EQ(longest_packet(scenario("1 s")), 1500);
  EXPECT_EQ(longest_packet(scenario("1 s", "9000 B")), 9000);
}

}  // namespace
}  // namespace surety::lab
