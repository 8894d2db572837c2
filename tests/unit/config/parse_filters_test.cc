// SPDX-License-Identifier: BSD-3-Clause
// Section `filters`. What is wrong with it stands in tests/unit/broken/filter*.yaml.
#include <gtest/gtest.h>

#include "config/address.h"
#include "config/parse.h"

namespace surety::config {
namespace {

// Of one interface, whose `in` is `f`; every diagnostic is a failure.
Config parsed(const std::string& filters) {
  const auto result = parse(
      "version: 1\nports: {a: {device: null}}\ninterfaces: {i: {port: a, vlan: 1, filter: {in: "
      "f}}}\nfilters:\n" +
          filters,
      "f.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config.value_or(Config{});
}

TEST(ParseFilters, EntriesInTheirOrder) {
  const auto c = parsed(
      "  f:\n"
      "    - {permit: {source: 10.1.0.0/24, destination: 10.2.0.1, protocol: tcp, source_port: 1-9, "
      "destination_port: 80, dscp: EF}, name: web}\n"
      "    - {deny: {family: ipv6}}\n"
      "    - {permit: {}, name: rest}\n");
  ASSERT_EQ(c.filters.size(), 1u);
  EXPECT_EQ(c.interfaces.at(0).filter_in, 0u);
  EXPECT_EQ(c.filters[0].name, "f");
  const auto& entries = c.filters[0].entries;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_TRUE(entries[0].permit);
  EXPECT_EQ(entries[0].name, "web");
  const Match& m = entries[0].match;
  EXPECT_EQ(m.source, std::vector{*parse_prefix("10.1.0.0/24")});
  EXPECT_EQ(m.destination, std::vector{*parse_prefix("10.2.0.1/32")});
  EXPECT_EQ(m.protocol, 6);
  EXPECT_EQ(m.source_port.from, 1);
  EXPECT_EQ(m.source_port.to, 9);
  EXPECT_EQ(m.destination_port.from, 80);
  EXPECT_EQ(m.dscp, 46);
  EXPECT_EQ(m.family, Match::Family::ipv4);
  EXPECT_FALSE(m.port || m.interface || m.vlan || m.inner_vlan);
  EXPECT_FALSE(entries[1].permit);
  EXPECT_EQ(entries[1].name, "");
  EXPECT_EQ(entries[1].match.family, Match::Family::ipv6);
  EXPECT_EQ(entries[2].match.family, Match::Family::any);
}

TEST(ParseFilters, NamesOfEntriesAreOfTheirFilter) {
  const auto result = parse(
      "version: 1\nports: {a: {device: null}}\ninterfaces: {i: {port: a, vlan: 1, filter: {in: f, out: g}}}\n"
      "filters: {f: [{deny: {}, name: x}], g: [{deny: {}, name: x}]}\n",
      "f.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.diagnostics.empty());
}

std::string filter_of(int entries) {
  std::string text = "  f:\n";
  for (int i = 0; i < entries; ++i) text += "    - {permit: {destination_port: " + std::to_string(i) + "}}\n";
  return text;
}

TEST(ParseFilters, AsManyEntriesAsThereAreNumbers) {
  const auto result = parse(
      "version: 1\nports: {a: {device: null}}\nfilters:\n  e: [{deny: {}}]\n" + filter_of(65'535), "f.yaml");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].message, "too many entries: at most 65535 in all filters");
  EXPECT_EQ(result.diagnostics[0].line, 5 + 65'535);
}

}  // namespace
}  // namespace surety::config
