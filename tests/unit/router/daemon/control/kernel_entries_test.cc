// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/kernel_entries.h"

#include <gmock/gmock.h>
#include <net/if.h>

#include <array>
#include <cstdio>

#include "tests/unit/router/daemon/control/control_bed.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kAddress = "10.1.0.254/24";

// Two uplinks: the second is used while the first is down.
const std::string kYaml = std::string(kTwoPorts) +
                          "routes:\n  - {to: 198.51.100.0/24, via: 'fe80::1', port: lan}\n"
                          "  - {to: 198.51.100.0/24, via: 10.9.2.1, port: wan, metric: 250}\n";

// The port `lan` is a0, which has 10.9.1.254/24.
class KernelEntriesTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    a0_ = static_cast<int>(if_nametoindex("a0"));
    port_ = &bed_.open(kLan, a0_);
    kernel_.emplace(bed_.links, bed_.routes);
  }
  static std::string shown(const std::string& arguments) {
    std::string out;
    FILE* const pipe = ::popen(("ip " + arguments).c_str(), "r");
    for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    ::pclose(pipe);
    return out;
  }
  static std::string addresses() { return shown("-4 address show dev a0"); }

  void work() {
    while (kernel_->work()) {
    }
  }

  ControlBed bed_{kYaml};
  ControlPort* port_ = nullptr;
  int a0_ = 0;
  std::optional<KernelEntries> kernel_;
};

TEST_F(KernelEntriesTest, RequestNothingBeforeTheyAreConnected) {
  kernel_->add_addresses(*port_);
  kernel_->set_neighbor(*port_, address("10.9.1.7"), mac(7));
  EXPECT_THAT(addresses(), Not(HasSubstr(kAddress)));
  EXPECT_THAT(shown("neigh show dev a0"), Not(HasSubstr("10.9.1.7")));
}

TEST_F(KernelEntriesTest, AddressesAreThereUntilTheEnd) {
  kernel_->connect();
  kernel_->add_addresses(*port_);
  EXPECT_THAT(addresses(), HasSubstr(kAddress));
  kernel_.reset();
  EXPECT_THAT(addresses(), Not(HasSubstr(kAddress)));
  EXPECT_THAT(addresses(), HasSubstr("10.9.1.254/24")) << "an operator's stays";
}

TEST_F(KernelEntriesTest, AnAddressThatWasThereStays) {
  run("ip address add 10.1.0.254/24 dev a0");
  kernel_->connect();
  kernel_->add_addresses(*port_);
  kernel_->remove_address(*port_, prefix(kAddress));
  kernel_.reset();
  EXPECT_THAT(addresses(), HasSubstr(kAddress));
}

TEST_F(KernelEntriesTest, AddressesOfOneDeviceCanBeTakenBack) {
  kernel_->connect();
  kernel_->add_addresses(*port_);
  kernel_->remove_addresses(a0_ + 1);
  EXPECT_THAT(addresses(), HasSubstr(kAddress)) << "another device";
  kernel_->remove_addresses(a0_);
  EXPECT_THAT(addresses(), Not(HasSubstr(kAddress)));
  kernel_->forget_device(a0_);
  kernel_.reset();  // has nothing more to remove
}

TEST_F(KernelEntriesTest, ANewProcessRemovesWhatTheOldOneLeaves) {
  kernel_->connect();
  kernel_->add_addresses(*port_);
  const auto left = kernel_->leave();
  EXPECT_THAT(left, ElementsAre(KernelEntries::DeviceAddress{a0_, prefix(kAddress)}));
  kernel_.reset();
  EXPECT_THAT(addresses(), HasSubstr(kAddress));
  {
    KernelEntries next(bed_.links, bed_.routes);
    for (const auto& a : left) next.inherit(a);  // it has no port in the kernel, and is not connected
  }
  EXPECT_THAT(addresses(), Not(HasSubstr(kAddress)));
}

// The kernel itself goes on using a route whose link has lost its carrier.
TEST_F(KernelEntriesTest, FloatingRoutesAreThoseOfTheDataPlane) {
  run("ip link add c0 type veth peer name d0 && ip link set c0 up && ip link set d0 up && ip addr add "
      "10.9.2.254/24 dev c0");
  bed_.open(kWan, static_cast<int>(if_nametoindex("c0")));
  const std::string first = "198.51.100.0/24 via inet6 fe80::1 dev a0 metric 1",
                    second = "198.51.100.0/24 via 10.9.2.1 dev c0 metric 250";
  const auto routes = [] { return shown("route show proto 83"); };
  kernel_->follow_links();
  kernel_->connect();
  kernel_->set_routes();
  kernel_->begin_sync();
  kernel_->end_sync();
  work();
  EXPECT_THAT(routes(), testing::AllOf(HasSubstr(first), HasSubstr(second)));
  const auto follow = [&](PortIndex port, bool up) {
    bed_.routes.set_port_up(port, up);
    kernel_->follow_links();
    work();
  };
  follow(kLan, false);
  EXPECT_THAT(routes(), testing::AllOf(Not(HasSubstr(first)), HasSubstr(second)));
  follow(kWan, false);
  EXPECT_THAT(routes(), testing::AllOf(HasSubstr(first), HasSubstr(second))) << "none is better";
  follow(kLan, true);
  EXPECT_THAT(routes(), testing::AllOf(HasSubstr(first), Not(HasSubstr(second))));
  follow(kWan, true);
  EXPECT_THAT(routes(), testing::AllOf(HasSubstr(first), HasSubstr(second)));
}

TEST_F(KernelEntriesTest, NeighborsAreSetPinnedAndRemoved) {
  const auto entry = [] { return shown("neigh show 10.9.1.7 dev a0"); };
  kernel_->connect();
  kernel_->set_neighbor(*port_, address("10.9.1.7"), mac(7));
  EXPECT_THAT(entry(), HasSubstr("lladdr 02:00:00:00:00:07 extern_learn"));
  kernel_->set_neighbor(*port_, address("10.9.1.7"), mac(7), true);
  EXPECT_THAT(entry(), HasSubstr("PERMANENT"));
  kernel_->set_neighbor(*port_, address("10.9.1.7"), {});
  EXPECT_THAT(entry(), IsEmpty());
}

TEST_F(KernelEntriesTest, ALinkThatComesUpAgainHasItsMtuAndAddresses) {
  kernel_->connect();
  port_->state.mtu = 1400;
  kernel_->restore(*port_, {.ifindex = a0_, .name = "a0", .up = true, .mtu = 1500});
  EXPECT_THAT(shown("link show dev a0"), HasSubstr("mtu 1400"));
  EXPECT_THAT(addresses(), HasSubstr(kAddress));
}

}  // namespace
}  // namespace surety
