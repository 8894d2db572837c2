// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/subscriber_rows.h"

#include <gmock/gmock.h>

#include "config/parse.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using testing::ElementsAre;

TEST(SubscriberRows, SayWhereEachIs) {
  const auto parsed = config::parse(
      "version: 1\nports: {a: {device: null}}\n"
      "interfaces: {i: {port: a, vlan: 9}}\n"
      "services: {s: {conditioner: none}}\n"
      "plans: {p: {service: s, shape: 8 Mbit/s}, q: {service: s}}\n"
      "subscribers:\n"
      "  tag: {plan: p, port: a, vlan: 2, suspended: true}\n"
      "  range: {plan: q, port: a, vlan: 3, inner_vlan: 5-7, addresses: 10.2.1.1/24}\n"
      "  pair: {plan: q, port: a, vlan: 3, inner_vlan: 9}\n"
      "  here: {plan: q, port: a, prefixes: [10.1.0.7, \"2001:db8::/56\"]}\n"
      "  there: {plan: q, interface: i, prefixes: 10.1.0.8/31}\n",
      "t");
  ASSERT_TRUE(parsed.ok()) << parsed.diagnostics.front().format();
  std::vector<std::string> places;
  for (const SubscriberReading& row : subscriber_rows(*parsed.config))
    places.push_back(row.name + ": " + row.place);
  EXPECT_THAT(places, ElementsAre("here: a 10.1.0.7 2001:db8::/56", "pair: a 3.9", "range: a 3.5-7",
                                  "tag: a 2", "there: i 10.1.0.8/31"));
  const SubscriberReading tag = subscriber_rows(*parsed.config)[3];
  EXPECT_EQ(std::tuple(tag.plan, tag.owner, tag.suspended), std::tuple("p", "file", true));
  EXPECT_EQ(tag.shape_bytes_per_second, 1'000'000);
}

TEST(SubscriberRows, SumTheContractsOfEach) {
  Reading r = test::sample_reading();
  ContractReading other = r.contracts[0];  // acme's
  other.contract = "acme.8";
  other.met = true;
  r.contracts.push_back(other);
  r.interfaces.push_back({.name = "acme", .counters = {.rx_packets = 3}});
  const auto rows = subscriber_rows(r);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].committed_bytes_per_second, 1'000'000);
  EXPECT_EQ(rows[0].offered_bytes_per_second, 1'200'000);
  EXPECT_EQ(rows[0].delivered_bytes_per_second, 900'000);
  EXPECT_EQ(std::tuple(rows[0].demanding_seconds, rows[0].met_seconds), std::tuple(120u, 90u));
  EXPECT_EQ(rows[0].met, false) << "one is violated";
  EXPECT_EQ(rows[0].counters.rx_packets, 3u);
  EXPECT_EQ(rows[1].met, std::nullopt);
}

}  // namespace
}  // namespace surety
