// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_compare.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;

FlowResult flow(const char* name, double throughput, double in_share = 0.5, std::uint64_t lost = 2) {
  FlowResult f;
  f.name = name;
  f.protocol = "gtfrc";
  f.target_bps = 1e6;
  f.throughput_bps = throughput;
  f.goodput_bps = throughput / 2;
  f.in_share = in_share;
  f.sent_packets = 100;
  f.lost_packets = lost;
  return f;
}

QueueResult queue(const char* port, std::uint64_t n) {
  QueueResult q;
  q.router = "core";
  q.port = port;
  q.queue = "assured";
  q.by_precedence = {PrecedenceResult{n, n / 10, n / 20, n / 50, 0}, PrecedenceResult{2 * n, 0, 0, 0, 0}};
  return q;
}

RunResult run(std::uint64_t seed, double throughput, std::uint64_t arrivals) {
  RunResult r;
  r.scenario = "small";
  r.seed = seed;
  r.flows = {flow("f", throughput)};
  r.queues = {queue("out", arrivals)};
  return r;
}

LiveOutcome live(std::optional<double> throughput) {
  LiveOutcome o;
  LiveFlow f;
  f.name = "f";
  f.throughput_bps = throughput;
  f.goodput_bps = 490e3;
  f.in_share = 0.25;
  f.sent_packets = 200;
  f.lost_packets = 8;
  o.flows = {f};
  o.queues = {queue("other", 1), queue("out", 200)};
  return o;
}

const std::vector<RunResult> kMeasured{run(1, 990e3, 100), run(2, 1010e3, 300)};
std::vector<RunResult> whole() {
  auto all = kMeasured;
  all[0].flows = {flow("f", 1, 0.25, 4)};
  all[1].flows = {flow("f", 1, 0.75, 6)};
  return all;
}

TEST(LabLiveCompare, RatesAreMeansOfTheMeasuredInterval) {
  const LiveComparison c = compare(kMeasured, whole(), live(980e3));
  ASSERT_EQ(c.flows.size(), 1u);
  EXPECT_EQ(c.flows[0].throughput.lab, 1e6);
  EXPECT_EQ(c.flows[0].throughput.live, 980e3);
  EXPECT_NEAR(c.flows[0].throughput_sd, 14142.1356, 1e-3);
  EXPECT_EQ(c.flows[0].goodput.lab, 500e3);
  EXPECT_EQ(c.flows[0].goodput.live, 490e3);
  EXPECT_NEAR(*c.flows[0].difference(), -0.02, 1e-12);
}

TEST(LabLiveCompare, SharesAreOfTheWholeRun) {
  const LiveComparison c = compare(kMeasured, whole(), live(980e3));
  EXPECT_EQ(c.flows[0].in_share.lab, 0.5);
  EXPECT_EQ(c.flows[0].in_share.live, 0.25);
  EXPECT_DOUBLE_EQ(*c.flows[0].loss.lab, 0.05);
  EXPECT_DOUBLE_EQ(*c.flows[0].loss.live, 0.04);
}

TEST(LabLiveCompare, QueuesAreFoundByTheirNames) {
  const LiveComparison c = compare(kMeasured, whole(), live(980e3));
  ASSERT_EQ(c.queues.size(), 1u);
  const auto& in = c.queues[0].counters[index(Precedence::in)];
  EXPECT_EQ(in[0].lab, 200);
  EXPECT_EQ(in[0].live, 200);
  EXPECT_EQ(in[1].lab, 20);
  EXPECT_EQ(in[2].live, 10);
  EXPECT_EQ(in[3].live, 4);
  EXPECT_EQ(c.queues[0].counters[index(Precedence::out)][0].live, 400);
  auto none = live(1);
  none.queues.clear();
  EXPECT_EQ(compare(kMeasured, whole(), none).queues[0].counters[0][0].live, std::nullopt);
}

bool agrees(std::optional<double> throughput) {
  return compare(kMeasured, whole(), live(throughput)).agrees();
}

TEST(LabLiveCompare, FivePercentIsTheTolerance) {
  EXPECT_TRUE(agrees(1'049'900));
  EXPECT_FALSE(agrees(1'050'100));
  EXPECT_TRUE(agrees(950'100));
  EXPECT_FALSE(agrees(949'900));
  EXPECT_FALSE(agrees(std::nullopt));
}

TEST(LabLiveCompare, RunsThatAreFurtherApartAllowMore) {
  const std::vector<RunResult> apart{run(1, 900e3, 1),
                                     run(2, 1100e3, 1)};  // a standard deviation of 141 kbit/s
  const auto of = [&](double throughput) { return compare(apart, apart, live(throughput)).flows[0]; };
  EXPECT_NEAR(of(1e6).tolerance(), 3.04 * 0.1414214, 1e-6);
  EXPECT_TRUE(of(571e3).agrees());
  EXPECT_FALSE(of(569e3).agrees());
  EXPECT_EQ(compare(kMeasured, kMeasured, live(1e6)).flows[0].tolerance(), 0.05)
      << "a standard deviation of 1.4 %";
}

TEST(LabLiveCompare, OneFlowThatDiffersIsEnough) {
  auto both = kMeasured;
  for (auto& r : both) r.flows.push_back(flow("g", 1e6));
  auto outcome = live(1e6);
  outcome.flows.push_back(outcome.flows[0]);
  EXPECT_TRUE(compare(both, both, outcome).agrees());
  outcome.flows[1].throughput_bps = 1.2e6;
  EXPECT_FALSE(compare(both, both, outcome).agrees());
}

TEST(LabLiveCompare, AFlowOfNothingAgreesWithNothing) {
  const std::vector<RunResult> nothing{run(1, 0, 0)};
  EXPECT_EQ(compare(nothing, nothing, live(0)).flows[0].difference(), std::nullopt);
  EXPECT_TRUE(compare(nothing, nothing, live(std::nullopt)).agrees());
  EXPECT_FALSE(compare(nothing, nothing, live(1)).agrees());
}

TEST(LabLiveCompare, TheTextHasBothSideBySide) {
  EXPECT_EQ(compare(kMeasured, whole(), live(980e3)).text(),
            R"(small: the lab's mean of 2 seeds, and one run in real time

flow    target     throughput: lab (sd)        live  difference  allowed      goodput: lab | live  IN, whole run: lab | live  loss, whole run: lab | live
f     1 Mbit/s  1 Mbit/s (14.14 kbit/s)  980 kbit/s      -2.0 %    5.0 %  500 kbit/s | 490 kbit/s            50.0 % | 25.0 %                5.0 % | 4.0 %

queue                  arrivals: lab | live  early drops  forced drops  overflow drops
core.out assured  IN              200 | 200      20 | 20       10 | 10           4 | 4
core.out assured  OUT             400 | 400        0 | 0         0 | 0           0 | 0

Every flow is within 5 % of the lab's mean, or within the spread of the lab's own runs.
)");
}

TEST(LabLiveCompare, AMachineThatIsTooSlowIsInDoubt) {
  const auto doubtful = [](std::uint64_t carried, std::uint64_t late, std::uint64_t missed) {
    auto outcome = live(1e6);
    outcome.carried_packets = carried;
    outcome.late_packets = late;
    outcome.missed_packets = missed;
    return compare(kMeasured, whole(), outcome).doubtful();
  };
  EXPECT_FALSE(doubtful(1000, 10, 0));
  EXPECT_TRUE(doubtful(1000, 11, 0));
  EXPECT_TRUE(doubtful(1000, 0, 1));
}

TEST(LabLiveCompare, TheTextSaysWhatDiffersAndWhatIsInDoubt) {
  auto outcome = live(800e3);
  outcome.carried_packets = 500;
  outcome.late_packets = 20;
  outcome.missed_packets = 17;
  EXPECT_THAT(compare(kMeasured, whole(), outcome).text(),
              testing::EndsWith(
                  "f: live 800 kbit/s, lab 1 Mbit/s: they differ by more than 5.0 %\n"
                  "This machine was too slow: of 500 packets it lost 17, and sent 20 more than 5 ms late. "
                  "The live results are doubtful.\n"));
}

TEST(LabLiveCompare, TheJsonHasTheNumbers) {
  const Json j = compare(kMeasured, whole(), live(980e3)).json();
  EXPECT_EQ(
      j.at("flows").dump(),
      R"([{"name":"f","protocol":"gtfrc","target_bps":1000000,)"
      R"("lab":{"throughput_bps":1000000,"goodput_bps":500000,"in_share":0.5,"loss":0.05,"throughput_sd_bps":14142},)"
      R"("live":{"throughput_bps":980000,"goodput_bps":490000,"in_share":0.25,"loss":0.04},"difference":-0.02,"tolerance":0.05,"agrees":true}])");
  EXPECT_EQ(j.at("queues")[0].at("in").at("early_drops").dump(), R"({"lab":20.0,"live":20})");
  EXPECT_EQ(j.at("seeds"), Json({1, 2}));
  EXPECT_EQ(j.at("agrees"), true);
  EXPECT_EQ(j.at("late_packets"), 0);
  EXPECT_EQ(j.at("missed_packets"), 0);
  EXPECT_EQ(j.at("doubtful"), false);
}

}  // namespace
}  // namespace surety::lab
