// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/parse.h"

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The table's lines without its heading, each with what is between two columns as ` | `. A customers' port
// `a` of 100 Mbit/s and an uplink `up`; `rest`: more sections.
std::vector<std::string> lines(const std::string& rest, const std::string& ports = "") {
  const auto result = parse(
      "version: 1\nports:\n  a: {device: null, shape: 100 Mbit/s}\n  up: {device: null, trust: core, queues: "
      "q}\n" +
          ports +
          "queues:\n  q: [{name: assured, weight: 3, dscp: {in: AF11, out: AF12}}, {name: rest}]\n"
          "  own: [{name: voice, priority: strict, dscp: EF}, {name: data}]\n"
          "  capped: [{name: voice, priority: strict, rate: 5 %, dscp: EF}, {name: bulk, rate: 1 Mbit/s}, "
          "{name: "
          "data, weight: 3}]\n" +
          rest,
      "f.yaml");
  EXPECT_TRUE(result.ok()) << result.diagnostics.at(0).format();
  std::vector<std::string> found;
  std::istringstream text(result.ok() ? sold(*result.config) : "");
  std::string line;
  std::getline(text, line);  // the heading
  while (std::getline(text, line)) {
    std::string cells;
    for (std::size_t at = 0; at < line.size();) {
      const auto end = std::min(line.find("  ", at), line.size());
      cells += (at == 0 ? "" : " | ") + line.substr(at, end - at);
      at = std::min(line.find_first_not_of(' ', end), line.size());
    }
    found.push_back(cells);
  }
  return found;
}

constexpr const char* kService =
    "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}}}\n";

TEST(Sold, NothingWithoutCustomers) {
  EXPECT_THAT(lines(""), IsEmpty());
  EXPECT_THAT(lines("interfaces: {i: {port: up, vlan: 1}}\n"), IsEmpty()) << "a way to the core";
}

TEST(Sold, ColumnsAreAligned) {
  const auto result = parse(
      "version: 1\nports: {a: {device: null}}\ninterfaces: {i: {port: a, vlan: 1}, longer: {port: a, vlan: "
      "2}}\n",
      "f.yaml");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(sold(*result.config),
            "customer  interface  up           down      share     queues\n"
            "i         i          best effort  the link  1/2 of a  one\n"
            "longer    longer     best effort  the link  1/2 of a  one\n");
}

TEST(Sold, DownstreamIsTheNarrowestShaper) {
  EXPECT_THAT(
      lines("groups: {g: {port: a, shape: 5 Mbit/s, weight: 3}, h: {port: a}, empty: {port: a}}\n"
            "interfaces:\n"
            "  i: {port: a, vlan: 1, shape: 2 Mbit/s, weight: 4, queues: own}\n"
            "  j: {port: a, vlan: 2, group: g, weight: 2}\n"
            "  k: {port: a, vlan: 3, group: h, queues: q, customer: acme}\n"
            "  t: {port: a, vlan: 4, inner_vlan: 11-20, group: g, addresses: 10.1.0.1/24}\n"),
      ElementsAre(
          "i | i | best effort | 2 Mbit/s | 4/8 of a (100 Mbit/s) | voice strict, data",
          "j | j | best effort | up to 5 Mbit/s | 2/12 of g (5 Mbit/s), 3/8 of a (100 Mbit/s) | one",
          "acme | k | best effort | up to 100 Mbit/s | 1/1 of h, 1/8 of a (100 Mbit/s) | assured 3/4, rest "
          "1/4",
          "t | t.11-20 (each of 10) | best effort | up to 5 Mbit/s | 1/12 of g (5 Mbit/s), 3/8 of a (100 "
          "Mbit/s) | one"));
}

// What is said of an interface `i` upstream.
std::string up(const std::string& rules, const std::string& services = kService,
               const std::string& ports = "") {
  const auto found = lines("interfaces: {i: {port: a, vlan: 7}}\n" + services + "classify:\n" + rules, ports);
  const std::string line = found.empty() ? "" : found[0];
  const auto begin = line.find(" | ", line.find(" | ") + 1) + 3;
  return line.substr(begin, line.find(" | ", begin) - begin);
}

TEST(Sold, UpstreamIsWhatContractsCommit) {
  EXPECT_EQ(up("  - {match: {interface: i}, service: s, per: interface}\n"), "1 Mbit/s s (assured of up)");
  EXPECT_EQ(up("  - {match: {interface: i}, service: s}\n"), "1 Mbit/s s (assured of up)");
  EXPECT_EQ(up("  - {match: {port: a}, service: s}\n"), "1 Mbit/s s shared (assured of up)");
  EXPECT_EQ(up("  - {match: {vlan: 7}, service: s, per: source}\n"), "1 Mbit/s s per source (assured of up)");
  EXPECT_EQ(up("  - {match: {interface: i}, service: s, per: flow, contracts: 20}\n"),
            "20 x 1 Mbit/s s per flow (assured of up)");
  EXPECT_EQ(up("  - {match: {vlan: 8}, service: s}\n"), "best effort") << "another tag";
  EXPECT_EQ(up("  - {match: {port: up}, service: s}\n"), "best effort") << "another port";
}

TEST(Sold, TheFirstRuleThatTakesAllIsTheLast) {
  const std::string all = "  - {match: {interface: i}, service: s, per: interface}\n",
                    some = "  - {match: {interface: i, protocol: udp}, service: s, per: flow}\n",
                    any = "  - {match: {}, service: s}\n";
  EXPECT_EQ(up(some + all + any), "1 Mbit/s s per flow (assured of up), 1 Mbit/s s (assured of up)");
  EXPECT_EQ(up(any), "1 Mbit/s s shared (assured of up)");
}

TEST(Sold, RulesOfAllAndOfOneKeepTheirOrder) {
  const std::string own = "  - {match: {interface: i, protocol: udp}, service: s, per: flow}\n",
                    any = "  - {match: {port: a, protocol: tcp}, service: s, per: source}\n",
                    flow = "1 Mbit/s s per flow (assured of up)",
                    source = "1 Mbit/s s per source (assured of up)";
  EXPECT_EQ(up(own + any), flow + ", " + source);
  EXPECT_EQ(up(any + own), source + ", " + flow);
}

TEST(Sold, NamesFourContractsOfAnInterface) {
  std::string rules;
  for (int dscp = 1; dscp <= 4; ++dscp)
    rules += "  - {match: {interface: i, dscp: " + std::to_string(dscp) + "}, service: s}\n";
  const std::string one = "1 Mbit/s s (assured of up)", four = one + ", " + one + ", " + one + ", " + one;
  EXPECT_EQ(up(rules), four);
  EXPECT_EQ(up(rules + "  - {match: {interface: i}, service: s}\n"), four + ", more");
}

TEST(Sold, WhereInPacketsGo) {
  const std::string rule = "  - {match: {interface: i}, service: s, per: interface}\n";
  const auto service = [](const std::string& mark) {
    return "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB" + mark + "}}\n";
  };
  EXPECT_EQ(up(rule, service("")), "1 Mbit/s s (by DSCP)");
  EXPECT_EQ(up(rule, service(", mark: {in: AF12}")), "1 Mbit/s s (OUT in assured of up)");
  EXPECT_EQ(up(rule, service(", mark: {in: EF}")), "1 Mbit/s s (OUT in rest of up)") << "no class names it";
  EXPECT_EQ(up(rule, kService,
               "  up2: {device: null, trust: core, queues: q}\n  up3: {device: null, trust: core}\n"),
            "1 Mbit/s s (assured of up, up2; the queue of up3)");
}

TEST(Sold, ClassesHaveTheirCaps) {
  EXPECT_THAT(
      lines("interfaces: {i: {port: a, vlan: 1, shape: 2 Mbit/s, queues: capped}}\n"),
      ElementsAre(
          "i | i | best effort | 2 Mbit/s | 1/1 of a (100 Mbit/s) | voice strict 100 kbit/s, bulk 1/4 "
          "at most 1 Mbit/s, data 3/4"));
}

}  // namespace
}  // namespace surety::config
