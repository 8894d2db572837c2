// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/interfaces.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace frames;

const std::string kPorts =
    "version: 1\nports: {lan0: {addresses: 10.1.0.254/16}, wan0: {trust: core, addresses: 10.2.0.254/16}, "
    "lan1: {}}\n"
    "services: {plain: {conditioner: none, mark: {in: BE}}}\nclassify:\n";

TEST(TagAdmission, TakesWhatARuleOfThePortNames) {
  const TagAdmission tags(
      test::configured(kPorts + "  - {match: {port: lan0, vlan: 20}, service: plain}\n"
                                "  - {match: {port: lan0, vlan: 30, inner_vlan: 7}, service: plain}\n"
                                "  - {match: {vlan: 40}, service: plain}\n"
                                "  - {match: {port: wan0, vlan: 50}, service: plain}\n"));
  EXPECT_TRUE(tags.admits(0, 20, 0));
  EXPECT_FALSE(tags.admits(0, 20, 9)) << "no rule names the second tag";
  EXPECT_FALSE(tags.admits(0, 21, 0));
  EXPECT_TRUE(tags.admits(0, 30, 7));
  EXPECT_FALSE(tags.admits(0, 30, 8));
  EXPECT_FALSE(tags.admits(0, 30, 0));
  EXPECT_FALSE(tags.admits(2, 20, 0)) << "another port's";
  EXPECT_TRUE(tags.admits(0, 40, 0)) << "of all customers' ports";
  EXPECT_TRUE(tags.admits(2, 40, 0));
  EXPECT_FALSE(tags.admits(1, 40, 0));
  EXPECT_TRUE(tags.admits(1, 50, 0));
}

TEST(TagAdmission, ARuleOfTwoTagsAndOneOfTheOuterTagTakeThoseFrames) {
  const TagAdmission tags(
      test::configured(kPorts + "  - {match: {port: lan0, vlan: 20, inner_vlan: 7}, service: plain}\n"
                                "  - {match: {port: lan0, vlan: 20}, service: plain}\n"));
  EXPECT_TRUE(tags.admits(0, 20, 0));
  EXPECT_TRUE(tags.admits(0, 20, 7));
  for (std::uint16_t inner = 1; inner < 4095; ++inner)
    EXPECT_EQ(tags.admits(0, 20, inner), inner == 7) << inner;
}

TEST(TagAdmission, AContractPerTagTakesAnyOneTag) {
  const TagAdmission tags(
      test::configured(kPorts + "  - {match: {port: lan0}, service: plain, per: vlan}\n"));
  EXPECT_TRUE(tags.admits(0, 4000, 0));
  EXPECT_FALSE(tags.admits(0, 4000, 7));
  EXPECT_FALSE(tags.admits(2, 4000, 0));
}

TEST(TagAdmission, TagsOfAnInterfaceAreNotThePorts) {
  const std::string interfaces =
      "interfaces:\n  acme: {port: lan0, vlan: 107, source_check: off}\n"
      "  globex: {port: lan0, vlan: 100, inner_vlan: 8, source_check: off}\n";
  test::DataPlane d(kPorts +
                    "  - {match: {interface: acme}, service: plain, per: vlan}\n"
                    "  - {match: {port: lan0, vlan: 107}, service: plain}\n"
                    "  - {match: {port: lan0, vlan: 100}, service: plain}\n"
                    "  - {match: {port: lan0, vlan: 100, inner_vlan: 9}, service: plain}\n" +
                    interfaces);
  d.route("10.1.0.0/16", {test::ready(0)});
  d.route("10.2.0.0/16", {test::ready(1)});
  const Octets ip = ip4(17, udp(1000, 5001, 8), {0x0a010001, 0x0a020001, 0, 0, 64, {}});
  const auto fate = [&](std::uint16_t protocol, const Octets& tags, PortIndex port = 0) {
    return d.fate(ethernet(protocol, test::port_mac(port)) + tags + ip, port);
  };
  EXPECT_EQ(fate(0x8100, vlan(107, kIpv4)), "to 1");
  EXPECT_EQ(fate(0x88a8, vlan(107, kIpv4)), "drop vlan_unknown") << "acme's, of another protocol";
  EXPECT_EQ(fate(0x9100, vlan(107, kIpv4)), "drop vlan_unknown");
  EXPECT_EQ(fate(0x88a8, vlan(100, 0x8100) + vlan(8, kIpv4)), "drop vlan_unknown") << "globex's";
  EXPECT_EQ(fate(0x88a8, vlan(100, 0x8100) + vlan(9, kIpv4)), "to 1") << "the port's, by its rule";
  EXPECT_EQ(fate(0x88a8, vlan(100, 0x8100) + vlan(10, kIpv4)), "drop vlan_unknown") << "no rule names 10";
  EXPECT_EQ(fate(0x88a8, vlan(100, kIpv4)), "to 1") << "the outer tag alone";
  EXPECT_EQ(fate(0x8100, vlan(999, kIpv4)), "drop vlan_unknown") << "`per: vlan` of acme names no tags";
  EXPECT_EQ(fate(0x8100, vlan(999, kIpv4), 2), "drop vlan_unknown");
  d.expect_law();
}

// 200 inner tags under one outer tag of `per: vlan`: no second contract, and no second customer.
TEST(TagAdmission, InnerTagsDoNotMultiplyAContract) {
  test::DataPlane d(
      "version: 1\nports: {lan0: {addresses: 10.1.0.254/16}, wan0: {trust: core, addresses: "
      "10.2.0.254/16}}\n"
      "services: {sold: {conditioner: token-bucket, rate: 2 Mbit/s, bucket: 10 kB, mark: {in: AF11}}}\n"
      "classify:\n  - {match: {port: lan0, vlan: 20}, service: sold, per: vlan}\n"
      "  - {match: {port: lan0}, service: sold, per: vlan}\n");
  d.route("10.2.0.0/16", {test::ready(1)});
  const Octets ip = ip4(17, udp(1000, 5001, 8), {0x0a010001, 0x0a020001, 0, 0, 64, {}});
  for (const std::uint16_t outer : {std::uint16_t{20}, std::uint16_t{21}}) {
    EXPECT_EQ(d.fate(ethernet(0x8100, test::port_mac(0)) + vlan(outer, kIpv4) + ip), "to 1");
    for (std::uint16_t inner = 1; inner <= 200; ++inner)
      EXPECT_EQ(d.fate(ethernet(0x88a8, test::port_mac(0)) + vlan(outer, 0x8100) + vlan(inner, kIpv4) + ip),
                "drop vlan_unknown");
  }
  EXPECT_EQ(d.service("sold").contracts, 2u) << "one for each outer tag";
  d.expect_law();
}

TEST(TagAdmission, OtherTagsAreANamedDrop) {
  test::DataPlane d(kPorts + "  - {match: {port: lan0, vlan: 20}, service: plain}\n");
  d.route("10.2.0.0/16", {test::ready(1)});
  const Octets ip = ip4(17, udp(1000, 5001, 8), {0x0a010001, 0x0a020001, 0, 0, 64, {}});
  EXPECT_EQ(d.fate(ethernet(kIpv4, test::port_mac(0)) + ip), "to 1");
  EXPECT_EQ(d.fate(ethernet(0x8100, test::port_mac(0)) + vlan(0xa000, kIpv4) + ip), "to 1")
      << "a priority, no tag";
  EXPECT_EQ(d.fate(ethernet(0x8100, test::port_mac(0)) + vlan(20, kIpv4) + ip), "to 1");
  EXPECT_EQ(d.fate(ethernet(0x8100, test::port_mac(0)) + vlan(21, kIpv4) + ip), "drop vlan_unknown");
  EXPECT_EQ(d.fate(ethernet(0x8100, kBroadcast) + vlan(21, kArp) + zeros(28)), "drop vlan_unknown");
  EXPECT_EQ(d.fate(ethernet(0x8100, test::port_mac(0)) + vlan(21, kIpv4) + zeros(40)), "drop ipv4_version")
      << "what is wrong with it comes first";
  d.expect_law();
}

}  // namespace
}  // namespace surety
