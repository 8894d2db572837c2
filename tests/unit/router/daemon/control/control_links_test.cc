// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/control_links.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/control/control_bed.h"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;

struct ControlLinksTest : testing::Test {
  ControlBed bed;
  ControlLinks& links = bed.links;
  const InterfaceIndex acme = links.interfaces()->of_definition(0),
                       homes = links.interfaces()->of_definition(1);
};

TEST_F(ControlLinksTest, PortsAreThereOnceTheyAreOpen) {
  ASSERT_EQ(links.ports().size(), 2U);
  EXPECT_EQ(links.link(kWan), nullptr);
  const ControlPort& wan = bed.open(kWan);
  EXPECT_EQ(links.link(kWan), &wan);
  EXPECT_EQ(links.name_of(wan), "wan");
  EXPECT_EQ(links.addresses_of(wan), links.config().ports[kWan].addresses);
}

TEST_F(ControlLinksTest, AnInterfaceHasWhatTheConfigurationSaysOfIt) {
  EXPECT_EQ(links.link(acme), nullptr);
  const ControlPort& c = bed.open_interface(0);
  EXPECT_EQ(links.link(acme), &c);
  EXPECT_EQ(links.name_of(c), "acme");
  EXPECT_EQ(links.port_of(c), kLan);
  EXPECT_EQ(links.mtu_of(c), 1400);
  EXPECT_THAT(links.addresses_of(c), ElementsAre(prefix("10.3.0.254/24")));
}

TEST_F(ControlLinksTest, MembersOfATemplateHaveItsLink) {
  const ControlPort& c = bed.open_interface(1);
  for (InterfaceIndex member = homes; member <= homes + 4; ++member)
    EXPECT_EQ(links.existing_link(member), &c) << member;
}

TEST_F(ControlLinksTest, AreFoundByTheirKernelDevice) {
  const ControlPort &lan = bed.open(kLan, 7), &c = bed.open_interface(0, 9);
  EXPECT_EQ(links.link_with(7), &lan);
  EXPECT_EQ(links.link_with(9), &c);
  EXPECT_EQ(links.link_with(8), nullptr);
  links.unbind(lan);
  EXPECT_EQ(links.link_with(7), nullptr);
}

TEST_F(ControlLinksTest, AllAreVisitedPortsFirst) {
  bed.open(kLan);
  bed.open_interface(1);
  bed.open_interface(0);
  std::vector<InterfaceIndex> visited;
  links.for_each([&](const ControlPort& c) { visited.push_back(c.index); });
  EXPECT_THAT(visited, ElementsAre(kLan, kWan, acme, homes));
}

TEST_F(ControlLinksTest, TheRoutersAddressesAreThoseOfAllLinks) {
  EXPECT_THAT(*links.router_addresses(), ElementsAre(prefix("10.1.0.254/24"), prefix("10.2.0.254/24"),
                                                     prefix("10.3.0.254/24"), prefix("10.4.0.254/24")));
}

TEST_F(ControlLinksTest, AnInterfaceThatWasRemovedHasNoLink) {
  bed.open_interface(0);
  config::Config next = links.config();
  next.interfaces.erase(next.interfaces.begin());
  auto interfaces = std::make_shared<const Interfaces>(next, links.interfaces().get());
  const config::Config before = links.configure(next, std::move(interfaces));
  EXPECT_EQ(before.interfaces.size(), 2U);
  EXPECT_EQ(links.config().interfaces.size(), 1U);
  EXPECT_EQ(links.existing_link(acme), nullptr);
  EXPECT_EQ(links.router_addresses()->size(), 3U);
}

TEST_F(ControlLinksTest, ResultsAreCountedByPort) {
  links.count(kWan, ExceptionResult::to_kernel);
  EXPECT_EQ(bed.counted(kWan, ExceptionResult::to_kernel), 1U);
  EXPECT_EQ(bed.counted(kLan, ExceptionResult::to_kernel), 0U);
}

}  // namespace
}  // namespace surety
