// SPDX-License-Identifier: BSD-3-Clause
#include "config/names.h"

#include <gmock/gmock.h>

#include <vector>

namespace surety::config {
namespace {

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
  EXPECT_EQ(m.source, parse_prefix("10.1.0.0/16"));
  EXPECT_EQ(m.destination, parse_prefix("10.2.0.1/32"));
  EXPECT_EQ(m.protocol, 17);
  EXPECT_EQ(m.source_port, (PortRange{7, 7}));
  EXPECT_EQ(m.destination_port, (PortRange{5004, 5005}));
  EXPECT_EQ(m.dscp, 46);
  EXPECT_EQ(m.family, Match::Family::ipv4);
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
