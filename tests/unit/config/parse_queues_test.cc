// SPDX-License-Identifier: BSD-3-Clause
// What a queue set's classes come to: their DSCPs, RIO, places and room.
#include <gtest/gtest.h>

#include "aqm/rio.h"
#include "tests/unit/config/parsed.h"

namespace surety::config {
namespace {

using namespace surety::literals;

TEST(ParseQueues, UnnamedDscpsGoToTheLastClassUnlessOneNamesBe) {
  const auto c = parsed(
      "queues:\n"
      "  last: [{name: voice, dscp: EF}, {name: rest}]\n"
      "  named: [{name: rest, dscp: [BE]}, {name: voice, dscp: EF}]\n");
  EXPECT_EQ(c.queues[0].by_dscp[0].class_index, 1);
  EXPECT_EQ(c.queues[0].by_dscp[0].precedence, Precedence::out);
  EXPECT_EQ(c.queues[1].by_dscp[0].class_index, 0);
  EXPECT_EQ(c.queues[1].by_dscp[0].precedence, Precedence::in);
  EXPECT_EQ(c.queues[1].by_dscp[1].class_index, 0);
  EXPECT_EQ(c.queues[1].by_dscp[1].precedence, Precedence::out);
}

TEST(ParseQueues, RioOptions) {
  const auto c = parsed(
      "queues:\n"
      "  q: [{name: a, rio: {average: 0.2 %, in: {min: 20, max: 20, pmax: 1}, out: {min: 0.5, max: 20, pmax: "
      "10 %}, ecn: on, "
      "mean_packet: 576 B}}]\n");
  const auto& rio = c.queues[0].classes[0].scheduling.queue.rio.value();
  EXPECT_EQ(rio.weight, 0.002);
  EXPECT_EQ(rio.in.min, rio.in.max);
  EXPECT_EQ(rio.out.min, 0.5);
  EXPECT_EQ(rio.out.pmax, Probability(0.1));
  EXPECT_TRUE(rio.ecn);
  EXPECT_EQ(rio.mean_packet, 576_B);
  EXPECT_EQ(rio.capacity, RioParams{}.capacity);
}

constexpr const char* kThreeCurves =
    "queues: {q: [{name: af4, dscp: {in: [AF41], out: [AF42], red: [AF43, 39]}, %s"
    "rio: {in: {min: 40, max: 70, pmax: 0.02}, out: {min: 20, max: 40, pmax: 0.1}, "
    "red: {min: 5, max: 20, pmax: 0.5}}}, {name: be, dscp: {out: [BE]}}]}\n";

std::string three_curves(const std::string& more) {
  std::string yaml = kThreeCurves;
  return yaml.replace(yaml.find("%s"), 2, more);
}

TEST(ParseQueues, RedIsAThirdPrecedenceWithACurve) {
  const QueueSet set = parsed(three_curves("")).queues[0];
  const ActiveQueueParams& queue = set.classes[0].scheduling.queue;
  EXPECT_EQ(queue.rio->red, (RedParams{5, 20, Probability(0.5)}));
  EXPECT_EQ(queue.reserved, 500u) << "red packets have the room of OUT ones";
  EXPECT_FALSE(set.classes[1].scheduling.queue.rio) << "one precedence needs no RIO";
  const struct {
    Dscp dscp;
    std::uint8_t class_index;
    Precedence precedence;
  } expected[] = {{34, 0, Precedence::in},
                  {36, 0, Precedence::out},
                  {38, 0, Precedence::red},
                  {39, 0, Precedence::red},
                  {0, 1, Precedence::out}};
  for (const auto& e : expected) {
    EXPECT_EQ(set.by_dscp[e.dscp].class_index, e.class_index) << int{e.dscp};
    EXPECT_EQ(set.by_dscp[e.dscp].precedence, e.precedence) << int{e.dscp};
  }
  const RedCurve red(
      *parsed(three_curves("aqm: out-tail-drop, ")).queues[0].classes[0].scheduling.queue.rio->red);
  EXPECT_TRUE(red.accepts(19.99));
  EXPECT_TRUE(red.forces(20));
}

TEST(ParseQueues, ASetWithBeInRedTakesWhatNoClassNames) {
  const QueueSet set =
      parsed(
          "queues: {q: [{name: a, dscp: {in: AF11, red: [BE]}, rio: {in: {min: 2, max: 4, pmax: 1}, "
          "out: {min: 1, max: 3, pmax: 1}, red: {min: 1, max: 2, pmax: 1}}}, {name: b}]}\n")
          .queues[0];
  EXPECT_EQ(set.by_dscp[0].precedence, Precedence::red);
  EXPECT_EQ(set.by_dscp[1].class_index, 0);
  EXPECT_EQ(set.by_dscp[1].precedence, Precedence::out);
}

TEST(ParseQueues, OutTailDropIsAStepAtTheMaxima) {
  const auto c = parsed(
      "queues:\n"
      "  q: [{name: a, aqm: out-tail-drop, rio: {in: {min: 45, max: 60, pmax: 0.02}, out: {min: 20, max: "
      "39.5, "
      "pmax: 0.05}}}]\n");
  const auto& rio = c.queues[0].classes[0].scheduling.queue.rio.value();
  EXPECT_EQ(rio.weight, 1);
  const RedCurve in(rio.in), out(rio.out);
  EXPECT_TRUE(in.accepts(59.99));
  EXPECT_TRUE(in.forces(60));
  EXPECT_TRUE(out.accepts(39.99)) << "40 is the first whole number of packets that is 39.5 or more";
  EXPECT_TRUE(out.forces(40));
}

TEST(ParseQueues, TheAveragesOfThePapersSimulators) {
  const auto rio_of = [](const std::string& aqm, const std::string& more) {
    const auto c =
        parsed("queues: {q: [{name: a" + aqm +
               ", rio: {in: {min: 45, max: 60, pmax: 1}, out: {min: 20, max: 40, pmax: 1}" + more + "}}]}\n");
    return c.queues[0].classes[0].scheduling.queue.rio.value();
  };
  const RioParams plain = rio_of("", ""), papers = rio_of("", ", count_arriving: on, idle_decay: off");
  EXPECT_FALSE(plain.count_arriving);
  EXPECT_TRUE(plain.idle_decay);
  EXPECT_FALSE(plain.decoupled);
  EXPECT_TRUE(papers.count_arriving);
  EXPECT_FALSE(papers.idle_decay);
  RioParams decoupled = rio_of(", aqm: decoupled-tail-drop", "");
  EXPECT_TRUE(decoupled.decoupled);
  decoupled.decoupled = false;
  EXPECT_EQ(decoupled, rio_of(", aqm: out-tail-drop", ""));
}

TEST(ParseQueues, RioIsTheQueueManagementByDefault) {
  const std::string rio = "rio: {in: {min: 45, max: 60, pmax: 0.02}, out: {min: 20, max: 40, pmax: 0.05}}";
  for (const std::string aqm : {"", "aqm: rio, "}) {
    const auto c = parsed("queues: {q: [{name: a, " + aqm + rio + "}]}\n");
    const auto& r = c.queues.at(0).classes.at(0).scheduling.queue.rio.value();
    EXPECT_EQ(r.weight, 0.002) << aqm;
    EXPECT_EQ(r.out.min, 20) << aqm;
    EXPECT_EQ(r.out.max, 40) << aqm;
  }
}

TEST(ParseQueues, ClassesSharePlacesBeyondTheirLimits) {
  const auto c = parsed(
      "queues:\n"
      "  q:\n"
      "    - {name: voice, dscp: [EF], limit: 10 packets}\n"
      "    - {name: old, dscp: [CS1], limit: 500 packets, count: packets}\n"
      "    - {name: af, dscp: [AF11], limit: 990 packets}\n"
      "  few: [{name: af, limit: 10 packets}]\n");
  const auto beyond = [&](std::size_t set, std::size_t n) {
    return c.queues[set].classes[n].scheduling.queue.beyond;
  };
  EXPECT_EQ(beyond(0, 0), 20u) << "2048 * 10 / 1000";
  EXPECT_EQ(beyond(0, 1), 0u);
  EXPECT_EQ(beyond(0, 2), 2027u);
  EXPECT_EQ(beyond(1, 0), 70u) << "seven for each packet";
}

TEST(ParseQueues, OutPacketsLeaveHalfOfTheRoomToInOnes) {
  const auto reserved = [](const std::string& dscp, const std::string& rest) {  // of 100 packets
    const auto c = parsed("queues: {q: [{name: af, dscp: " + dscp + ", limit: 100 packets" + rest +
                          "}, {name: be, dscp: [BE]}]}\n");
    return c.queues[0].classes[0].scheduling.queue.reserved;
  };
  const std::string both = "{in: [AF11], out: [AF12]}";
  const auto rio = [](const std::string& max) {
    return ", rio: {in: {min: 50, max: 90, pmax: 0.1}, out: {min: 9, max: " + max + ", pmax: 0.2}}";
  };
  EXPECT_EQ(reserved(both, ""), 50u) << "with derived thresholds";
  EXPECT_EQ(reserved(both, rio("20")), 50u);
  EXPECT_EQ(reserved(both, rio("69.5")), 30u) << "as `max` says";
  EXPECT_EQ(reserved(both, rio("69.5") + ", aqm: out-tail-drop"), 30u);
  EXPECT_EQ(reserved(both, rio("200")), 0u);
  EXPECT_EQ(reserved(both, ", aqm: tail-drop"), 0u);
  EXPECT_EQ(reserved(both, rio("20") + ", count: packets"), 0u);
  EXPECT_EQ(reserved("{out: [AF12]}", rio("20")), 0u) << "no IN packets come here";
}

TEST(ParseQueues, RioIsDerivedWhereInAndOutShareAClass) {
  const auto c = parsed(
      "queues:\n"
      "  q:\n"
      "    - {name: af, dscp: {in: [AF11], out: [AF12]}, limit: 200 packets}\n"
      "    - {name: alike, dscp: {in: [AF21], out: [AF22]}, aqm: tail-drop}\n"
      "    - {name: rest, dscp: [BE, LE]}\n"
      "  last: [{name: af, dscp: [AF11]}]\n"
      "  one: [{name: all}]\n"
      "  asked: [{name: all, aqm: rio}]\n");
  const RioParams derived{.weight = 1, .in = {200, 200, Probability(1)}, .out = {20, 40, Probability(0.1)}};
  const auto rio = [&](std::size_t set, std::size_t n) {
    return c.queues[set].classes[n].scheduling.queue.rio;
  };
  EXPECT_EQ(rio(0, 0), derived);
  EXPECT_FALSE(rio(0, 1)) << "`aqm: tail-drop`";
  EXPECT_FALSE(rio(0, 2)) << "OUT packets with DSCPs that no class names: BE is not among them";
  EXPECT_TRUE(rio(1, 0)) << "BE comes here, OUT";
  EXPECT_FALSE(rio(2, 0)) << "nothing is IN";
  EXPECT_TRUE(rio(3, 0));
}

// The limit of the only class of a set, at a rate.
std::uint32_t limit_at(const std::string& c, std::optional<Rate> rate) {
  const Config config = parsed("queues: {q: [{name: a" + c + "}]}\n");
  return at_rate(&config.queues[0], rate).classes[0].scheduling.queue.limit;
}

TEST(ParseQueues, TheDefaultLimitIs100MillisecondsOfTheRate) {
  EXPECT_EQ(limit_at("", 20_Mbps), 166u) << "250 kB";
  EXPECT_EQ(limit_at("", 1_Mbps), 50u) << "at least";
  EXPECT_EQ(limit_at("", 200_Mbps), 1000u) << "at most";
  EXPECT_EQ(limit_at("", std::nullopt), 1000u) << "of a port without `shape`";
  EXPECT_EQ(limit_at(", priority: strict, rate: 12 Mbit/s", 100_Mbps), 100u)
      << "the class has a rate of its own";
  EXPECT_EQ(limit_at(", rio: {in: {min: 70, max: 120, pmax: 1}, out: {min: 10, max: 60, pmax: 1}}", 20_Mbps),
            1000u)
      << "the thresholds are packets";
  EXPECT_EQ(at_rate(nullptr, 20_Mbps).classes[0].scheduling.queue.limit, 166u) << "a port without `queues`";
}

TEST(ParseQueues, ALimitMayBeATime) {
  EXPECT_EQ(limit_at(", limit: 10 ms", 12_Mbps), 10u);
  EXPECT_EQ(limit_at(", limit: 10 ms", 12_Gbps), 10'000u);
  EXPECT_EQ(limit_at(", limit: 1 us", 1_Mbps), 1u);
  EXPECT_EQ(limit_at(", limit: 300 packets", 12_Mbps), 300u);
}

TEST(ParseQueues, WhatIsDerivedFollowsTheLimit) {
  const Config c = parsed(
      "queues:\n"
      "  q:\n"
      "    - {name: af, dscp: {in: [AF11], out: [AF12]}}\n"
      "    - {name: be, dscp: [BE], limit: 20 packets}\n");
  const QueueSet set = at_rate(&c.queues[0], 24_Mbps);
  const ActiveQueueParams& af = set.classes[0].scheduling.queue;
  EXPECT_EQ(af.limit, 200u);
  EXPECT_EQ(af.rio, (RioParams{.weight = 1,
                               .in = {200, 200, Probability(1)},
                               .out = {20, 40, Probability(0.1)},
                               .capacity = 24_Mbps}));
  EXPECT_EQ(af.reserved, 100u);
  EXPECT_EQ(af.beyond, 1400u) << "seven for each packet";
  EXPECT_EQ(set.classes[1].scheduling.queue.beyond, 140u);
}

// Full packets of 1500 B.
TEST(ParseQueues, ALimitMayBeASize) {
  EXPECT_EQ(limit_at(", limit: 64 kB", 12_Mbps), 42u);
  EXPECT_EQ(limit_at(", limit: 64 kB", std::nullopt), 42u);
  EXPECT_EQ(limit_at(", limit: 1500 B", 12_Mbps), 1u);
  EXPECT_EQ(limit_at(", limit: 1.5 MB", 12_Mbps), 1000u);
  EXPECT_EQ(
      limit_at(", limit: 150 kB, rio: {in: {min: 70, max: 90, pmax: 1}, out: {min: 10, max: 60, pmax: 1}}",
               12_Mbps),
      100u)
      << "the thresholds are packets of as many bytes";
}

TEST(ParseQueues, TheRateOfAClassMayBeAPart) {
  const Config c = parsed(
      "queues:\n"
      "  q:\n"
      "    - {name: voice, dscp: [EF, VA, 44, CS5], priority: strict, rate: 10 %}\n"
      "    - {name: bulk, dscp: {out: [AF11]}, weight: 9, rate: 33.3333 %, limit: 30 ms}\n"
      "    - {name: rest, dscp: {out: [BE, CS0]}, rate: 5 Mbit/s}\n");
  const auto caps = [&](std::optional<Rate> rate) {
    std::vector<std::optional<Rate>> all;
    for (const QueueClass& q : at_rate(&c.queues[0], rate).classes) all.push_back(q.scheduling.cap);
    return all;
  };
  EXPECT_EQ(caps(36_Mbps), (std::vector<std::optional<Rate>>{3'600_kbps, 11'999'988_bps, 5_Mbps}));
  EXPECT_EQ(caps(1000_Gbps)[0], 100_Gbps);
  EXPECT_EQ(caps(1_bps)[0], 1_bps) << "never 0";
  EXPECT_EQ(caps({}), (std::vector<std::optional<Rate>>{{}, {}, 5_Mbps})) << "of what, nobody says";
  EXPECT_EQ(at_rate(&c.queues[0], 36_Mbps).classes[1].scheduling.queue.limit, 29u) << "30 ms of its part";
  EXPECT_EQ(c.queues[0].classes[0].in, (std::vector<Dscp>{46, 44, 40}));
  EXPECT_EQ(c.queues[0].classes[2].out, (std::vector<Dscp>{0}));
}

}  // namespace
}  // namespace surety::config
