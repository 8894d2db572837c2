// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

FlowResult camera() {
  FlowResult f;
  f.identity = {"camera", "gtfrc", "198.51.100.1:5001", 800_kbps};
  f.seconds = 60;
  f.delivered = f.throughput = 796_kbps;
  f.goodput = 772_kbps;
  f.arrival_known = true;
  f.sent = 4000;
  f.received = 3980;
  f.lost = 20;
  f.in_share = 0.9751;
  f.rtt = 52300us;
  f.min_rtt = 40ms;
  f.one_way_delay = 26ms;
  f.loss_event_rate = 0.00123;
  f.payload = 5'790'000;
  f.time_to_target = 2;
  f.respect = 0.985;
  f.state = "closed";
  f.failure = "none";
  return f;
}
// Nothing is promised, nobody answers.
FlowResult noise() {
  FlowResult f;
  f.identity = {"noise", "udp", "198.51.100.1:9", Rate{}};
  f.seconds = 60;
  f.sent = 100;
  f.state = "closed";
  f.failure = "no_answer";
  return f;
}
FlowResult backup(std::uint64_t kbps) {
  FlowResult f = camera();
  f.identity = {"backup", "gtcp", "[2001:db8::1]:5001", 4_Mbps};
  f.delivered = f.throughput = Rate::bits_per_second(kbps * 1000);
  f.respect = static_cast<double>(kbps) / 4000;
  return f;
}
Report report(std::vector<FlowResult> flows) {
  Report r;
  r.seconds = 61.5;
  r.flows = std::move(flows);
  return r;
}

TEST(Report, IsKeptWhenEveryPromiseIs) {
  EXPECT_TRUE(report({}).kept());
  EXPECT_TRUE(report({camera(), noise(), backup(3840)}).kept());
  EXPECT_FALSE(report({camera(), noise(), backup(3839)}).kept());
  Report strict = report({camera()});
  strict.tolerance = 0;
  EXPECT_FALSE(strict.kept());
}

TEST(ReportJson, AFlowWithEverything) {
  const auto json = nlohmann::json::parse(report({camera()}).json());
  EXPECT_EQ(json.at("flows").at(0), nlohmann::json::parse(R"({
    "name": "camera", "protocol": "gtfrc", "peer": "198.51.100.1:5001", "target_bps": 800000, "duration_s": 60.0,
    "delivered_bps": 796000, "throughput_bps": 796000, "goodput_bps": 772000, "sent_packets": 4000, "received_packets": 3980,
    "lost_packets": 20, "retransmitted_packets": 0, "duplicate_packets": 0,
    "payload_bytes": 5790000, "mismatched_bytes": 0, "in_share": 0.9751, "ros": 0.985,
    "time_to_target_s": 2.0, "rtt_mean_s": 0.0523, "rtt_min_s": 0.04, "one_way_delay_mean_s": 0.026,
    "loss_event_rate": 0.00123, "state": "closed", "failure": "none", "kept": true})"));
}

TEST(ReportJson, WhatIsNotKnownIsNull) {
  const auto json = nlohmann::json::parse(report({noise()}).json());
  const auto& flow = json.at("flows").at(0);
  for (const auto* key :
       {"target_bps", "delivered_bps", "throughput_bps", "goodput_bps", "in_share", "ros", "time_to_target_s",
        "rtt_mean_s", "rtt_min_s", "one_way_delay_mean_s", "loss_event_rate", "kept"})
    EXPECT_TRUE(flow.at(key).is_null()) << key;
}

TEST(ReportJson, TheWholeRun) {
  Report r = report({camera(), backup(1000)});
  r.accepted = {noise()};
  r.refusals[static_cast<std::size_t>(Refusal::checksum)] = 3;
  const auto json = nlohmann::json::parse(r.json());
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("duration_s"), 61.5);
  EXPECT_EQ(json.at("tolerance"), 0.04);
  EXPECT_EQ(json.at("kept"), false);
  EXPECT_EQ(json.at("flows").size(), 2u);
  EXPECT_EQ(json.at("flows").at(1).at("kept"), false);
  EXPECT_EQ(json.at("accepted").at(0).at("name"), "noise");
  EXPECT_EQ(json.at("refusals"), nlohmann::json::parse(R"({"checksum": 3})"));
  EXPECT_EQ(r.json().back(), '\n');
}

TEST(ReportJson, ANameThatIsNoTextDoesNotThrow) {
  FlowResult f = noise();
  f.identity.name = "\xff";
  EXPECT_EQ(nlohmann::json::parse(report({f}).json()).at("flows").at(0).at("name"), "\ufffd");
}

// clang-format off
constexpr const char* kTable =
    "flow    protocol  peer                    target   delivered     goodput  sent  received  lost      IN      RTT  loss events  to target     RoS  state\n"
    "camera  gtfrc     198.51.100.1:5001   800 kbit/s  796 kbit/s  772 kbit/s  4000      3980    20  97.5 %  52.3 ms      0.00123        2 s  98.5 %  closed\n"
    "noise   udp       198.51.100.1:9                                           100               0                                                   no_answer\n"
    "backup  gtcp      [2001:db8::1]:5001    4 Mbit/s    2 Mbit/s  772 kbit/s  4000      3980    20  97.5 %  52.3 ms      0.00123        2 s  50.0 %  closed\n"
    "\n"
    "MISSED backup: 2 Mbit/s of 4 Mbit/s (50.0 %)\n"
    "1 of 2 targets met (tolerance 4.0 %)\n";
constexpr const char* kManyFlows =
    "flow        protocol  peer                  target                       delivered     goodput  sent  received  lost      IN      RTT  loss events  to target                         RoS  state\n"
    "backup x 9  gtcp      [2001:db8::1]:5001  4 Mbit/s  1 Mbit/s / 5 Mbit/s / 9 Mbit/s  772 kbit/s  4000      3980     7  97.5 %  52.3 ms      0.00123        2 s  25.0 % / 125.0 % / 225.0 %  closed\n";
// clang-format on

TEST(ReportText, ATableAndAVerdict) {
  EXPECT_EQ(report({camera(), noise(), backup(2000)}).text(), kTable);
}

TEST(ReportText, WhatArrivesStandsBesideWhereItIsMore) {
  FlowResult f = backup(2000);
  f.throughput = 2005_kbps;
  EXPECT_THAT(report({f}).text(), Not(HasSubstr("arriving")));
  f.throughput = 4_Mbps;
  const std::string text = report({f, camera()}).text();
  EXPECT_THAT(text, HasSubstr("delivered  arriving "));
  EXPECT_THAT(text, HasSubstr("2 Mbit/s  4 Mbit/s "));
  EXPECT_THAT(text, HasSubstr("MISSED backup: 2 Mbit/s of 4 Mbit/s (50.0 %)\n")) << "although 4 arrive";
}

TEST(ReportText, WithoutAnyPromiseThereIsNoVerdict) {
  EXPECT_THAT(report({noise()}).text(), Not(HasSubstr("promise")));
}

TEST(ReportText, WithoutFlowsItSaysSo) {
  EXPECT_EQ(report({}).text(), "no flows\n");
}

TEST(ReportText, RefusalsHaveTheirExplanation) {
  Report r = report({noise()});
  r.refusals[static_cast<std::size_t>(Refusal::checksum)] = 3;
  EXPECT_THAT(r.text(), EndsWith("\n\npackets  refused\n"
                                 "      3  checksum  wrong transport checksum\n"));
}

TEST(ReportText, AcceptedFlowsHaveATableOfTheirOwn) {
  Report r = report({});
  r.accepted = {noise()};
  r.accepted[0].sent = 0;
  r.accepted[0].received = 5;
  EXPECT_EQ(r.text(),
            "accepted\n"
            "flow   protocol  peer            received  lost  state\n"
            "noise  udp       198.51.100.1:9         5     0  no_answer\n");
  r.flows = {noise()};
  EXPECT_THAT(r.text(), HasSubstr("\n\naccepted\nflow"));
}

TEST(ReportText, ManyFlowsOfALineAreOneRow) {
  std::vector<FlowResult> flows;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    flows.push_back(backup(1000 * i));
    flows.back().identity.name = "backup#" + std::to_string(i);
    flows.back().lost = 7;
  }
  flows[8].rtt.reset();
  EXPECT_THAT(report(flows).text(), StartsWith(kManyFlows));
  flows.pop_back();
  EXPECT_THAT(report(flows).text(), HasSubstr("\nbackup#8  gtcp")) << "eight are not many";
}

TEST(ReportText, ManyMissedPromisesShowTheWorst) {
  std::vector<FlowResult> flows;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    flows.push_back(backup(100 * i));
    flows.back().identity.name = "backup#" + std::to_string(i);
  }
  EXPECT_THAT(report(flows).text(), HasSubstr("\nMISSED by 10 of 10 flows, worst:\n"
                                              "MISSED backup#1: 100 kbit/s of 4 Mbit/s (2.5 %)\n"
                                              "0 of 10 targets met (tolerance 4.0 %)\n"));
}

TEST(ReportText, APromiseThatNobodyCouldCheckIsMissed) {
  FlowResult f = noise();
  f.identity.target = 1_Mbps;
  EXPECT_THAT(report({f}).text(),
              HasSubstr("MISSED noise: unknown of 1 Mbit/s (no report from the receiver)\n"));
}

}  // namespace
}  // namespace surety::endpoints
