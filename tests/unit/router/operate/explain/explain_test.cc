// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explain.h"

#include <gmock/gmock.h>

#include "config/names.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using testing::HasSubstr;

constexpr const char* kFlow =
    "source=10.1.0.1 destination=10.2.0.1 protocol=udp source_port=7 destination_port=5004";

std::string refusal(const std::string& text) {
  try {
    parse_question(text);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(Question, ReadsPlaceAndFields) {
  const Question q =
      parse_question(std::string("lan0 ") + kFlow + " dscp=EF vlan=107 inner_vlan=8 length=1400");
  EXPECT_EQ(q.place, "lan0");
  EXPECT_EQ(to_string(q.source), "10.1.0.1");
  EXPECT_EQ(to_string(q.destination), "10.2.0.1");
  EXPECT_EQ(q.protocol, 17);
  EXPECT_EQ(q.source_port, 7);
  EXPECT_EQ(q.destination_port, 5004);
  EXPECT_EQ(q.dscp, 46);
  EXPECT_EQ(q.vlan, 107);
  EXPECT_EQ(q.inner_vlan, 8);
  EXPECT_EQ(q.length, 1400);
  EXPECT_EQ(parse_question(kFlow).place, "");
  EXPECT_EQ(parse_question("l source=10.1.0.1 destination=10.2.0.1 protocol=icmp").protocol, 1);
}

TEST(Question, SaysWhyThereCanBeNoSuchPacket) {
  const std::string ends = "l source=10.1.0.1 destination=10.2.0.1 ";
  EXPECT_THAT(refusal("l source=10.1.0.300 destination=10.2.0.1 protocol=icmp"), HasSubstr("10.1.0.300"));
  EXPECT_THAT(refusal("l source=10.1.0.1 destination=2001:db8::1 protocol=icmp"),
              HasSubstr("no packet can match both"));
  EXPECT_THAT(refusal("l source=10.1.0.1 protocol=icmp"), HasSubstr("`destination=10.1.0.1`"));
  EXPECT_THAT(refusal("l source=10.1.0.0/24 destination=10.2.0.1 protocol=icmp"),
              HasSubstr("covers several"));
  EXPECT_THAT(refusal(ends + "protocol=udp source_port=1 destination_port=65536"), HasSubstr("65536"));
  EXPECT_THAT(refusal(ends + "protocol=udp source_port=1-9 destination_port=2"), HasSubstr("not a range"));
  EXPECT_THAT(refusal(ends + "protocol=udp source_port=1"), HasSubstr("`destination_port=5004`"));
  EXPECT_THAT(refusal(ends + "protocol=icmp source_port=1"), HasSubstr("no ports"));
  EXPECT_THAT(refusal(ends + "protocol=esp destination_port=1"), HasSubstr("no ports"));
  EXPECT_THAT(refusal(ends + "protocol=udq"), HasSubstr("udq"));
  EXPECT_THAT(refusal(ends), HasSubstr("`protocol=udp`"));
  EXPECT_THAT(refusal(ends + "protocol=icmp dscp=64"), HasSubstr("64"));
  EXPECT_THAT(refusal(ends + "protocol=icmp vlan=4095"), HasSubstr("from 0 to 4094"));
  EXPECT_THAT(refusal(ends + "protocol=icmp inner_vlan=7"), HasSubstr("needs `vlan`"));
  EXPECT_THAT(refusal(ends + "protocol=icmp length=30"), HasSubstr("too short"));
  EXPECT_THAT(refusal(ends + "protocol=icmp colour=red"), HasSubstr("colour"));
  EXPECT_THAT(refusal(ends + "protocol=icmp twice"), HasSubstr("`twice` is not a field"));
}

struct QuestionPlace : testing::Test {
  config::Config config = test::configured(
      "version: 1\nrouter: {name: r}\nports: {lan: {}, wan: {trust: core}}\n"
      "interfaces:\n  acme: {port: lan, vlan: 107}\n  s: {port: wan, vlan: 9, vlan_protocol: 802.1ad}\n"
      "  old: {port: wan, vlan: 10, vlan_protocol: '0x9100'}\n"
      "  homes: {port: lan, vlan: 200, inner_vlan: 1-9, vlan_protocol: 802.1ad}\n"
      "services: {s: {conditioner: none}}\nplans: {p: {service: s}}\n"
      "subscribers: {bob: {plan: p, interface: acme, prefixes: 10.1.0.0/30}, eve: {plan: p, port: lan, "
      "prefixes: 10.9.0.7}}\n");
  Interfaces interfaces{config};
  Arrival at(const std::string& place) {
    return arrival_of(parse_question(place + " " + kFlow), config, interfaces);
  }
  std::string refusal(const std::string& place) {
    try {
      at(place);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(QuestionPlace, IsAPortOrAnInterface) {
  EXPECT_EQ(at("wan").port, 1);
  EXPECT_FALSE(at("wan").tags.any());
  EXPECT_EQ(at("acme").tags, VlanTags(kCustomerTag, 107, 0));
  EXPECT_EQ(at("homes.8").tags, VlanTags(kServiceTag, 200, 8));
  const Question q = parse_question(std::string("wan vlan=9 ") + kFlow);
  EXPECT_EQ(arrival_of(q, config, interfaces).tags, VlanTags(kServiceTag, 9, 0));
  EXPECT_EQ(at("bob").tags, VlanTags(kCustomerTag, 107, 0)) << "a subscriber on the link of another";
  EXPECT_EQ(at("old").tags, VlanTags(0x9100, 10, 0));
  EXPECT_EQ(at("wan vlan=10").tags, VlanTags(0x9100, 10, 0));
  EXPECT_EQ(at("wan vlan=11").tags, VlanTags(kCustomerTag, 11, 0));
}

TEST_F(QuestionPlace, SaysWhyItIsNone) {
  EXPECT_THAT(refusal("lab"), HasSubstr("no port or interface is called lab"));
  EXPECT_THAT(refusal("homes"), HasSubstr("homes.1"));
  EXPECT_EQ(refusal("eve"), "10.1.0.1 is no address of eve: such a packet arrives by lan");
  EXPECT_THAT(refusal("acme vlan=107"), HasSubstr("leave `vlan` out"));
}

TEST_F(QuestionPlace, TheFrameIsOneThatTheRouterTakes) {
  for (const char* ends :
       {"source=10.1.0.1 destination=10.2.0.1 ", "source=2001:db8::1 destination=2001:db8::2 "})
    for (const char* kind : {"protocol=udp source_port=7 destination_port=5004",
                             "protocol=tcp source_port=7 destination_port=5004",
                             "protocol=dccp source_port=7 destination_port=5004",
                             "protocol=sctp source_port=7 destination_port=5004", "protocol=esp"})
      for (const char* place : {"lan ", "acme ", "homes.8 "}) {
        const Question q = parse_question(std::string(place) + ends + kind + " dscp=AF11 length=200");
        const Arrival arrival = arrival_of(q, config, interfaces);
        ParsedPacket h;
        const auto frame = frame_of(q, arrival);
        ASSERT_TRUE(parse(frame, {{}, arrival.port, false, true}, h).forwards()) << place << ends << kind;
        EXPECT_EQ(source_of(h.key), q.source);
        EXPECT_EQ(destination_of(h.key), q.destination);
        EXPECT_EQ(h.protocol, q.protocol);
        EXPECT_EQ(h.length, 200);
        EXPECT_EQ(h.traffic_class >> 2, 10);
        EXPECT_EQ(h.vlan, arrival.tags.outer());
        EXPECT_EQ(h.inner_vlan, arrival.tags.inner());
        if (config::has_ports(q.protocol)) {
          EXPECT_EQ(static_cast<std::uint32_t>(h.key.rest), 7u << 8 | (5004u >> 8 | (5004u & 0xff) << 8)
                                                                          << 16);
        }
      }
}

}  // namespace
}  // namespace surety
