// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/snapshot.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::configured;
using testing::ElementsAre;
using namespace literals;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/24]}
  wan0: {addresses: [10.2.0.254/24], trust: core, shape: 34 Mbit/s, queues: uplink}
  wan1: {addresses: [10.3.0.254/24], trust: core, queues: uplink}
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict}
    - name: assured
      dscp: {in: [AF11], out: [AF12, BE]}
      limit: 200 packets
      count: packets
      rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}
services:
  silver: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, buffer: 7 packets,
           alpha: {min: 0.04, max: 0.4}, mark: {in: AF11, out: BE}}
  marked: {conditioner: token-bucket, rate: 800 kbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}
  capped: {conditioner: police, rate: 128 kbit/s, bucket: 4 kB, mark: {in: EF}}
  one-rate: {conditioner: srtcm, rate: 1 Mbit/s, committed_burst: 3 kB, excess_burst: 3 kB, mark: {in: AF11, out: AF12}}
  two-rates: {conditioner: trtcm, rate: 1 Mbit/s, peak: 2 Mbit/s, committed_burst: 3 kB, peak_burst: 3 kB,
              mark: {in: AF11, out: AF12, red: drop}}
  plain: {conditioner: none}
)";

// Bytes that are green at once.
unsigned burst_of(const Meter& meter) {
  Meter::State state;
  meter.reset(state);
  unsigned bytes = 0;
  while (meter.check(state, Time{}, 1) == Color::green) ++bytes;
  return bytes;
}

std::vector<std::string> domain_names(const Snapshot& s) {
  std::vector<std::string> names;
  for (const auto& d : s.domains) names.push_back(d.name);
  return names;
}

TEST(Snapshot, ServicesBecomeProgramsInTheirOrderWithTwoOfOurOwnBehind) {
  const Snapshot s(configured(kRouter));
  std::vector<std::string> names, conditioners;
  for (const auto& p : s.services) {
    names.push_back(p.name);
    conditioners.push_back(p.conditioner);
  }
  EXPECT_THAT(names, ElementsAre("silver", "marked", "capped", "one-rate", "two-rates", "plain",
                                 "unclassified", "trusted"));
  EXPECT_THAT(conditioners,
              ElementsAre("csa", "token-bucket", "police", "srtcm", "trtcm", "none", "none", "none"));
}

TEST(Snapshot, AlphaHasNoLimitOnlyWhereItsQueueHasRio) {
  const auto max = [](const std::string& queues) {
    const Snapshot s(configured("version: 1\nports:\n  a: {device: null}\n  b: {device: null, trust: core" +
                                queues + "classify: [{match: {port: a}, service: s}]\n"));
    return s.domains[s.domain(1, 0)].params.max;
  };
  const std::string service = "services: {s: {rate: 1 Mbit/s}}\n", paper = ", alpha: {max: 0.3}}}\n";
  const auto set = [](const std::string& aqm) {
    return ", queues: q}\nqueues: {q: [{name: all, dscp: {in: [AF11], out: [AF12]}, aqm: " + aqm + "}]}\n";
  };
  EXPECT_EQ(max(set("rio") + service), Ratio::unlimited());
  EXPECT_EQ(max(set("tail-drop") + service), Ratio::of(0.4)) << "the paper's";
  EXPECT_EQ(max("}\n" + service), Ratio::of(0.4)) << "one queue, first in first out";
  const std::string below =
      "  lines: [{name: all, dscp: {in: [AF11], out: [AF12]}, aqm: tail-drop}]\n" + service;
  const std::string own =
      ", queues: q}\nqueues:\n  q: [{name: all, dscp: {in: [AF11], out: [AF12]}}]\n" + below;
  EXPECT_EQ(max(own), Ratio::unlimited());
  EXPECT_EQ(max(own + "interfaces: {i: {port: b, vlan: 7, queues: lines}}\n"), Ratio::of(0.4))
      << "an interface's packets may wait without RIO";
  EXPECT_EQ(max("}\nservices: {s: {rate: 1 Mbit/s" + paper), Ratio::of(0.3));
}

// 100 ms of the nearest rate.
TEST(Snapshot, QueuesHoldWhatTheirRateSaysTheyMay) {
  const Snapshot s(configured(
      "version: 1\nports:\n  a: {device: null, shape: 12 Mbit/s}\n  b: {device: null, shape: 24 Mbit/s}\n"
      "groups: {g: {port: b, shape: 18 Mbit/s}}\n"
      "interfaces:\n  own: {port: b, vlan: 1, shape: 12 Mbit/s}\n  line: {port: b, vlan: 2, group: g}\n"
      "  plain: {port: b, vlan: 3}\n"));
  const auto limit = [&](std::size_t definition) {
    const InterfaceIndex i = s.interfaces->of_definition(definition);
    return s.queues[1].tree->classes(s.queues[1].tree->owner(i))[0].queue.limit;
  };
  EXPECT_EQ(s.queues[0].classes[0].scheduling.queue.limit, 100u);
  EXPECT_TRUE(s.queues[0].plain);
  EXPECT_EQ(limit(0), 100u);
  EXPECT_EQ(limit(1), 150u) << "its group's rate";
  EXPECT_EQ(limit(2), 200u) << "in the port's own queues";
}

TEST(Snapshot, ProgramsCarryParametersAndMarks) {
  const Snapshot s(configured(kRouter));
  using Kind = ServiceProgram::Kind;
  const ServiceProgram& silver = s.services[0];
  EXPECT_EQ(silver.kind, Kind::csa);
  EXPECT_EQ(silver.committed, 1_Mbps);
  EXPECT_EQ(silver.csa.buffer, 7u);
  EXPECT_EQ(silver.csa.in.depth(), 15'000 * kCreditPerByte);
  EXPECT_EQ(silver.csa.out.depth(), 1500 * kCreditPerByte);
  EXPECT_EQ(silver.csa.out.rate(), 1_Mbps);
  EXPECT_EQ(silver.mark_in, 10);
  EXPECT_EQ(silver.mark_out, 0);
  EXPECT_EQ(s.services[1].kind, Kind::meter);
  EXPECT_EQ(burst_of(*s.services[1].meter), 10'000u);
  EXPECT_FALSE(s.services[1].drop_red);
  EXPECT_EQ(s.services[2].kind, Kind::meter);
  EXPECT_EQ(burst_of(*s.services[2].meter), 4000u);
  EXPECT_TRUE(s.services[2].drop_red);
  EXPECT_EQ(s.services[2].mark_in, 46);
  EXPECT_EQ(s.services[3].kind, Kind::meter);
  EXPECT_TRUE(s.services[3].meter.has_value());
  EXPECT_EQ(s.services[3].mark_red, 12) << "red goes the way of OUT where nothing else is said";
  EXPECT_FALSE(s.services[3].drop_red);
  EXPECT_TRUE(s.services[4].drop_red);
  EXPECT_EQ(s.services[5].kind, Kind::none);
  EXPECT_EQ(s.services[5].mark_in, kKeepDscp);
  EXPECT_EQ(s.services[5].committed, Rate{});
}

TEST(Snapshot, WhatNoRuleMatchesIsBestEffortFromCustomersAndTrustedFromTheCore) {
  const Snapshot s(configured(kRouter));
  EXPECT_EQ(s.services[s.unmatched(0)].name, "unclassified");
  EXPECT_EQ(s.services[s.unmatched(0)].mark_in, 0);
  EXPECT_EQ(s.services[s.unmatched(1)].name, "trusted");
  EXPECT_EQ(s.services[s.unmatched(1)].mark_in, kKeepDscp);
}

TEST(Snapshot, PortsHaveTheirQueueSetOrOnePlainQueue) {
  const Snapshot s(configured(kRouter));
  ASSERT_EQ(s.queues.size(), 3u);
  ASSERT_EQ(s.queues[0].classes.size(), 1u);
  EXPECT_EQ(s.queues[0].classes[0].scheduling.name, "default");
  EXPECT_FALSE(s.queues[0].classes[0].scheduling.queue.rio.has_value());
  for (const auto& entry : s.queues[0].by_dscp) {
    EXPECT_EQ(entry.class_index, 0);
    EXPECT_EQ(entry.precedence, Precedence::out);
  }
  EXPECT_EQ(s.queues[1].name, "uplink");
  EXPECT_EQ(s.queues[1].by_dscp[46].class_index, 0);
  EXPECT_EQ(s.queues[1].by_dscp[10].precedence, Precedence::in);
}

// The set is one of the configuration, the pace at which it drains is the port's.
TEST(Snapshot, RioDrainsAtThePaceOfThePort) {
  const Snapshot s(configured(kRouter));
  EXPECT_EQ(s.queues[1].classes[1].scheduling.queue.rio->capacity, 34_Mbps);
  EXPECT_EQ(s.queues[2].classes[1].scheduling.queue.rio->capacity, RioParams{}.capacity);
}

TEST(Snapshot, AnAlphaPerPortAndClassThatCsaUses) {
  const Snapshot s(configured(kRouter));
  EXPECT_THAT(domain_names(s), ElementsAre("lan0/default", "wan0/assured", "wan1/assured"));
  for (PortIndex p = 0; p < 3; ++p) {
    EXPECT_EQ(s.domain(p, 0), p);
    EXPECT_EQ(s.domains[p].port, p);
    for (std::uint16_t other = 1; other < s.services.size(); ++other)
      EXPECT_EQ(s.domain(p, other), kNoDomain);
  }
  EXPECT_EQ(s.domains[1].class_index, 1u);
  EXPECT_EQ(s.domains[1].params.max, Ratio::of(0.4));
}

constexpr const char* kFourCsaServices = R"(
version: 1
ports:
  wan0: {addresses: [10.2.0.254/24], queues: uplink}
queues:
  uplink:
    - {name: voice, dscp: [EF, CS5]}
    - {name: assured, dscp: {in: [AF11], out: [AF12, BE]}, aqm: tail-drop}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, mark: {in: AF11, out: BE}}
  bronze: {conditioner: csa, alpha: {max: 0.4}, rate: 2 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, mark: {in: AF11, out: AF12}}
  gold: {conditioner: csa, rate: 3 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, alpha: {max: 0.2},
         mark: {in: AF11, out: BE}}
  talk: {conditioner: csa, alpha: {max: 0.4}, rate: 3 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, mark: {in: EF, out: CS5}}
)";

TEST(Snapshot, ServicesShareAnAlphaWhereQueueAndParametersAreTheSame) {
  const Snapshot s(configured(kFourCsaServices));
  EXPECT_EQ(s.domains.size(), 3u);
  EXPECT_EQ(s.domain(0, 0), s.domain(0, 1)) << "the rate is not a parameter of alpha";
  EXPECT_NE(s.domain(0, 0), s.domain(0, 2));
  EXPECT_NE(s.domain(0, 0), s.domain(0, 3));
  EXPECT_EQ(s.domains[s.domain(0, 2)].params.max, Ratio::of(0.2));
  EXPECT_EQ(s.domains[s.domain(0, 3)].class_index, 0u);
}

TEST(Snapshot, DomainsOfOneClassAreToldApartByTheirService) {
  const Snapshot s(configured(kFourCsaServices));
  EXPECT_EQ(s.domains[s.domain(0, 0)].name, "wan0/assured/silver");
  EXPECT_EQ(s.domains[s.domain(0, 2)].name, "wan0/assured/gold");
  EXPECT_EQ(s.domains[s.domain(0, 3)].name, "wan0/voice");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Snapshot, ClassesAreWhoTheyAreByName) {
  const Snapshot first(configured(kFourCsaServices));
  const std::string other_weight = replaced(kFourCsaServices, "name: voice,", "name: voice, weight: 7,");
  const Snapshot same(configured(other_weight), first);
  EXPECT_TRUE(same.queues[0].moves.none());
  EXPECT_EQ(same.queues[0].layout, first.queues[0].layout);
  const Snapshot strict(configured(replaced(other_weight, "weight: 7", "priority: strict")), same);
  EXPECT_THAT(strict.queues[0].moves.to, ElementsAre(0, 1));
  EXPECT_EQ(strict.queues[0].layout, 1u);
  const std::string split = replaced(kFourCsaServices, "name: voice, dscp: [EF, CS5]",
                                     "name: ef, dscp: [EF]}\n    - {name: cs5, dscp: [CS5]");
  const Snapshot next(configured(split), strict);
  EXPECT_THAT(next.queues[0].moves.to, ElementsAre(ClassMoves::kGone, 2));
  EXPECT_EQ(next.queues[0].moves.heirs[0], 0b011u);
  EXPECT_EQ(next.queues[0].layout, 2u);
}

// Frames that were handed over with a precedence that the class did not have are looked up again.
TEST(Snapshot, TheLayoutChangesWithTheDscpsThatAreRed) {
  const auto with = [](const std::string& dscps, const std::string& red) {
    return configured(
        "version: 1\nports: {lan0: {addresses: [10.1.0.254/16], queues: q}}\nqueues: {q: [{name: a, "
        "dscp: {in: [AF11], " +
        dscps +
        "}, rio: {in: {min: 5, max: 9, pmax: 1}, out: {min: 3, "
        "max: 5, pmax: 1}" +
        red + "}}]}\n");
  };
  const std::string curve = ", red: {min: 1, max: 3, pmax: 1}";
  const Snapshot two(with("out: [AF12, AF13]", "")), same(with("out: [AF12]", ""), two);
  EXPECT_EQ(same.queues[0].layout, 0u);
  const Snapshot three(with("out: [AF12], red: [AF13]", curve), same);
  EXPECT_EQ(three.queues[0].layout, 1u);
  const Snapshot again(with("out: [AF12], red: [AF13]", curve), three);
  EXPECT_EQ(again.queues[0].layout, 1u);
  EXPECT_EQ(Snapshot(with("out: [AF12, AF13]", ""), again).queues[0].layout, 2u);
}

// A worker with the new snapshot must not hand over a red packet of a class whose owner does not count red
// yet.
TEST(Snapshot, TheLayoutChangesWithTheClassOfARedDscp) {
  const std::string plain = "rio: {in: {min: 5, max: 9, pmax: 1}, out: {min: 3, max: 5, pmax: 1}",
                    red = plain + ", red: {min: 1, max: 3, pmax: 1}}", two = plain + "}";
  const auto with = [](const std::string& a, const std::string& b) {
    return configured(
        "version: 1\nports: {lan0: {addresses: [10.1.0.254/16], queues: q}}\nqueues: {q: [{name: a, " + a +
        "}, {name: b, " + b + "}]}\n");
  };
  const Snapshot first(with("dscp: {in: [AF11], out: [AF12], red: [AF13]}, " + red,
                            "dscp: {in: [AF21], out: [AF22]}, " + two));
  const Snapshot moved(
      with("dscp: {in: [AF11], out: [AF12]}, " + two, "dscp: {in: [AF21], out: [AF22], red: [AF13]}, " + red),
      first);
  EXPECT_EQ(moved.queues[0].layout, 1u);
}

// The domain of a class that is gone follows an heir's queue, which may take it up if it has none itself.
TEST(Snapshot, DomainsFollowTheirClasses) {
  const Snapshot first(configured(kFourCsaServices));
  const std::uint16_t talk = first.domain(0, 3), silver = first.domain(0, 0);
  const std::string renamed = replaced(kFourCsaServices, "name: voice", "name: calls");
  const Snapshot next(configured(renamed), first);
  EXPECT_EQ(next.domain(0, 3), talk);
  EXPECT_EQ(next.domains[talk].name, "wan0/calls");
  EXPECT_FALSE(next.domains[talk].moved);
  // EF and CS5 are of the rest now, which has a domain of these parameters.
  const Snapshot merged(configured(replaced(renamed, "    - {name: calls, dscp: [EF, CS5]}\n", "")), next);
  EXPECT_EQ(merged.domain(0, 3), silver);
  EXPECT_EQ(merged.domain(0, 0), silver);
  EXPECT_TRUE(merged.domains[talk].retired);
  EXPECT_EQ(merged.domains[talk].class_index, 0u);
  EXPECT_EQ(merged.domains.size(), first.domains.size());
}

}  // namespace
}  // namespace surety
