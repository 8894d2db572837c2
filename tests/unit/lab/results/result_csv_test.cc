// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_csv.h"

#include <gtest/gtest.h>

#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

TEST(ResultCsv, FlowsOfEverySeed) {
  const RunResult runs[] = {test::sample_run(1), test::sample_run(2)};
  EXPECT_EQ(flows_csv(runs),
            "time_s,seed,flow,protocol,throughput_bps,in_throughput_bps,cwnd_packets,x_bps,one_way_delay_s\n"
            "1,1,long,gtfrc,100000,90000,,120000,\n"
            "2,1,long,gtfrc,790000,750000,,800000,0.25\n"
            "1,1,plain,newreno,140000,,10.5,,\n"
            "2,1,plain,newreno,160000,,11,,\n"
            "1,2,long,gtfrc,100000,90000,,120000,\n"
            "2,2,long,gtfrc,790000,750000,,800000,0.25\n"
            "1,2,plain,newreno,140000,,10.5,,\n"
            "2,2,plain,newreno,160000,,11,,\n");
}

TEST(ResultCsv, QueuesDomainsAndAggregates) {
  const RunResult run = test::sample_run();
  EXPECT_EQ(queues_csv({&run, 1}),
            "time_s,seed,router,port,queue,average_in,average_total\n"
            "1,1,core,out,assured,10,14\n"
            "2,1,core,out,assured,12,16\n");
  EXPECT_EQ(domains_csv({&run, 1}),
            "time_s,seed,router,port,queue,at,alpha\n"
            "1,1,core,out,assured,edge,0.2\n"
            "2,1,core,out,assured,edge,0.18\n");
  EXPECT_EQ(aggregates_csv({&run, 1}),
            "time_s,seed,router,aggregate,tpr_bps,tokens_bytes\n"
            "1,1,edge,gold,700000,60000\n"
            "2,1,edge,gold,700000,45000\n");
}

TEST(ResultCsv, TimesAreThoseOfTheSamples) {
  RunResult run;
  run.sample_s = 0.1;
  run.aggregates.push_back({"r", "a", 0, 0, 0, 0, 0, 0, 0, 0, {1, 2, 3}});
  EXPECT_EQ(aggregates_csv({&run, 1}),
            "time_s,seed,router,aggregate,tpr_bps,tokens_bytes\n0.1,0,r,a,1,\n0.2,0,r,a,2,\n0.3,0,r,a,3,\n");
}

TEST(ResultCsv, QuotesNamesThatNeedIt) {
  RunResult run;
  run.aggregates.push_back({"a,b", "say \"x\"", 0, 0, 0, 0, 0, 0, 0, 0, {1}});
  EXPECT_EQ(aggregates_csv({&run, 1}),
            "time_s,seed,router,aggregate,tpr_bps,tokens_bytes\n1,0,\"a,b\",\"say \"\"x\"\"\",1,\n");
}

}  // namespace
}  // namespace surety::lab
