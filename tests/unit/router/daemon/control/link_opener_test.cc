// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/link_opener.h"

#include <gmock/gmock.h>

#include <array>

#include "router/daemon/control/kernel_programs.h"
#include "tests/unit/router/daemon/control/control_bed.h"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

// No link has a peer in the kernel.
constexpr const char* kYaml = R"(
version: 1
router: {name: bed}
ports:
  lan: {device: memif /lan server, twin: off, addresses: 10.1.0.254/24}
  wan: {device: memif /wan server, twin: off, addresses: 10.2.0.254/24, trust: core}
interfaces:
  acme: {port: lan, vlan: 107, addresses: 10.3.0.254/24, twin: off}
  homes: {port: wan, vlan: 200, inner_vlan: 10-13, addresses: 10.4.0.254/24, hosts: 2, twin: off}
)";

struct LinkOpenerTest : testing::Test {
  ControlBed bed{kYaml};
  ControlLinks& links = bed.links;
  KernelPrograms programs{links, true};
  std::array<std::optional<MacAddress>, 2> macs{port_mac(kLan), port_mac(kWan)};
  LinkOpener opener{{links, bed.routes, bed.kernel, programs, bed.watch},
                    [this](std::size_t port) { return macs[port]; }};
  const InterfaceIndex acme = links.interfaces()->of_definition(0),
                       homes = links.interfaces()->of_definition(1);

  // As a reload does.
  void change(const config::Config& next) {
    const auto interfaces = std::make_shared<const Interfaces>(next, links.interfaces().get());
    opener.close(next, *interfaces);
    const config::Config before = links.configure(next, interfaces);
    bed.routes.configure(next, interfaces);
    opener.change_addresses(before);
    opener.follow_devices(kStart);
    opener.open(kStart);
  }
};

TEST_F(LinkOpenerTest, OpensTheLinksWhoseDevicesAreOpen) {
  macs[kWan].reset();
  EXPECT_FALSE(opener.open(kStart)) << "no kernel has anything to report";
  ASSERT_NE(links.link(kLan), nullptr);
  ASSERT_NE(links.link(acme), nullptr);
  EXPECT_EQ(links.link(kWan), nullptr);
  EXPECT_EQ(links.link(homes), nullptr);
  macs[kWan] = port_mac(kWan);
  opener.open(kStart);
  EXPECT_NE(links.link(kWan), nullptr);
  EXPECT_NE(links.link(homes), nullptr);
}

TEST_F(LinkOpenerTest, AResponderStandsInForTheKernel) {
  opener.open(kStart);
  for (const InterfaceIndex i : {InterfaceIndex{kLan}, InterfaceIndex{kWan}, acme, homes}) {
    const ControlPort& c = *links.link(i);
    EXPECT_EQ(c.index, i);
    EXPECT_FALSE(c.in_kernel());
    EXPECT_NE(c.responder, nullptr);
    EXPECT_EQ(c.mac, port_mac(links.port_of(c)));
    EXPECT_EQ(links.link_with(c.interface), &c);
    EXPECT_EQ(c.tags.has_value(), i == homes) << i;
  }
  EXPECT_EQ(links.link(acme)->state.up, true) << "as its port is";
}

TEST_F(LinkOpenerTest, ARemovedPortLeavesItsCounters) {
  opener.open(kStart);
  links.count(kWan, ExceptionResult::to_kernel);
  config::Config next = links.config();
  next.ports[kWan] = {};
  next.interfaces.pop_back();
  change(next);
  EXPECT_EQ(links.link(kWan), nullptr);
  EXPECT_FALSE(links.tagged().contains(homes));
  EXPECT_EQ(links.ports()[kWan].index, kWan);
  EXPECT_EQ(links.ports()[kWan].responder, nullptr);
  EXPECT_EQ(bed.counted(kWan, ExceptionResult::to_kernel), 1U);
  EXPECT_NE(links.link(kLan), nullptr);
}

TEST_F(LinkOpenerTest, AnInterfaceWithAnotherMtuIsMadeAgain) {
  opener.open(kStart);
  const Responder *const lan = links.link(kLan)->responder.get(), *const same =
                                                                      links.link(homes)->responder.get();
  links.link(acme)->state.changes = 5;
  config::Config next = links.config();
  next.interfaces[0].mtu = 1300;
  change(next);
  ASSERT_NE(links.link(acme), nullptr);
  EXPECT_EQ(links.link(acme)->state.changes, 0U);
  EXPECT_EQ(links.link(kLan)->responder.get(), lan);
  EXPECT_EQ(links.link(homes)->responder.get(), same);
}

TEST_F(LinkOpenerTest, AddressesChangeWhileALinkIsOpen) {
  opener.open(kStart);
  const ControlPort& lan = *links.link(kLan);
  config::Config next = links.config();
  next.ports[kLan].addresses = {prefix("10.1.0.253/24")};
  change(next);
  EXPECT_THAT(lan.addresses->list(), ElementsAre(prefix("10.1.0.253/24")));
  EXPECT_TRUE(lan.responder->addresses().of_port(address("10.1.0.253")));
  EXPECT_FALSE(lan.responder->addresses().of_port(address("10.1.0.254")));
  EXPECT_TRUE(links.link(kWan)->responder->addresses().of_router(address("10.1.0.253")));
}

TEST_F(LinkOpenerTest, ALostDeviceClosesItsLinksUntilItIsThereAgain) {
  opener.open(kStart);
  links.count(kWan, ExceptionResult::to_kernel);
  macs[kWan].reset();
  bed.routes.set_port_up(kWan, false);
  change(config::Config(links.config()));
  EXPECT_EQ(links.link(kWan), nullptr);
  EXPECT_EQ(links.link(homes), nullptr);
  EXPECT_NE(links.link(kLan), nullptr);
  EXPECT_NE(links.link(acme), nullptr);
  EXPECT_EQ(bed.sink.forward(address("10.2.0.9")), "none");
  macs[kWan] = MacAddress{2, 0, 0, 0, 0, 0x77};
  change(config::Config(links.config()));
  ASSERT_NE(links.link(kWan), nullptr);
  EXPECT_EQ(links.link(kWan)->mac, *macs[kWan]);
  EXPECT_NE(links.link(homes), nullptr);
  EXPECT_EQ(bed.sink.forward(address("10.2.0.9")), "glean 1");
  EXPECT_EQ(bed.counted(kWan, ExceptionResult::to_kernel), 1U);
}

TEST_F(LinkOpenerTest, LinksFollowTheMacAddressOfTheirPort) {
  opener.open(kStart);
  bed.collector.collect(kStart);
  bed.sent.clear();
  macs[kLan] = MacAddress{2, 0, 0, 0, 0, 0x77};
  change(config::Config(links.config()));
  for (const InterfaceIndex i : {InterfaceIndex{kLan}, acme}) EXPECT_EQ(links.link(i)->mac, *macs[kLan]) << i;
  for (const InterfaceIndex i : {InterfaceIndex{kWan}, homes})
    EXPECT_EQ(links.link(i)->mac, port_mac(kWan)) << i;
  bed.collector.collect(kStart);
  ASSERT_EQ(bed.frames_by(kLan).size(), 2U) << "announcements of the port and of its interface";
  for (const Octets& frame : bed.frames_by(kLan))
    EXPECT_EQ(Octets(frame.begin() + 6, frame.begin() + 12), Octets(macs[kLan]->begin(), macs[kLan]->end()));
  EXPECT_TRUE(bed.frames_by(kWan).empty());
}

TEST_F(LinkOpenerTest, NothingIsLoggedOfLinksThatAreUp) {
  opener.open(kStart);
  bed.watch.read(kStart);
  EXPECT_THAT(bed.told, IsEmpty());
}

}  // namespace
}  // namespace surety
