// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_json.h"

#include <gmock/gmock.h>

#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using testing::ElementsAreArray;
using testing::Optional;

Json sample(std::string_view name) {
  return table(test::sample_reading(), name);
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(ReadingJson, HasEveryTableInOrder) {
  const Json all = to_json(test::sample_reading());
  EXPECT_THAT(keys(all), ElementsAreArray(kTables));
  for (const std::string_view name : kTables) EXPECT_EQ(all[std::string(name)], sample(name)) << name;
}

TEST(ReadingJson, AnUnknownTableIsNull) {
  EXPECT_TRUE(sample("").is_null());
  EXPECT_TRUE(sample("port").is_null());
}

TEST(ReadingJson, OfNothingHasEmptyTables) {
  const Json all = to_json(Reading{});
  for (const char* name :
       {"ports", "queues", "services", "flows", "drops", "exceptions", "aggregates", "domains", "workers"})
    EXPECT_EQ(all[name], Json::array()) << name;
  EXPECT_EQ(all["router"].size(), 1u);
  EXPECT_EQ(all["stages"].size(), kStages);
}

TEST(ReadingJson, Router) {
  EXPECT_EQ(sample("router"), Json::parse(R"([{
    "name": "edge1", "version": "0.1.0", "config_hash": "a1b2c3", "uptime_seconds": 3723.5, "flows": 13,
    "flow_capacity": 65536, "routes": 5, "routes_rejected": 2, "neighbors": 3, "mempool_available": 16000, "mempool_size": 16384,
    "reloads": 2, "reload_failures": 1, "last_reload_successful": true, "last_reload_timestamp_seconds": 1800000000.5,
    "signals_sent": 7, "cpu_seconds": 61.5, "resident_bytes": 250000000, "open_fds": 40, "reload_seconds": 0.125}])"));
}

TEST(ReadingJson, PortsAddUpDropsAndPunts) {
  const Json ports = sample("ports");
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0], Json::parse(R"({
    "name": "lan0", "device": "af_xdp lan0", "up": true, "missing": false, "rx_packets": 1000, "rx_bytes": 590000, "rx_missed": 7,
    "tx_packets": 0, "tx_bytes": 0, "forwarded": 984, "signals": 6, "fragments": 0, "enqueued": 0, "originated": 0, "held": 4,
    "queued": 0, "handover": 0, "dropped": 4, "degraded": 5, "punted": 2, "owner_core": 1, "rx_cores": [1, 2],
    "spread": "queues",
    "punt_reasons": {"arp": 2, "local": 0, "multicast": 0, "neighbor_discovery": 0, "dhcp": 0, "link_local": 0, "control": 0,
                     "ttl": 0, "mtu": 0, "neighbor": 0},
    "link_changes": 3, "speed_bytes_per_second": 125000000.0})"));
  EXPECT_EQ(ports[1]["up"], false);
  EXPECT_EQ(ports[1]["shape_bytes_per_second"], 4'250'000.0);
  EXPECT_EQ(ports[1]["queued"], 10);
  EXPECT_EQ(ports[1]["originated"], 8);
  EXPECT_EQ(ports[1]["handover"], 2);
}

TEST(ReadingJson, HandoverIsNotShownBelowZero) {
  Reading r = test::sample_reading();
  r.ports[1].handover = -3;
  EXPECT_EQ(table(r, "ports")[1]["handover"], 0);
}

TEST(ReadingJson, QueuesByPrecedence) {
  Json queues = sample("queues");
  ASSERT_EQ(queues.size(), 2u);
  EXPECT_EQ(queues[0]["sojourn_counts"].size(), SojournHistogram::kBuckets + 1);
  queues[0].erase("sojourn_counts");
  EXPECT_EQ(queues[0], Json::parse(R"({
    "port": "wan0", "name": "assured", "rio": true, "congested": true, "limit": 200, "average_in": 4.25, "average_total": 10.5,
    "in": {"depth": 5, "limit": 200, "arrivals": 600, "departures": 595, "departed_bytes": 342720, "early_drops": 0,
           "forced_drops": 0, "overflow_drops": 0, "ecn_marks": 0, "min": 20.0, "max": 40.0, "pmax_ratio": 0.02},
    "out": {"depth": 4, "limit": 100, "arrivals": 390, "departures": 383, "departed_bytes": 220608, "early_drops": 2,
            "forced_drops": 1, "overflow_drops": 0, "ecn_marks": 5, "min": 10.0, "max": 30.0, "pmax_ratio": 0.1},
    "sojourn_p50_seconds": 1e-5, "sojourn_p99_seconds": 2.5e-3})"));
}

TEST(ReadingJson, AQueueWithoutRioHasNoAveragesAndWithoutSamplesNoQuantiles) {
  EXPECT_THAT(keys(sample("queues")[1]), testing::ElementsAre("port", "name", "rio", "congested", "limit",
                                                              "in", "out", "sojourn_counts"));
}

TEST(ReadingJson, ServicesHaveARespectRatioOnlyWithACommitment) {
  const Json services = sample("services");
  ASSERT_EQ(services.size(), 2u);
  EXPECT_EQ(services[0], Json::parse(R"({
    "name": "silver", "conditioner": "csa", "flows": 12, "contracts": 10, "committed_bytes_per_second": 1250000.0,
    "achieved_bytes_per_second": 1625000.0, "achieved_in_bytes_per_second": 1233750.0, "respect_ratio": 0.987,
    "objective_ratio": 0.999, "demanding_seconds": 500, "met_seconds": 499,
    "in": {"packets": 600, "bytes": 345600, "lost": 2, "lost_bytes": 1152, "delivered_bytes": 344448},
    "out": {"packets": 300, "bytes": 172800, "lost": 5, "lost_bytes": 2880, "delivered_bytes": 169920},
    "dropped": 3, "dropped_bytes": 1728, "held": 4})"));
  for (const char* name : {"respect_ratio", "objective_ratio", "demanding_seconds", "met_seconds"})
    EXPECT_FALSE(services[1].contains(name)) << name;
}

TEST(ReadingJson, ContractsSayWhatWasOfferedAndWhatWasDelivered) {
  const Json contracts = sample("contracts");
  ASSERT_EQ(contracts.size(), 2u);
  EXPECT_EQ(contracts[0], Json::parse(R"({
    "customer": "acme", "service": "silver", "contract": "acme.7", "committed_bytes_per_second": 500000.0,
    "offered_bytes_per_second": 600000.0, "delivered_bytes_per_second": 450000.0,
    "delivered_in_bytes_per_second": 400000.0, "offered_bytes": 9000, "delivered_in_bytes": 5000,
    "delivered_out_bytes": 2000, "held": 3, "direction": "up", "dropped_conditioner": 2, "dropped_queue": 7, "dropped_other": 1,
    "drops": {"police": 2, "neighbor_unresolved": 1, "early": 7},
    "demanding_seconds": 60, "met_seconds": 45, "held_back_seconds": 9, "respect_ratio": 0.8, "met": false, "reason": "early", "objective_ratio": 0.999})"));
  for (const char* name : {"respect_ratio", "met", "reason", "objective_ratio"})
    EXPECT_FALSE(contracts[1].contains(name)) << name << " of who asked for nothing";
}

TEST(ReadingJson, DropsNameEveryReasonOfEveryPort) {
  const Json drops = sample("drops");
  ASSERT_EQ(drops.size(), 2 * kDropReasons);
  EXPECT_EQ(drops[static_cast<std::size_t>(DropReason::buffer)], Json::parse(R"row({
    "port": "lan0", "stage": "condition", "reason": "buffer", "group": "policy", "packets": 3,
    "help": "input buffer of the flow is full (CSA, Fig. 5)"
})row"));
  EXPECT_EQ(drops[kDropReasons + static_cast<std::size_t>(DropReason::truncated)], Json::parse(R"({
    "port": "wan0", "stage": "parse", "reason": "truncated", "group": "error", "packets": 0,
    "help": "frame shorter than its headers say"})"));
}

TEST(ReadingJson, ExceptionsByPortAndTheirWay) {
  const Json rows = sample("exceptions");
  ASSERT_EQ(rows.size(), 2 * kExceptionResults + 2 + 2 + 1);
  EXPECT_EQ(rows[0], Json::parse(R"({"port": "lan0", "way": "up", "result": "to_twin", "frames": 2,
    "help": "given to the kernel by the port's TAP mirror"})"));
  EXPECT_EQ(rows[kExceptionResults], Json::parse(R"({
    "port": "lan0", "way": "kernel", "result": "arp passed", "frames": 8, "help": "ARP"})"));
  EXPECT_EQ(rows[kExceptionResults + 2], Json::parse(R"({
    "port": "lan0", "way": "responder", "result": "arp_reply", "frames": 3, "help": "answered"})"));
  EXPECT_EQ(rows[kExceptionResults + 4]["port"], "wan0");
  EXPECT_EQ(rows.back(), Json::parse(R"({
    "port": "all", "way": "icmp", "result": "time_exceeded", "frames": 4, "help": "said so"})"));
}

TEST(ReadingJson, FiltersByEntry) {
  EXPECT_EQ(sample("filters"), Json::parse(R"([
    {"filter": "from-acme", "entry": "1", "action": "permit", "packets": 70},
    {"filter": "from-acme", "entry": "default", "action": "deny", "packets": 8}])"));
}

TEST(ReadingJson, FlowsAggregatesDomainsWorkersStages) {
  EXPECT_EQ(sample("flows"), Json::parse(R"([{
    "source": "10.1.0.1:5001", "destination": "198.51.100.7:80", "protocol": "tcp", "service": "silver", "vlan": 100,
    "in_bytes": 1500000, "out_bytes": 400, "held": 4, "idle_seconds": 0.0025}])"));
  EXPECT_EQ(sample("aggregates"), Json::parse(R"([{
    "name": "uplink-tcp", "port": "wan0", "queue": "assured", "tpr_bytes_per_second": 2125000.0,
    "lambda_in_bytes_per_second": 61250.0, "lambda_out_bytes_per_second": 88750.5, "tokens_bytes": 34560.0,
    "remarked": 11, "dropped": 2, "passed_in": 600, "passed_out": 390}])"));
  EXPECT_EQ(sample("domains"), Json::parse(R"([{"name": "wan0/assured", "alpha_ratio": 0.38}])"));
  EXPECT_EQ(sample("workers"), Json::parse(R"([
    {"core": 1, "flows": 9, "busy_cycles": 250, "idle_cycles": 750, "turns": 40, "busy_ratio": 0.25, "owns": "lan0", "reads": "lan0:0"},
    {"core": 2, "flows": 4, "busy_cycles": 0, "idle_cycles": 0, "turns": 0, "owns": "wan0",
     "reads": "lan0:1, wan0"}])"));
  EXPECT_EQ(sample("stages")[1], Json::parse(R"({"stage": "parse", "cycles": 13000, "packets": 1000})"));
}

TEST(ReadingJson, ManyPortsOfAWorkerAreCutToWhatTheWireTakes) {
  Reading r;
  r.workers.push_back({.core = 1, .counters = {}, .flows = 0});
  r.ports.resize(kMaxPorts);
  for (PortReading& p : r.ports) {
    p.name = "tengigabit";
    p.owner_core = 1;
  }
  const std::string owns = table(r, "workers")[0]["owns"];
  EXPECT_TRUE(owns.ends_with("tengigabit, tengigabit ...")) << owns;
  EXPECT_LE(owns.size(), 127u);
}

std::vector<Json> of_kind(std::string_view kind) {
  std::vector<Json> rows;
  for (const Json& row : sample("signalling"))
    if (row.at("kind") == kind) rows.push_back(row);
  return rows;
}

TEST(ReadingJson, SignallingHasRowsOfSeveralKinds) {
  using testing::ElementsAre;
  EXPECT_THAT(of_kind("mode"), ElementsAre(Json::parse(R"({"kind": "mode", "mode": "act"})")));
  EXPECT_THAT(of_kind("sender"), ElementsAre(Json::parse(R"({
    "kind": "sender", "port": "wan0", "queue": "assured", "sent": 7, "limited": 2, "lost": 1})")));
  EXPECT_THAT(of_kind("source"), ElementsAre(Json::parse(R"({
    "kind": "source", "router": "192.0.2.2", "port": "1", "queue": "0", "signals": 6, "age_seconds": 0.25})")));
  EXPECT_THAT(of_kind("path"), ElementsAre(Json::parse(R"({
    "kind": "path", "path": "10.9.0.0/24", "domain": "wan0/assured", "alpha_ratio": 0.12,
    "applied_alpha_ratio": 0.1})")));
}

TEST(ReadingJson, SignallingHasARowForEveryResult) {
  const std::vector<Json> rows = of_kind("received");
  ASSERT_EQ(rows.size(), kSignalResults);
  EXPECT_EQ(rows[static_cast<std::size_t>(SignalResult::forged)], Json::parse(R"({
    "kind": "received", "result": "forged", "signals": 1, "help": "its MAC does not match the key"})"));
  EXPECT_EQ(rows[static_cast<std::size_t>(SignalResult::stale)]["signals"], 0);
}

TEST(ReadingJson, SoldInBothDirections) {
  EXPECT_EQ(sample("commitments"), Json::parse(R"([
    {"port": "wan0", "group": "", "interface": "", "queue": "assured", "direction": "up", "sold_bytes_per_second": 3750000.0,
     "oversold": true, "capacity_bytes_per_second": 3000000.0},
    {"port": "lan0", "group": "street", "interface": "homes", "queue": "", "direction": "down",
     "sold_bytes_per_second": 1000000.0, "oversold": false, "members": 4}])"));
  EXPECT_EQ(table(Reading{}, "commitments"), Json::array());
}

TEST(ReadingJson, SubscribersWithTheirState) {
  const Json rows = sample("subscribers");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], Json::parse(R"({
    "name": "acme", "plan": "gold", "owner": "radius", "place": "lan0 107", "suspended": false, "state": "violated",
    "committed_bytes_per_second": 500000.0, "offered_bytes_per_second": 600000.0, "delivered_bytes_per_second": 450000.0,
    "demanding_seconds": 60, "met_seconds": 45, "met": false, "shape_bytes_per_second": 625000.0,
    "rx_packets": 0, "rx_bytes": 0, "tx_packets": 0, "tx_bytes": 0})"));
  EXPECT_EQ(rows[1]["state"], "suspended");
  EXPECT_FALSE(rows[1].contains("met") || rows[1].contains("demanding_seconds"));
  EXPECT_EQ(table(Reading{}, "subscribers"), Json::array());
}

TEST(SojournQuantile, IsTheUpperBoundOfTheBucket) {
  SojournHistogram h;
  EXPECT_EQ(sojourn_quantile(h, 0.5), std::nullopt);
  h.counts[0] = 50;
  h.counts[4] = 49;
  h.counts[5] = 1;
  EXPECT_THAT(sojourn_quantile(h, 0.5), Optional(1e-6));
  EXPECT_THAT(sojourn_quantile(h, 0.51), Optional(2.5e-5));
  EXPECT_THAT(sojourn_quantile(h, 0.99), Optional(2.5e-5));
  EXPECT_THAT(sojourn_quantile(h, 1), Optional(5e-5));
}

TEST(SojournQuantile, BeyondTheLastBoundIsTheLastBound) {
  SojournHistogram h;
  h.counts[SojournHistogram::kBuckets] = 1;
  EXPECT_THAT(sojourn_quantile(h, 0.5), Optional(2.5));
}

}  // namespace
}  // namespace surety
