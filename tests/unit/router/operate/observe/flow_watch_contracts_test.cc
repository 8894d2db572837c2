// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/flow_watch.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::ready;
using test::Udp;
using test::udp_frame;
using testing::UnorderedElementsAre;

std::string access(const std::string& more = "") {
  return R"(
version: 1
ports: {lan0: {addresses: [10.1.0.254/16], source_check: off}}
interfaces:
  acme: {port: lan0, vlan: 107, addresses: [10.7.0.1/24], customer: acme-inc, source_check: off}
  globex: {port: lan0, vlan: 108, addresses: [10.8.0.1/24], source_check: off}
  homes: {port: lan0, vlan: 200, inner_vlan: 1-9, addresses: [10.9.0.1/24], source_check: off}
  flats: {port: lan0, vlan: 201, inner_vlan: 1-9, addresses: [10.10.0.1/24], customer: landlord, source_check: off}
services:
  gold: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 1000 B, mark: {in: AF11, out: AF12}, objective: 99 %}
  plain: {conditioner: none}
classify:
)" + more +
         R"(
  - {match: {port: lan0, protocol: udp, destination_port: 1}, service: gold, per: interface}
  - {match: {port: lan0, protocol: udp, destination_port: 2}, service: gold, per: source}
  - {match: {port: lan0, protocol: udp, destination_port: 3}, service: gold, per: destination}
  - {match: {port: lan0, protocol: udp, destination_port: 4}, service: gold, per: prefix, prefix: {ipv4: 20, ipv6: 40}}
  - {match: {port: lan0, protocol: udp, destination_port: 5}, service: gold, per: vlan}
  - {match: {port: lan0, protocol: udp, destination_port: 6}, service: gold, per: rule}
  - {match: {port: lan0, protocol: udp, destination_port: 7}, service: gold, per: flow}
  - {match: {port: lan0}, service: plain}
flow_table: {capacity: 64}
)";
}

Octets tagged(std::uint16_t outer, std::uint16_t inner, std::uint16_t to) {
  using namespace frames;
  Octets frame = udp_frame({.to = to});
  Octets tags = frames::be16(0x8100) + frames::be16(outer);
  if (inner != 0) tags = tags + frames::be16(0x8100) + frames::be16(inner);
  frame.insert(frame.begin() + 12, tags.begin(), tags.end());
  return frame;
}

class ContractWatchTest : public testing::Test {
 protected:
  ContractWatchTest() { d.route("10.2.0.0/16", {ready(0)}); }
  // "customer: contract", of all.
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const ContractSighting& s : watch.look()) {
      const ContractName name = watch.name(s);
      all.push_back(name.customer + ": " + name.contract);
    }
    return all;
  }

  DataPlane d{access()};
  ContractWatch watch{{{d.ingress.get(), &d.disposal.losses()}}, d.snapshot};
};

TEST_F(ContractWatchTest, BehindAPortTheCustomerIsWhatIsCovered) {
  for (std::uint16_t to = 1; to <= 8; ++to) d.receive({udp_frame({.to = to})});
  EXPECT_THAT(names(), UnorderedElementsAre("lan0: lan0", "10.1.0.1: 10.1.0.1", "10.2.0.1: 10.2.0.1",
                                            "10.1.0.0/20: 10.1.0.0/20", "vlan 0: vlan 0", "lan0: rule 6",
                                            "lan0: flows of rule 7"));
}

TEST(ContractWatch, ASubscriberKnownByItsAddressesIsTheCustomer) {
  DataPlane d(R"(
version: 1
ports: {lan0: {addresses: [10.1.0.254/16], source_check: off}}
services: {gold: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 1000 B, mark: {in: AF11, out: AF12}}}
plans: {gold: {service: gold}}
subscribers: {acme: {plan: gold, port: lan0, prefixes: 10.1.0.0/24}}
flow_table: {capacity: 64}
)");
  d.route("10.2.0.0/16", {ready(0)});
  ContractWatch watch{{{d.ingress.get(), &d.disposal.losses()}}, d.snapshot};
  d.receive({udp_frame({.to = 1}), udp_frame({.to = 2})});
  ASSERT_EQ(watch.look().size(), 1u);
  const ContractName name = watch.name(watch.look()[0]);
  EXPECT_EQ(name.customer, "acme");
  EXPECT_EQ(name.contract, "acme");
  EXPECT_TRUE(name.certain);
  EXPECT_FALSE(name.down);
}

TEST_F(ContractWatchTest, BehindTagsItIsWhoTheConfigurationNames) {
  d.receive({tagged(107, 0, 1), tagged(108, 0, 1), tagged(200, 3, 1), tagged(201, 4, 1), tagged(107, 0, 2),
             tagged(200, 5, 7)});
  EXPECT_THAT(names(),
              UnorderedElementsAre("acme-inc: acme", "globex: globex", "homes.3: homes.3",
                                   "landlord: flats.4", "acme-inc: 10.1.0.1", "homes.5: flows of rule 7"));
}

// A contract of what a core port receives limits what goes to a customer.
TEST(ContractWatchDirection, OfACorePortIsDown) {
  for (const std::string trust : {"customer", "core"}) {
    DataPlane d("version: 1\nports: {lan0: {addresses: [10.1.0.254/16], source_check: off, trust: " + trust +
                R"(}}
services: {gold: {conditioner: police, rate: 8 Mbit/s, bucket: 1000 B}}
classify: [{match: {port: lan0}, service: gold, per: destination}]
flow_table: {capacity: 64}
)");
    d.route("10.2.0.0/16", {ready(0)});
    d.receive({udp_frame({.to = 3})});
    ContractWatch watch{{{d.ingress.get(), &d.disposal.losses()}}, d.snapshot};
    const auto& seen = watch.look();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(watch.name(seen[0]).down, trust == "core");
  }
}

TEST_F(ContractWatchTest, CertainAreThoseOfWhichTheConfigurationSaysHowMany) {
  d.reload(
      access("  - {match: {port: lan0, protocol: udp, destination_port: 9}, service: gold, per: source, "
             "contracts: 100}\n"));
  watch.follow(*d.current);
  for (std::uint16_t to = 1; to <= 9; ++to) d.receive({udp_frame({.to = to})});
  std::vector<std::string> certain;
  for (const ContractSighting& s : watch.look())
    if (const ContractName name = watch.name(s); name.certain) certain.push_back(name.contract);
  EXPECT_THAT(certain, UnorderedElementsAre("lan0", "rule 7", "flows of rule 8", "10.1.0.1"));
}

TEST(ContractWatchExcess, HasANameOfItsOwn) {
  DataPlane d(
      access("  - {match: {port: lan0, protocol: udp, destination_port: 9}, service: gold, per: source, "
             "contracts: 10}\n"));
  d.route("10.2.0.0/16", {ready(0)});
  ContractWatch watch{{{d.ingress.get(), &d.disposal.losses()}}, d.snapshot};
  d.receive({tagged(107, 0, 9)});
  d.receive({udp_frame({.to = 9})});
  std::vector<std::string> all;
  for (const ContractSighting& s : watch.look()) {
    const ContractName name = watch.name(s);
    all.push_back(name.customer + ": " + name.contract);
  }
  EXPECT_THAT(all, UnorderedElementsAre("acme-inc: (excess)", "lan0: (excess)"));
}

TEST_F(ContractWatchTest, SeesWhatWasLetGoAndLost) {
  d.receive(test::copies(12, udp_frame({.to = 2})));  // 10 IN, 2 OUT
  const auto& seen = watch.look();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].let_go, (std::array<std::uint64_t, 2>{1000, 200}));
  const ContractTerms& terms = watch.terms()[seen[0].service];
  EXPECT_EQ(terms.service, "gold");
  EXPECT_EQ(terms.committed, Rate::bits_per_second(8'000'000));
  EXPECT_EQ(terms.bucket, Bytes(1000));
  EXPECT_EQ(terms.objective, 0.99);
}

// A contract keeps its name where its rule stands at another place after a reload.
TEST_F(ContractWatchTest, FollowsAReload) {
  d.receive({udp_frame({.to = 2}), udp_frame({.to = 6})});
  const std::string next =
      access("  - {match: {port: lan0, protocol: udp, destination_port: 99}, service: plain}\n");
  d.reload(next);
  watch.follow(*d.current);
  EXPECT_THAT(names(), UnorderedElementsAre("10.1.0.1: 10.1.0.1", "lan0: rule 7"));
}

}  // namespace
}  // namespace surety
