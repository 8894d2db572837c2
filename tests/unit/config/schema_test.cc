// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"
#include "tests/unit/config/schema_keys.h"

namespace surety::config {
namespace {

using namespace schema_keys;

constexpr Place kPlaces[] = {
    {"", "Z"},
    {"router", "router: {Z}"},
    {"workers", "workers: {Z}"},
    {"port", "ports: {a: {Z}}"},
    {"group", "groups: {g: {Z}}"},
    {"interface", "interfaces: {i: {Z}}"},
    {"plan", "plans: {p: {Z}}"},
    {"subscriber", "subscribers: {s: {Z}}"},
    {"interface_filter", "interfaces: {i: {filter: {Z}}}"},
    {"filter_entry", "filters: {f: [{Z}]}"},
    {"filter_match", "filters: {f: [{permit: {Z}}]}"},
    {"pcp", "pcp: {Z}"},
    {"receive", "ports: {a: {receive: {Z}}}"},
    {"route", "routes: [{Z}]"},
    {"neighbor", "neighbors: [{Z}]"},
    {"class", "queues: {q: [{Z}]}"},
    {"precedences", "queues: {q: [{dscp: {Z}}]}"},
    {"rio", "queues: {q: [{rio: {Z}}]}"},
    {"red", "queues: {q: [{rio: {in: {Z}}}]}"},
    {"csa", "services: {s: {conditioner: csa, Z}}"},
    {"alpha", "services: {s: {conditioner: csa, alpha: {Z}}}"},
    {"token_bucket", "services: {s: {conditioner: token-bucket, Z}}"},
    {"police", "services: {s: {conditioner: police, Z}}"},
    {"srtcm", "services: {s: {conditioner: srtcm, Z}}"},
    {"trtcm", "services: {s: {conditioner: trtcm, Z}}"},
    {"none", "services: {s: {conditioner: none, Z}}"},
    {"mark_1", "services: {s: {conditioner: police, mark: {Z}}}"},
    {"mark_2", "services: {s: {conditioner: csa, mark: {Z}}}"},
    {"mark_3", "services: {s: {conditioner: trtcm, mark: {Z}}}"},
    {"rule", "classify: [{Z}]"},
    {"match", "classify: [{match: {Z}}]"},
    {"prefix_lengths", "classify: [{prefix: {Z}}]"},
    {"aggregate", "aggregates: {a: {Z}}"},
    {"aggregate_match", "aggregates: {a: {match: {Z}}}"},
    {"mark_out", "aggregates: {a: {mark: {Z}}}"},
    {"signalling", "signalling: {Z}"},
    {"border", "signalling: {borders: [{Z}]}"},
    {"metrics", "metrics: {Z}"},
    {"metrics_tls", "metrics: {tls: {Z}}"},
    {"flow_table", "flow_table: {Z}"},
    {"dpdk", "dpdk: {Z}"},
    {"icmp", "icmp: {Z}"},
    {"log", "log: {Z}"},
    {"kernel", "kernel: {Z}"},
};

Diagnostics diagnostics(const std::string& text) {
  return parse(text, "f").diagnostics;
}

TEST(Schema, KnowsExactlyTheKeysOfTheParser) {
  expect_keys_of_parser(schema("config/schema.json"), kPlaces, diagnostics);
}

TEST(Schema, EveryMapOfTheSchemaIsCompared) {
  expect_every_map(schema("config/schema.json"), kPlaces, {"service"});
}

TEST(Schema, SaysOfValuesWhatTheParserSays) {
  expect_values_of_parser(schema("config/schema.json"), kPlaces, diagnostics);
}

}  // namespace
}  // namespace surety::config
