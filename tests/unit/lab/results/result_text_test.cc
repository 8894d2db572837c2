// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_text.h"

#include <gmock/gmock.h>

#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResultText, OneRun) {
  const RunResult run = test::sample_run();
  EXPECT_EQ(to_text({&run, 1}), R"(sample, 2 s, seed 1

Flows
flow   protocol      target   delivered    arriving     goodput      IN     RoS  conformance   loss  reordered       RTT   delay  repeated  loss events  to target  end to end
long   gtfrc     800 kbit/s  775 kbit/s  780 kbit/s  760 kbit/s  94.1 %  99.9 %       75.0 %  1.0 %          3  680.1 ms  300 ms         0           33        3 s  kept
plain  newreno                  0 bit/s  150 kbit/s     0 bit/s                                              0                           4            0

Queues
queue             packets  arrivals  early drops  forced  overflow  dropped  average  utilisation
core.out.assured  in           1000            2       0         0    0.2 %    11.25
core.out.assured  out           500           30       4         1    7.0 %
core.out.assured  all          1500           32       4         1    2.5 %       15       99.7 %
core.out.rest     all             7            0       0         0    0.0 %        0

Congestion domains
congested queue   alpha at  mean alpha  least  last
core.out.assured  edge            0.21   0.04  0.18

Aggregates
router  aggregate         TPR  of at most     IN rate    OUT rate  IN passed  OUT passed  remarked  dropped
edge    gold       700 kbit/s    1 Mbit/s  500 kbit/s  200 kbit/s       1000         200        30        4

Congestion signals, whole run
router  result   packets
core    sent           9
edge    applied        7
links   lost           2

Drops, whole run
router  reason    packets
core    early_in        2
links   loss            5
)");
}

RunResult flows_only(std::vector<FlowResult> flows, std::uint64_t seed = 1) {
  RunResult r;
  r.scenario = "s";
  r.seed = seed;
  r.flows = std::move(flows);
  return r;
}
FlowResult flow(const std::string& name, double target, double throughput) {
  FlowResult f;
  f.name = name;
  f.protocol = "udp";
  f.target_bps = target;
  f.delivered_bps = f.throughput_bps = f.goodput_bps = throughput;
  return f;
}
std::string text_of(std::vector<RunResult> runs) {
  return to_text(runs);
}

TEST(ResultText, EndToEndARateIsKeptFrom95PercentOn) {
  const std::string text = text_of({flows_only({flow("a", 1000, 950), flow("b", 1000, 949)})});
  EXPECT_EQ(text, R"(s, 0 s, seed 1

Flows
flow  protocol    target  delivered    goodput  to target  end to end
a     udp       1 kbit/s  950 bit/s  950 bit/s      never  kept
b     udp       1 kbit/s  949 bit/s  949 bit/s      never  MISSED
)");
}

TEST(ResultText, EndToEndWhatIsDeliveredCounts) {
  FlowResult f = flow("a", 1000, 400);
  f.throughput_bps = 2000;
  EXPECT_EQ(text_of({flows_only({f})}), R"(s, 0 s, seed 1

Flows
flow  protocol    target  delivered  arriving    goodput  to target  end to end
a     udp       1 kbit/s  400 bit/s  2 kbit/s  400 bit/s      never  MISSED
)");
}

TEST(ResultText, WithoutATargetTheCommittedRateIsJudgedEndToEnd) {
  FlowResult f = flow("a", 0, 949);
  f.committed_bps = 1000;
  EXPECT_THAT(text_of({flows_only({f})}), HasSubstr("MISSED"));
  f.target_bps = 900;
  EXPECT_THAT(text_of({flows_only({f})}), HasSubstr("kept"));
}

TEST(ResultText, SeveralSeedsShowMeanAndDeviation) {
  const std::string text =
      text_of({flows_only({flow("a", 1000, 1000)}, 1), flows_only({flow("a", 1000, 900)}, 2)});
  EXPECT_THAT(text, HasSubstr("s, 0 s, 2 seeds from 1 to 2, mean +- standard deviation\n"));
  EXPECT_THAT(text, HasSubstr("950.0 +- 70.7 bit/s"));
  EXPECT_THAT(text, HasSubstr("kept 1 of 2"));
}

TEST(ResultText, ManyFlowsOfOneSenderShareARow) {
  std::vector<FlowResult> flows;
  for (int i = 1; i <= 9; ++i) flows.push_back(flow("bulk#" + std::to_string(i), 1000, 920 + 10 * i));
  flows.push_back(flow("lone", 0, 5));
  EXPECT_EQ(text_of({flows_only(flows)}), R"(s, 0 s, seed 1

Flows
flow      protocol    target                            delivered                              goodput  to target    Jain  end to end
bulk x 9  udp       1 kbit/s  930 bit/s / 970 bit/s / 1.01 kbit/s  930 bit/s / 970 bit/s / 1.01 kbit/s      never  0.9993  kept 7 of 9
lone      udp                                             5 bit/s                              5 bit/s
)");
  flows.erase(flows.begin());
  EXPECT_THAT(text_of({flows_only(flows)}), HasSubstr("\nbulk#9 "));
}

QueueResult of_interface(const std::string& interface, const std::string& definition, double departed_bps) {
  QueueResult q;
  q.router = "r";
  q.port = "p";
  q.queue = "data";
  q.interface = interface;
  q.definition = definition;
  q.by_precedence[index(Precedence::out)] = {10, 0, 0, 1, 0};
  q.average_total_mean = 2;
  q.departed_bps = departed_bps;
  return q;
}

TEST(ResultText, InterfacesOfATemplateShareARow) {
  RunResult r = flows_only({});
  for (int i = 1; i <= 9; ++i)
    r.queues.push_back(of_interface("homes." + std::to_string(i), "homes", i < 9 ? 1000 : 2000));
  r.queues.push_back(of_interface("acme", "acme", 500));
  r.queues.back().rate_bps = 1000;
  GroupResult g{"r", "p", "street", 9, 9, 20'000, 10'000, 0.925926};
  r.groups = {g, {"r", "p", "", 1, 1, 0, 500, 1.0}, {"r", "q", "", 1, 0, 0, 0, {}}};
  EXPECT_THAT(text_of({r}), HasSubstr(R"(
Queues of interfaces
interface    queue  arrivals  overflow  depth                            departed    shaper    Jain
r.homes x 9  data         10         1      2  1 kbit/s / 1.111 kbit/s / 2 kbit/s            0.9259
r.acme       data         10         1      2                           500 bit/s  1 kbit/s

Groups
port  group       interfaces  sending   departed     shaper    Jain
r.p   street               9        9  10 kbit/s  20 kbit/s  0.9259
r.p   (no group)           1        1  500 bit/s                  1
)"));
  EXPECT_THAT(text_of({r}), Not(HasSubstr("\nQueues\n")));
  r.queues.erase(r.queues.begin());
  EXPECT_THAT(text_of({r}), HasSubstr("\nr.homes.9 "));
  EXPECT_THAT(text_of({r}), HasSubstr("departed    shaper\n"));
}

TEST(ResultText, SaysWhatWasMeasuredAndWhetherItWasInterrupted) {
  RunResult r = flows_only({});
  r.duration_s = 200;
  r.measure_from_s = 100;
  r.measure_to_s = 200;
  r.interrupted = true;
  EXPECT_EQ(heading({&r, 1}), "s, 200 s (measured 100 s - 200 s), seed 1, interrupted");
}

TEST(ResultText, OfNoRunSaysSo) {
  EXPECT_EQ(to_text({}), "no runs\n");
}

}  // namespace
}  // namespace surety::lab
