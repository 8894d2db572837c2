// SPDX-License-Identifier: BSD-3-Clause
#include "config/sales.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "config/parse.h"

namespace surety::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kService =
    "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}},\n"
    "           v: {conditioner: police, rate: 100 kbit/s, bucket: 10 kB, mark: {in: EF}}}\n";
constexpr const char* kUplink =
    "  up: {device: null, trust: core, shape: 10 Mbit/s, queues: q}\n"
    "queues:\n  q: [{name: voice, dscp: EF, priority: strict, rate: 2 Mbit/s},\n"
    "      {name: assured, weight: 3, dscp: {in: AF11, out: AF12}}, {name: rest}]\n";

// "port up up 3000 of 10000": in kbit/s; `!` where more is sold than there is.
std::vector<std::string> rows(const std::string& rest, const std::string& ports = kUplink) {
  const auto result =
      parse("version: 1\nports:\n  a: {device: null, shape: 100 Mbit/s}\n" + ports + rest, "f.yaml");
  EXPECT_TRUE(result.ok()) << result.diagnostics.at(0).format();
  std::vector<std::string> found;
  if (!result.ok()) return found;
  for (const Sale& s : sales(*result.config)) {
    std::string row;
    for (const std::string* name : {&s.port, &s.group, &s.interface, &s.queue})
      row += name->empty() ? "" : *name + (name == &s.queue ? "" : "/");
    row += s.way == Sale::Way::up ? " up " : " down ";
    row += std::to_string(s.sold.bits_per_second() / 1000);
    if (s.capacity) row += fmt::format(" of {}", s.capacity->bits_per_second() / 1000);
    found.push_back(row + (s.oversold() ? "!" : ""));
  }
  return found;
}

TEST(Sales, NothingIsSoldWhereNobodyBuys) {
  EXPECT_THAT(rows(""), IsEmpty());
}

TEST(Sales, ContractsAreSoldOfWhereTheyComeByAndOfTheQueueOfTheUplink) {
  EXPECT_THAT(
      rows(std::string("interfaces: {i: {port: a, vlan: 7, shape: 5 Mbit/s}}\n") + kService +
           "classify:\n"
           "  - {match: {interface: i, protocol: udp}, service: v, per: flow, contracts: 20}\n"
           "  - {match: {interface: i}, service: s}\n"
           "  - {match: {port: a}, service: s}\n"),
      ElementsAre("a/ down 5000 of 100000", "a/ up 4000", "up/ up 4000 of 10000", "a/i/ down 5000 of 100000",
                  "a/i/ up 3000", "up/voice up 2000 of 2000", "up/assured up 2000 of 6000"));
}

// A tag of a template may have a group of its own; rules before the one for all are of all tags.
TEST(Sales, ATagOfATemplateBuysForItself) {
  EXPECT_THAT(
      rows(std::string("groups: {homes: {port: a, shape: 3 Mbit/s}, biz: {port: a, shape: 50 Mbit/s}}\n"
                       "interfaces: {i: {port: a, vlan: 7, inner_vlan: 1-3, group: homes, shape: 1 Mbit/s}}\n"
                       "plans: {p: {service: s, shape: 20 Mbit/s}}\n"
                       "subscribers: {acme: {plan: p, interface: i, inner_vlan: 2, group: biz}}\n") +
           kService +
           "classify:\n"
           "  - {match: {interface: i, protocol: udp}, service: v, per: interface}\n"
           "  - {match: {interface: i}, service: s, per: interface}\n"),
      testing::IsSupersetOf({"a/homes/ down 2000 of 3000", "a/homes/ up 2300 of 3000",
                             "a/biz/ down 20000 of 50000", "a/biz/ up 1000 of 50000", "a/homes/i/ up 1100",
                             "a/biz/acme/ up 1000", "a/ up 3300"}));
}

TEST(Sales, WhatIsDerivedIsSold) {
  EXPECT_THAT(rows(std::string(kService) + "classify: [{match: {port: a}, service: s, per: source}]\n"),
              ElementsAre("a/ up 6000", "up/ up 6000 of 10000", "up/assured up 6000 of 6000"));
}

TEST(Sales, MoreThanThereIsOfAQueueAloneIsOversold) {
  const auto found =
      rows(std::string(kService) + "classify: [{match: {port: a}, service: s, per: source, contracts: 7}]\n");
  EXPECT_THAT(found, Contains("up/ up 7000 of 10000"));
  EXPECT_THAT(found, Contains("up/assured up 7000 of 6000!"));
}

TEST(Sales, TheNumbersOfATemplateAreOfEach) {
  EXPECT_THAT(rows(std::string("groups: {g: {port: a, shape: 20 Mbit/s}}\n"
                               "interfaces: {t: {port: a, vlan: 7, inner_vlan: 1-10, group: g, shape: 3 "
                               "Mbit/s, addresses: 10.1.0.1/24}}\n") +
                   kService + "classify: [{match: {interface: t}, service: v, per: interface}]\n"),
              ElementsAre("a/ down 20000 of 100000", "a/ up 1000", "up/ up 1000 of 10000",
                          "a/g/ down 30000 of 20000!", "a/g/ up 1000 of 20000", "a/g/t/ down 3000 of 20000",
                          "a/g/t/ up 100", "up/voice up 1000 of 2000"));
}

// They share that line: no more than that comes of it.
TEST(Sales, AGroupBuysNoMoreThanItsLineOfTheUplink) {
  const auto found = rows(std::string("groups: {g: {port: a, shape: 4 Mbit/s}}\n"
                                      "interfaces: {i: {port: a, vlan: 7, group: g}}\n") +
                          kService +
                          "classify: [{match: {interface: i}, service: s, per: source, contracts: 9},\n"
                          "           {match: {port: a}, service: s}]\n");
  EXPECT_THAT(found, Contains("a/g/ up 9000 of 4000!"));
  EXPECT_THAT(found, Contains("up/ up 5000 of 10000"));
  EXPECT_THAT(found, Contains("up/assured up 5000 of 6000"));
}

TEST(Sales, SeveralUplinksShareByTheirRates) {
  const auto found =
      rows(std::string(kService) + "classify: [{match: {port: a}, service: s, per: source, contracts: 8}]\n",
           std::string("  up2: {device: null, trust: core, shape: 30 Mbit/s, queues: q}\n") + kUplink);
  EXPECT_THAT(found, Contains("up2/ up 6000 of 30000"));
  EXPECT_THAT(found, Contains("up/ up 2000 of 10000"));
  EXPECT_THAT(found, Contains("up2/assured up 6000 of 21000"));
  EXPECT_THAT(found, Contains("up/assured up 2000 of 6000"));
}

TEST(Sales, NobodyKnowsWhatThereIsWhereAnUplinkHasNoShape) {
  EXPECT_THAT(rows(std::string(kService) + "classify: [{match: {port: a}, service: s}]\n",
                   std::string("  up2: {device: null, trust: core}\n") + kUplink),
              ElementsAre("a/ up 1000", "up2/ up 500", "up/ up 500", "up/assured up 500"));
}

TEST(Sales, AStrictQueueWithoutARateTakesWhatIsSoldOfIt) {
  const auto found = rows(
      std::string(kService) +
          "classify: [{match: {port: a}, service: v, per: source, contracts: 40},\n"
          "           {match: {port: a}, service: s, per: source, contracts: 7}]\n",
      "  up: {device: null, trust: core, shape: 10 Mbit/s, queues: q}\n"
      "queues:\n  q: [{name: voice, dscp: EF, priority: strict}, {name: rest, dscp: {in: AF11, out: BE}}]\n");
  EXPECT_THAT(found, Contains("up/voice up 4000 of 10000"));
  EXPECT_THAT(found, Contains("up/rest up 7000 of 6000!"));
  EXPECT_THAT(found, Contains("up/ up 11000 of 10000!"));
}

TEST(Sales, APolicerOfWhatComesFromTheCoreSellsNothingTowardsIt) {
  const std::string core = "{match: {port: up}, service: s}";
  EXPECT_THAT(rows(std::string(kService) + "classify: [" + core + "]\n"), IsEmpty());
  EXPECT_THAT(rows(std::string(kService) + "classify: [" + core + ", {match: {port: a}, service: s}]\n"),
              ElementsAre("a/ up 1000", "up/ up 1000 of 10000", "up/assured up 1000 of 6000"));
}

// A shaper's rate includes the overhead, a contract's does not: even packets of 1500 bytes leave 9.75 of 10
// Mbit/s.
TEST(Sales, AnUplinkCarriesLessThanItsShapeWhereTheWireAddsToPackets) {
  const std::string uplink = kUplink;
  const auto with = [&](const std::string& overhead, int contracts) {
    return rows(fmt::format("{}classify: [{{match: {{port: a}}, service: s, per: source, contracts: {}}}]\n",
                            kService, contracts),
                "  up: {overhead: " + overhead + uplink.substr(7));
  };
  EXPECT_THAT(with("ethernet, ", 10), Contains("up/ up 10000 of 9752!"));
  EXPECT_THAT(with("ethernet, ", 9), Contains("up/ up 9000 of 9752"));
  EXPECT_THAT(with("ethernet, ", 6), Contains("up/assured up 6000 of 5851!"));
  EXPECT_THAT(with("atm, ", 9), Contains("up/ up 9000 of 8844!"));
  EXPECT_THAT(with("ethernet, mtu: 576, ", 9), Contains("up/ up 9000 of 9381"));
}

TEST(Sales, AnUplinkInAVlanHasItsOwnShaperAndQueues) {
  const auto with = [](const std::string& ports, const std::string& interfaces) {
    return rows("interfaces: {" + interfaces + "}\n" + kService +
                    "classify: [{match: {port: a}, service: s, per: source, contracts: 8}]\n",
                ports + std::string(kUplink).substr(std::string(kUplink).find("queues:\n")));
  };
  const std::string port = "  p: {device: null, shape: 40 Mbit/s}\n", open = "  p: {device: null}\n",
                    one = "up: {port: p, vlan: 7, trust: core, shape: 10 Mbit/s, queues: q}",
                    other = ", up2: {port: p, vlan: 8, trust: core, shape: 30 Mbit/s, queues: q}";
  for (const std::string& p : {port, open}) {
    EXPECT_THAT(with(p, one), Contains("p/ up 8000 of 10000"));
    EXPECT_THAT(with(p, one), Contains("p/up/assured up 8000 of 6000!"));
    EXPECT_THAT(with(p, one + other), Contains("p/ up 8000 of 40000"));
    EXPECT_THAT(with(p, one + other), Contains("p/up/assured up 2000 of 6000"));
    EXPECT_THAT(with(p, one + other), Contains("p/up2/assured up 6000 of 21000"));
  }
  // More than their port, together: each has its part of that.
  const std::string narrow = "  p: {device: null, shape: 20 Mbit/s}\n";
  EXPECT_THAT(with(narrow, one + other), Contains("p/ up 8000 of 20000"));
  EXPECT_THAT(with(narrow, one + other), Contains("p/up/assured up 2666 of 3500"));
}

// A million contracts of 1 Tbit/s, 100 times.
TEST(Sales, SumsDoNotOverflow) {
  std::string rules =
      "services: {s: {conditioner: police, rate: 1 Tbit/s, bucket: 10 kB, mark: {in: AF11}}}\n"
      "classify:\n";
  for (int i = 0; i < 100; ++i)
    rules += "  - {match: {port: a}, service: s, per: source, contracts: 1000000}\n";
  EXPECT_THAT(rows(rules), Contains("up/ up 1000000000000000 of 10000!"));
}

// Of 8 Mbit/s that voice leaves: a class with a cap below its share leaves the rest to the others.
TEST(Sales, ACapBelowTheShareLeavesMoreToTheOthers) {
  const auto with = [](const std::string& classes) {
    return rows(std::string(kService) + "classify: [{match: {port: a}, service: s}]\n",
                "  up: {device: null, trust: core, shape: 10 Mbit/s, queues: q}\n"
                "queues:\n  q: [{name: voice, dscp: EF, priority: strict, rate: 20 %},\n      " +
                    classes + "]\n");
  };
  const std::string assured = "{name: assured, dscp: {in: AF11, out: AF12}";
  EXPECT_THAT(with(assured + "}, {name: rest, weight: 3}"), Contains("up/assured up 1000 of 2000"));
  EXPECT_THAT(with(assured + "}, {name: rest, weight: 3, rate: 1 Mbit/s}"),
              Contains("up/assured up 1000 of 7000"));
  EXPECT_THAT(with(assured + "}, {name: rest, weight: 3, rate: 7 Mbit/s}"),
              Contains("up/assured up 1000 of 2000"));
  EXPECT_THAT(with(assured + ", rate: 15 %}, {name: rest, weight: 3}"),
              Contains("up/assured up 1000 of 1500"));
  EXPECT_THAT(with(assured + ", rate: 30 %}, {name: le, weight: 2, rate: 1 Mbit/s}, {name: rest, weight: 1}"),
              Contains("up/assured up 1000 of 3000"));
}

}  // namespace
}  // namespace surety::config
