// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/config/endpoints.h"
#include "tests/unit/config/schema_keys.h"

namespace surety::config {
namespace {

using namespace schema_keys;

constexpr Place kPlaces[] = {
    {"", "Z"},
    {"port", "ports: {a: {Z}}"},
    {"sink", "sinks: [{Z}]"},
    {"sender gtfrc", "senders: [{protocol: gtfrc, Z}]"},
    {"sender tfrc", "senders: [{protocol: tfrc, Z}]"},
    {"sender tcp", "senders: [{protocol: gtcp, Z}]"},
    {"sender tcp", "senders: [{protocol: newreno, Z}]"},
    {"sender tcp", "senders: [{protocol: reno, Z}]"},
    {"sender udp", "senders: [{protocol: udp, Z}]"},
    {"mark", "senders: [{protocol: udp, mark: {Z}}]"},
    {"metrics", "metrics: {Z}"},
    {"metrics_tls", "metrics: {tls: {Z}}"},
    {"dpdk", "dpdk: {Z}"},
};

Diagnostics diagnostics(const std::string& text) {
  return parse_endpoints(text, "f").diagnostics;
}

TEST(EndpointsSchema, KnowsExactlyTheKeysOfTheParser) {
  expect_keys_of_parser(schema("endpoints/config/endpoints_schema.json"), kPlaces, diagnostics);
}

TEST(EndpointsSchema, EveryMapOfTheSchemaIsCompared) {
  expect_every_map(schema("endpoints/config/endpoints_schema.json"), kPlaces, {});
}

TEST(EndpointsSchema, SaysOfValuesWhatTheParserSays) {
  expect_values_of_parser(schema("endpoints/config/endpoints_schema.json"), kPlaces, diagnostics);
}

}  // namespace
}  // namespace surety::config
