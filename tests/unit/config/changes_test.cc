// SPDX-License-Identifier: BSD-3-Clause
#include "config/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/parse.h"
#include "config/text/outline.h"

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Whatever the text says: what it means does not matter here.
Config written(const std::string& text) {
  Config c;
  const Document document(text);
  EXPECT_EQ(document.error(), "");
  c.written = std::make_shared<const Outline>(outline_of(*document.root()));
  return c;
}

std::vector<std::string> told(const std::string& before, const std::string& after) {
  std::vector<std::string> all;
  for (const Change& c : changes(written(before), written(after))) all.push_back(c.what);
  return all;
}

TEST(Changes, NameWhatComesGoesAndChanges) {
  EXPECT_THAT(
      told("ports: {lan0: {device: null, mtu: 1500}, old: {device: null}}\n"
           "services: {gold: {rate: 20 Mbit/s, alpha: {min: 0.1, max: 0.4}}}\nadmission: warn\n",
           "ports: {lan0: {device: null}, lan1: {device: null}}\n"
           "services: {gold: {rate: 30 Mbit/s, alpha: {min: 0.1, max: 0.5}}}\nmetrics: {top_flows: 5}\n"),
      ElementsAre("admission: warn -> not set", "metrics: top_flows not set -> 5",
                  "port lan0: mtu 1500 -> not set", "port lan1: new (device: null)", "port old: removed",
                  "service gold: alpha.max 0.4 -> 0.5", "service gold: rate 20 Mbit/s -> 30 Mbit/s"));
}

TEST(Changes, HowItIsWrittenIsNoMatter) {
  EXPECT_THAT(told("ports: {a: {device: null, mtu: 9000}}\nmetrics: {listen: off}\n",
                   "# a comment\nmetrics:\n  listen: off\nports:\n  a:\n    mtu: 9000\n    device: null\n"),
              IsEmpty());
}

TEST(Changes, EntriesOfListsGoByWhatTellsThemApart) {
  EXPECT_THAT(told("routes: [{to: 10.1.0.0/16, via: 10.0.0.1}, {to: 10.2.0.0/16, via: 10.0.0.1}]\n",
                   "routes: [{to: 10.3.0.0/16, via: 10.0.0.1}, {to: 10.1.0.0/16, via: 10.0.0.2}]\n"),
              ElementsAre("route 10.3.0.0/16: new (via: 10.0.0.1)",
                          "route 10.1.0.0/16: via 10.0.0.1 -> 10.0.0.2", "route 10.2.0.0/16: removed"));
  EXPECT_THAT(
      told("queues: {up: [{name: a, limit: 1 packets}, {name: b}, {name: c}]}\n",
           "queues: {up: [{name: c}, {name: a, limit: 2 packets}, {name: b}], down: [{name: x}]}\n"),
      ElementsAre("queue set down: new ([{name: x}])", "class c of queue set up: moved from place 3 to 1",
                  "class a of queue set up: limit 1 packets -> 2 packets"));
  EXPECT_THAT(told("filters: {f: [{permit: {source: 10.0.0.0/8}}, {deny: {}, name: rest}]}\n",
                   "filters: {f: [{permit: {source: 10.0.0.0/9}}, {permit: {}, name: rest}]}\n"),
              ElementsAre("entry 1 of filter f: permit.source 10.0.0.0/8 -> 10.0.0.0/9",
                          "entry rest of filter f: deny {} -> not set",
                          "entry rest of filter f: permit not set -> {}"));
}

TEST(Changes, ARuleBetweenRulesIsOneChange) {
  const std::string a = "{match: {port: a}, service: s}", b = "{match: {port: b}, service: s}",
                    c = "{match: {port: c}, service: s}";
  const auto rules = [](const std::string& all) { return "classify: [" + all + "]\n"; };
  EXPECT_THAT(told(rules(a + ", " + b), rules(c + ", " + a + ", " + b)),
              ElementsAre("rule 1: new (match: {port: c}, service: s)"));
  EXPECT_THAT(told(rules(a + ", " + b + ", " + c), rules(a + ", " + c)), ElementsAre("rule 2: removed"));
  EXPECT_THAT(told(rules(a + ", " + b + ", " + c), rules(a + ", {match: {port: b}, service: t}, " + c)),
              ElementsAre("rule 2: service s -> t"));
  EXPECT_THAT(told(rules(a + ", " + b + ", " + c), rules(b + ", " + c + ", " + a)),
              ElementsAre("rule 3: moved from place 1 to 3"));
  EXPECT_THAT(told(rules(a + ", " + a), rules(a)), ElementsAre("rule 2: removed"));
}

TEST(Changes, ValuesOfListsAreToldOneByOne) {
  EXPECT_THAT(told("ports: {a: {addresses: [10.0.0.1/8, 10.1.0.1/16]}}\nworkers: [1]\n",
                   "ports: {a: {addresses: [10.0.0.1/8, 10.1.0.2/16, 10.2.0.1/16]}}\nworkers: [1, 2]\n"),
              ElementsAre("port a: addresses 10.1.0.1/16 -> 10.1.0.2/16", "port a: addresses 10.2.0.1/16 new",
                          "workers: 2 new"));
  EXPECT_THAT(told("routes: [{to: 10.0.0.0/8, via: 10.1.1.1}]\n",
                   "routes: [{to: 10.0.0.0/8, via: [10.1.1.1, 10.1.1.2]}]\n"),
              ElementsAre("route 10.0.0.0/8: via 10.1.1.1 -> [10.1.1.1, 10.1.1.2]"));
}

TEST(Changes, WhatIsLongIsCutAndWhatIsNoTextIsNotPrinted) {
  const auto text = told("log: {x: a}\n", "log: {x: \"" + std::string(1000, 'x') + "\"}\n").at(0);
  EXPECT_LT(text.size(), 130U);
  EXPECT_THAT(text, testing::EndsWith("xxx..."));
  EXPECT_THAT(told("log: {x: a}\n", "log: {x: \"\\e[2J\"}\n"), ElementsAre("log: x a -> ?[2J"));
}

const std::string kRouter = R"(version: 1
ports:
  lan0: {device: null, addresses: [10.1.0.1/24]}
  up0: {device: pci 0000:01:00.0, shape: 10 Mbit/s, queues: up, trust: core}
queues:
  up: [{name: voice, dscp: [EF], priority: strict}, {name: rest, dscp: [BE]}]
  spare: [{name: all, dscp: [BE]}]
services:
  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}}
classify: [{match: {interface: acme}, service: gold}]
routes: [{to: 10.9.0.0/16, via: 10.1.0.9}]
groups: {street: {port: lan0}}
filters: {f: [{permit: {source: 10.7.0.0/24}}]}
interfaces:
  acme: {port: lan0, vlan: 7, customer: "acme-inc", addresses: [10.7.0.1/24], filter: {in: f}}
  homes: {port: lan0, vlan: 8, inner_vlan: 1-9, addresses: [10.8.0.1/24], group: street}
plans: {gold: {service: gold}, spare: {service: gold}}
subscribers: {globex: {plan: gold, port: lan0, vlan: 9}}
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kRouter;
  return text.replace(text.find(from), from.size(), to);
}

Change only(const std::string& from, const std::string& to) {
  const auto all =
      changes(parse(kRouter, "r.yaml").config.value(), parse(replaced(from, to), "r.yaml").config.value());
  EXPECT_EQ(all.size(), 1U) << to_text(all);
  return all.empty() ? Change{} : all.front();
}

TEST(Changes, SayWhomTheyConcern) {
  EXPECT_EQ(only("rate: 1 Mbit/s", "rate: 2 Mbit/s").whom, "contracts of service gold");
  EXPECT_EQ(only("dscp: [EF]", "dscp: [CS6]").whom, "traffic that leaves by port up0");
  EXPECT_EQ(only("name: all, dscp", "name: all, limit: 7 packets, dscp").whom,
            "nothing: no port or interface uses this queue set");
  EXPECT_EQ(only("via: 10.1.0.9", "via: 10.1.0.8").whom, "traffic to 10.9.0.0/16");
  EXPECT_EQ(only("street: {port: lan0}", "street: {port: lan0, weight: 2}").whom,
            "interfaces homes.1 to homes.9");
  EXPECT_EQ(only("10.7.0.0/24}", "10.7.0.0/25}").whom, "interfaces acme (customer acme-inc)");
  EXPECT_EQ(only("vlan: 7, ", "vlan: 7, mtu: 1400, ").whom, "interfaces acme (customer acme-inc)");
  EXPECT_EQ(only("  gold:", "  dear: {conditioner: none}\n  gold:").whom, "contracts of service dear");
  EXPECT_EQ(only("shape: 10", "shape: 11").whom, "traffic of port up0");
  EXPECT_EQ(only("gold: {service: gold}", "gold: {service: gold, weight: 2}").whom, "subscribers globex");
  EXPECT_EQ(only("spare: {", "spare: {weight: 2, ").whom, "nothing: no subscriber has this plan");
  EXPECT_EQ(only("{plan: gold, ", "{plan: spare, ").whom, "subscriber globex");
  EXPECT_EQ(only("version: 1\n", "version: 1\nlog: {level: debug}\n").whom, "readers of the log");
}

TEST(Changes, OfAFilterConcernItsPortsAndInterfaces) {
  const auto whom = [](std::string ports) {
    const std::string rest =
        "\ninterfaces: {acme: {port: a, vlan: 7, filter: {in: f}}}\nfilters: {f: [{permit: {protocol: ";
    const std::string text = "version: 1\nports: " + std::move(ports) + rest;
    const auto all = changes(parse(text + "tcp}}]}\n", "r.yaml").config.value(),
                             parse(text + "udp}}]}\n", "r.yaml").config.value());
    return all.empty() ? "" : all[0].whom;
  };
  EXPECT_EQ(whom("{a: {device: null, filter: {in: f}}, b: {device: null, filter: {out: f}}}"),
            "ports a, b, interfaces acme");
  EXPECT_EQ(whom("{a: {device: null}}"), "interfaces acme");
}

TEST(Changes, SayWhatTakesARestart) {
  using Takes = Change::Takes;
  EXPECT_EQ(only("shape: 10", "shape: 11").takes, Takes::at_once);
  EXPECT_EQ(only("01:00.0", "02:00.0").takes, Takes::restart);
  EXPECT_EQ(only("shape: 10", "mac: '02:00:00:00:00:01', shape: 10").takes, Takes::restart);
  EXPECT_EQ(only("  up0:", "  up1: {device: pci 0000:03:00.0}\n  up0:").takes, Takes::restart);
  EXPECT_EQ(only("  up0:", "  up1: {device: null}\n  up0:").takes, Takes::at_once);
  EXPECT_EQ(only("version: 1\n", "version: 1\nmetrics: {listen: off}\n").takes, Takes::restart);
  EXPECT_EQ(only("version: 1\n", "version: 1\nmetrics: {top_flows: 3}\n").takes, Takes::at_once);
  EXPECT_EQ(only("interface: acme}", "interface: acme, dscp: EF}").takes, Takes::restart);
  EXPECT_EQ(only("classify: [", "classify: [{match: {dscp: EF}, service: gold}, ").takes, Takes::restart);
}

// A file name is taken from where the file lies.
TEST(Changes, WhatNoLineSaysIsToldToo) {
  const std::string text = kRouter + "signalling: {mode: act, key_file: k}\nrouter: {id: 192.0.2.1}\n";
  const auto all = changes(parse(text, "/a/r.yaml").config.value(), parse(text, "/b/r.yaml").config.value());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].what, HasSubstr("cannot move to another directory"));
  EXPECT_EQ(all[0].takes, Change::Takes::restart);
}

TEST(Changes, AsText) {
  const std::vector<Change> two = {
      {"admission: warn -> refuse", Change::Takes::at_once, "admission of contracts"},
      {"router: name a -> b", Change::Takes::restart, "all"}};
  EXPECT_EQ(to_text(two),
            "admission: warn -> refuse; affects admission of contracts\n"
            "router: name a -> b; takes a restart; affects all\n");
  EXPECT_EQ(in_short(two), "admission: warn -> refuse; router: name a -> b");
  EXPECT_EQ(in_short(std::vector<Change>(7, two[0])),
            "admission: warn -> refuse; admission: warn -> refuse; admission: warn -> refuse; admission: "
            "warn -> refuse; "
            "admission: warn -> refuse; and 2 more changes");
  EXPECT_EQ(in_short({}), "nothing has changed");
}

// Every scalar of every example, so every key: exactly that one is named.
class EachScalar {
 public:
  explicit EachScalar(Outline root) : root_(std::move(root)) {}
  int run() {
    visit(root_, "");
    return count_;
  }

 private:
  static bool names(const std::string& section, const std::string& key) {
    return ((section == "queues" || section == "filters") && key == "name") ||
           (section == "routes" && key == "to") || (section == "neighbors" && key == "address") ||
           (section == "signalling" && key == "source");
  }

  void visit(Outline& o, const std::string& section) {
    for (Outline& b : o.below) visit(b, section.empty() ? b.key : section);
    if (o.kind != Node::Kind::scalar) return;
    Config before, after;
    before.written = std::make_shared<const Outline>(root_);
    const std::string was = std::exchange(o.text, "other");
    after.written = std::make_shared<const Outline>(root_);
    o.text = was;
    const auto all = changes(before, after);
    const bool tells_apart = names(section, o.key);
    ASSERT_EQ(all.size(), tells_apart ? 2U : 1U) << section << ' ' << o.key << '\n' << to_text(all);
    const std::string key = o.key == section ? o.key + ":" : o.key, how = was + " -> other";
    EXPECT_THAT(all[0].what, HasSubstr(tells_apart ? "" : key + " " + how)) << section;
    EXPECT_FALSE(all[0].whom.empty());
    ++count_;
  }

  Outline root_;
  int count_ = 0;
};

TEST(Changes, EachScalarOfTheExamplesIsNamed) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SURETY_SOURCE_DIR "/config/examples")) {
    if (entry.is_directory()) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const Document document(text.str());
    ASSERT_NE(document.root(), nullptr) << entry.path();
    count += EachScalar(outline_of(*document.root())).run();
  }
  EXPECT_GT(count, 500);
}

}  // namespace
}  // namespace surety::config
