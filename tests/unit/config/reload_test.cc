// SPDX-License-Identifier: BSD-3-Clause
// What a running router takes over, and what it refuses, each thing at its place.
#include "config/reload.h"

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "config/text/tree.h"

namespace surety::config {
namespace {

const std::string kRunning = R"(version: 1
router: {name: r1, id: 192.0.2.1, role: core}
workers: {cores: [1], idle: adaptive}
ports:
  lan: {device: af_xdp eth1, addresses: [10.1.0.1/24], mtu: 1500, trust: customer}
  wan: {device: af_xdp eth2, shape: 10 Mbit/s, queues: up, worker: 1}
queues:
  up:
    - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s}
    - {name: rest, dscp: {in: [AF11], out: [BE]}, rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}}
  other:
    - {name: voice, dscp: [CS6], priority: strict, limit: 9 packets}
    - {name: rest, dscp: {in: [AF21], out: [BE]}}
services:
  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: BE}}
classify:
  - {match: {port: lan, protocol: tcp}, service: gold, per: source}
routes:
  - {to: 198.51.100.0/24, via: 10.1.0.9}
signalling: {mode: act, key_file: k1, borders: [{source: 10.1.0.0/16, border: 192.0.2.9}]}
metrics: {listen: "127.0.0.1:9464", top_flows: 5}
flow_table: {capacity: 1000, idle_timeout: 10 s, held: 500 packets}
dpdk: {mbufs: 20000}
kernel: {routes: on}
groups:
  street: {port: lan, weight: 2}
interfaces:
  home:
    {port: lan, vlan: 7, inner_vlan: 1-9, filter: {in: f}, addresses: [10.7.0.1/24], trust: core, mtu: 1400, group: street}
filters: {f: [{permit: {source: 10.7.0.0/24}}]}
pcp: {5: [EF]}
)";

Config running() {
  return parse(kRunning, "r.yaml").config.value();
}

ParseResult parse_reload(const Config& before, const std::string& text, const std::string& file) {
  return parse_tree(tree_of(text, file), &before);
}

std::vector<Diagnostic> errors_of(const ParseResult& result) {
  std::vector<Diagnostic> errors = result.diagnostics;
  std::erase_if(errors, [](const Diagnostic& d) { return d.severity != Diagnostic::Severity::error; });
  return errors;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kRunning;
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

struct Change {
  const char *from, *to;
  const char* error = "";  // "line:column: message"; empty: taken over
};
std::ostream& operator<<(std::ostream& s, const Change& c) {
  return s << c.from << " -> " << c.to;
}

class Reload : public testing::TestWithParam<Change> {};

TEST_P(Reload, IsTakenOverOrRefused) {
  const Change& c = GetParam();
  const auto result = parse_reload(running(), changed(c.from, c.to), "r.yaml");
  std::string errors;
  for (const auto& d : errors_of(result))
    errors += (errors.empty() ? "" : "; ") + std::to_string(d.line) + ":" + std::to_string(d.column) + ": " +
              d.message;
  EXPECT_EQ(errors, c.error);
  EXPECT_EQ(result.ok(), errors.empty());
}

INSTANTIATE_TEST_SUITE_P(
    TakenOver, Reload,
    testing::Values(
        Change{"version: 1", "# the same\nversion: 1"},
        Change{"[10.1.0.1/24]", "[10.1.0.2/24, '2001:db8::1/64']"}, Change{"[10.1.0.1/24]", "[]"},
        Change{"inner_vlan: 1-9", "inner_vlan: 1-9, hosts: 9"},
        Change{"  home:", "  other: {port: lan, vlan: 8}\n  home:"}, Change{"vlan: 7", "vlan: 9"},
        Change{"inner_vlan: 1-9", "inner_vlan: 1-10"}, Change{"  home:", "  away:"},
        Change{"trust: core, mtu: 1400", "trust: customer, mtu: 1300"}, Change{"filter: {in: f}, ", ""},
        Change{"{permit: {source: 10.7.0.0/24}}", "{deny: {}}"}, Change{"weight: 2", "shape: 1 Mbit/s"},
        Change{"  street:", "  lane: {port: lan}\n  street:"}, Change{"5: [EF]", "6: [EF]"},
        Change{"pcp: {5: [EF]}\n", ""},
        Change{"via: 10.1.0.9}", "via: 10.1.0.9}\n  - {to: 203.0.113.0/24, blackhole: true}"},
        Change{", shape: 10 Mbit/s", ""}, Change{"eth1", "eth9"}, Change{"trust: customer", "trust: core"},
        Change{"mtu: 1500", "mtu: 1400"}, Change{"mtu: 1500", "mac: '02:00:00:00:00:01'"},
        Change{"mtu: 1500", "promiscuous: on"}, Change{"mtu: 1500", "receive: {queues: 2}"},
        Change{", worker: 1", ""}, Change{"  wan:", "  dmz: {device: null}\n  wan:"},
        Change{", queues: up", ""}, Change{"[10.1.0.1/24],", "[10.1.0.1/24], queues: up,"},
        Change{"shape: 10 Mbit/s", "shape: 20 Mbit/s, burst: 9 kB, overhead: ethernet"},
        Change{"rate: 1 Mbit/s}\n    -", "rate: 2 Mbit/s, limit: 7 packets}\n    -"},
        Change{"queues: up,", "queues: other,"},
        Change{"name: rest, dscp: {in: [AF11]", "name: bulk, dscp: {in: [AF11]"},
        Change{"priority: strict, rate: 1 Mbit/s", "weight: 3"},
        Change{"  other:", "    - {name: more, dscp: [CS1]}\n  other:"},
        Change{"    - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s}\n", ""},
        Change{", rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}", ""},
        Change{"rate: 1 Mbit/s, bucket: 10 kB", "rate: 9 Mbit/s, bucket: 1 kB"},
        Change{"conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB",
               "conditioner: srtcm, rate: 1 Mbit/s, committed_burst: 2 kB, excess_burst: 1 kB"},
        Change{"  gold:", "  more: {conditioner: none}\n  gold:"}, Change{"per: source", "per: flow"},
        Change{"mode: act", "mode: observe"}, Change{"key_file: k1", "key_file: k2"},
        Change{"top_flows: 5", "top_flows: 50, console: off"},
        Change{"top_flows: 5", "password_file: p, tls: {cert_file: c, key_file: k}"},
        Change{"held: 500 packets", "held: 500 packets, creation_rate: 9"},
        Change{"routes:\n",
               "aggregates:\n  a: {port: wan, queue: rest, marker: ard, rate: 10 Mbit/s}\nroutes:\n"}));

INSTANTIATE_TEST_SUITE_P(
    Refused, Reload,
    testing::Values(
        Change{"name: r1", "name: r2", "2:9: `router` cannot change while the router runs; restart it"},
        Change{"idle: adaptive", "idle: poll",
               "3:10: `workers` cannot change while the router runs; restart it"},
        Change{"[1], idle", "[1, 2], idle",
               "3:10: `workers` cannot change while the router runs; restart it"},
        Change{"protocol: tcp}", "protocol: tcp, dscp: EF}",
               "17:46: rules cannot begin to match `dscp` while the router runs; restart it"},
        Change{"af_xdp eth1", "pci 0000:01:00.0",
               "5:17: port `lan` cannot get a pci device while the router runs; restart it"},
        Change{"  wan:", "  dmz: {device: vhost /tmp/s}\n  wan:",
               "6:17: port `dmz` cannot get a vhost device while the router runs; restart it"},
        Change{"  wan:", "  dmz: {device: virtio-user /tmp/s}\n  wan:",
               "6:17: port `dmz` cannot get a virtio-user device while the router runs; restart it"},
        Change{"{mode: act, key_file: k1, borders: [{source: 10.1.0.0/16, border: 192.0.2.9}]}", "off",
               "20:13: `signalling.mode` cannot change while the router runs; restart it"},
        Change{"key_file: k1,", "key_file: other/k1,",
               "20:35: `signalling.key_file` cannot move to another directory while the router runs; restart "
               "it"},
        Change{"key_file: k1,", "key_file: k1, max_age: 3 s,",
               "20:48: `signalling.max_age` cannot change while the router runs; restart it"},
        Change{"key_file: k1,", "key_file: k1, queue_limit: 9,",
               "20:52: `signalling.queue_limit` cannot change while the router runs; restart it"},
        Change{"key_file: k1,", "key_file: k1, report: events,",
               "20:47: `signalling.report` cannot change while the router runs; restart it"},
        Change{"key_file: k1,", "key_file: k1, source_limit: 9,",
               "20:53: `signalling.source_limit` cannot change while the router runs; restart it"},
        Change{"border: 192.0.2.9", "border: 192.0.2.8",
               "20:48: `signalling.borders` cannot change while the router runs; restart it"},
        Change{":9464", ":9465", "21:19: `metrics.listen` cannot change while the router runs; restart it"},
        Change{"capacity: 1000", "capacity: 2000",
               "22:24: `flow_table.capacity` cannot change while the router runs; restart it"},
        Change{"idle_timeout: 10 s", "idle_timeout: 11 s",
               "22:44: `flow_table.idle_timeout` cannot change while the router runs; restart it"},
        Change{"held: 500 packets", "held: 501 packets",
               "22:56: `flow_table.held` cannot change while the router runs; restart it"},
        Change{"20000", "20001", "23:7: `dpdk` cannot change while the router runs; restart it"},
        Change{"kernel: {routes: on}", "kernel: {routes: off}",
               "24:9: `kernel` cannot change while the router runs; restart it"}));

TEST(ReloadErrors, AreAllTold) {
  auto text = changed("name: r1", "name: r2");
  text.replace(text.find("20000"), 5, "30000");
  EXPECT_EQ(errors_of(parse_reload(running(), text, "r.yaml")).size(), 2u);
}

TEST(ReloadErrors, OfAFileThatIsWrongInItselfAreThoseOfParsing) {
  const auto text = changed("name: r1", "name: [r2");
  const auto parsed = errors_of(parse(text, "r.yaml"));
  const auto reloaded = errors_of(parse_reload(running(), text, "r.yaml"));
  ASSERT_EQ(parsed.size(), 1u);
  ASSERT_EQ(reloaded.size(), 1u);
  EXPECT_EQ(reloaded[0].format(), parsed[0].format());
}

TEST(ReloadErrors, WhatTheFileDoesNotSayIsItsDefault) {
  const auto errors = errors_of(parse_reload(running(), changed("dpdk: {mbufs: 20000}\n", ""), "r.yaml"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "`dpdk` cannot change while the router runs; restart it");
  EXPECT_EQ(errors[0].line, 1);
}

TEST(ReloadErrors, RulesThatMatchDscpMayComeAndGoWhereThereWereSome) {
  const auto with = parse(changed("protocol: tcp}", "protocol: tcp, dscp: EF}"), "r.yaml").config.value();
  EXPECT_TRUE(parse_reload(with, kRunning, "r.yaml").ok());
  EXPECT_TRUE(parse_reload(with, changed("protocol: tcp}", "dscp: AF11}"), "r.yaml").ok());
}

TEST(ReloadErrors, WhereNoPortsMayBeOpenedTheyMayStillGoAndChange) {
  const auto off = [](const std::string& from, const std::string& to) {
    auto text = changed(from, to);
    return text.replace(text.find("role: core"), 10, "role: core, new_ports: off");
  };
  const auto before = parse(off("role", "role"), "r.yaml").config.value();
  const auto errors = [&](const std::string& from, const std::string& to) {
    const auto all = errors_of(parse_reload(before, off(from, to), "r.yaml"));
    return all.empty() ? std::string() : std::to_string(all[0].line) + ": " + all[0].message;
  };
  EXPECT_EQ(errors("mtu: 1500, trust: customer", "mtu: 1400, trust: core"), "");
  EXPECT_EQ(
      errors("eth1", "eth9"),
      "5: port `lan` needs a device that is not open, and `router: {new_ports: off}` forbids opening one; "
      "restart the router");
  EXPECT_EQ(
      errors("  wan:", "  dmz: {device: null}\n  wan:"),
      "6: port `dmz` needs a device that is not open, and `router: {new_ports: off}` forbids opening one; "
      "restart the router");
}

TEST(ReloadErrors, PortsOfAtTheStartOnlyStay) {
  const auto before = parse(changed("af_xdp eth1", "pci 0000:01:00.0"), "r.yaml").config.value();
  const auto errors = errors_of(parse_reload(before, kRunning, "r.yaml"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(
      errors[0].message,
      "port `lan` cannot be removed or change its device, a pci one, while the router runs; restart it");
}

TEST(ReloadFile, GivesWhatItHasRead) {
  const std::string path = testing::TempDir() + "reload_test.yaml";
  std::ofstream(path) << kRunning;
  const auto before = parse(kRunning, path).config.value();  // its other files stand beside it
  const auto result = parse_file(path, &before);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.tree.hash(), hash_of(kRunning));
}

TEST(ReloadFile, SaysWhereThePortStandsWhoseDeviceIsWrong) {
  const auto all = port_error(tree_of(kRunning, "r.yaml"), "wan", "there is none");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].line, 6);
  EXPECT_EQ(all[0].column, 17);
  EXPECT_EQ(all[0].message, "there is none");
}

TEST(ReloadFile, ThatIsNotThereIsAnError) {
  const auto before = running();
  const auto result = parse_file("/nowhere.yaml", &before);
  EXPECT_FALSE(result.ok());
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_NE(result.diagnostics[0].message.find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace surety::config
