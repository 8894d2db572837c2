// SPDX-License-Identifier: BSD-3-Clause
#include "config/names.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "config/parse.h"

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MatchText parse_words(const std::vector<std::string>& words) {
  std::vector<Field> fields;
  for (const auto& word : words) fields.push_back(field_of(word));
  return parse_fields(fields);
}

TEST(MatchText, ReadsTheFieldsOfAMatch) {
  const auto [m, error] = parse_words({"source=10.1.0.0/16", "destination=10.2.0.1", "protocol=udp",
                                       "source_port=7", "destination_port=5004-5005", "dscp=EF"});
  EXPECT_EQ(error, "");
  EXPECT_EQ(m.source, std::vector{*parse_prefix("10.1.0.0/16")});
  EXPECT_EQ(m.destination, std::vector{*parse_prefix("10.2.0.1/32")});
  EXPECT_EQ(m.protocol, 17);
  EXPECT_EQ(m.source_port, (PortRange{7, 7}));
  EXPECT_EQ(m.destination_port, (PortRange{5004, 5005}));
  EXPECT_EQ(m.dscp, 46);
  EXPECT_EQ(m.family, Match::Family::ipv4);
}

Config rules(const std::string& matches, std::vector<Diagnostic>* said = nullptr) {
  auto result = parse(
      "version: 1\nports: {a: {device: null}}\nservices: {s: {conditioner: none}}\nclassify:\n" + matches,
      "m.yaml");
  if (said != nullptr)
    *said = result.diagnostics;
  else
    for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config.value_or(Config{});
}
Prefix prefix(const char* text) {
  return parse_prefix(text).value();
}

TEST(ParseMatch, AListIsOneRuleAndOneContract) {
  const Config c = rules(
      "  - {match: {source: ['2001:db8:1::/48', 198.51.100.7, 192.0.2.0/28]}, service: s}\n"
      "  - {match: {destination: [10.2.0.0/16, 10.1.0.0/16]}, service: s}\n");
  ASSERT_EQ(c.rules.size(), 2u);
  const Match& m = c.rules[0].match;
  EXPECT_THAT(m.source,
              ElementsAre(prefix("192.0.2.0/28"), prefix("198.51.100.7/32"), prefix("2001:db8:1::/48")));
  EXPECT_TRUE(m.destination.empty());
  EXPECT_EQ(m.family, Match::Family::any);
  EXPECT_EQ(c.rules[0].contracts, 1u);
  EXPECT_THAT(c.rules[1].match.destination, ElementsAre(prefix("10.1.0.0/16"), prefix("10.2.0.0/16")));
  EXPECT_EQ(c.rules[1].match.family, Match::Family::ipv4);
}

TEST(ParseMatch, WhatAListCoversAlreadyIsLeftOut) {
  std::vector<Diagnostic> said;
  const Config c =
      rules("  - {match: {source: [10.1.0.7, 10.1.0.0/24, '::/0', 10.1.0.0/24, 10.1.1.0/24]}, service: s}\n",
            &said);
  ASSERT_EQ(c.rules.size(), 1u);
  EXPECT_THAT(c.rules[0].match.source,
              ElementsAre(prefix("10.1.0.0/24"), prefix("10.1.1.0/24"), prefix("::/0")));
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].message, "`10.1.0.7/32` is already covered by `10.1.0.0/24` of this list");
}

// The tables of the data plane hold each pair.
TEST(ParseMatch, PairsOfListsAreBounded) {
  std::string list;
  for (int i = 0; i < 256; ++i) list += (i == 0 ? "10.0." : ", 10.0.") + std::to_string(i) + ".0/24";
  const std::string rule = "  - {match: {source: [" + list + "], destination: [" + list + "]}, service: s}\n";
  std::vector<Diagnostic> said;
  rules(rule, &said);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0].message, HasSubstr("too many rules: at most 65535"));
}

TEST(MatchText, SaysWhatIsWrongAsAConfigurationWould) {
  EXPECT_THAT(parse_words({"source=10.1.0"}).error, HasSubstr("10.1.0"));
  EXPECT_THAT(parse_words({"source=10.1.0.1", "destination=2001:db8::1"}).error,
              HasSubstr("no packet can match both"));
  EXPECT_THAT(parse_words({"source_port=65536"}).error, HasSubstr("65536"));
  EXPECT_THAT(parse_words({"protocol=esp", "source_port=1"}).error, HasSubstr("no ports"));
  EXPECT_THAT(parse_words({"protocol=udq"}).error, HasSubstr("udp"));
  EXPECT_THAT(parse_words({"sauce=10.1.0.1"}).error, HasSubstr("source"));
  EXPECT_THAT(parse_words({"source=10.1.0.1", "source=10.1.0.2"}).error, HasSubstr("already there"));
  EXPECT_NE(parse_words({"dscp"}).error, "");
}

}  // namespace
}  // namespace surety::config
