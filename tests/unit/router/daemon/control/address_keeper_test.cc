// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/address_keeper.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "router/daemon/linux/kernel_devices.h"
#include "tests/unit/router/daemon/control/control_bed.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The port `lan` is a0, whose address of the configuration is 10.1.0.254/24.
class AddressKeeperTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    a0_ = static_cast<int>(if_nametoindex("a0"));
    port_ = &bed_.open(kLan, a0_);
    port_->state.in_kernel = true;
    kernel_.connect();
    kernel_.add_addresses(*port_);
    reported(EventAction::add);
  }
  void reported(EventAction action, const char* text = "10.1.0.254/24") {
    keeper_.on({.action = action, .ifindex = a0_, .address = prefix(text)}, now_);
  }
  // Another program removes the address.
  void remove() {
    ASSERT_TRUE(there());
    run("ip address del 10.1.0.254/24 dev a0");
    reported(EventAction::remove);
  }
  static bool there() {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) throw std::system_error(errno, std::generic_category(), "getifaddrs");
    bool found = false;
    for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || i->ifa_name != std::string("a0"))
        continue;
      in_addr v4{};
      std::memcpy(&v4, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, sizeof v4);
      found |= v4.s_addr == htonl(0x0a0100fe);
    }
    freeifaddrs(all);
    return found;
  }
  void pass(Duration time) {
    now_ += time;
    const bool was = there();
    keeper_.work(now_);
    if (!was && there()) reported(EventAction::add);
  }

  ControlBed bed_;
  KernelEntries kernel_{bed_.links, bed_.routes};
  AddressKeeper keeper_{bed_.links, kernel_, bed_.events};
  ControlPort* port_ = nullptr;
  int a0_ = 0;
  Time now_ = kStart;
};

TEST_F(AddressKeeperTest, ARemovedAddressIsSetAgainSoonWithAnEvent) {
  remove();
  pass(AddressKeeper::kSoon / 2);
  EXPECT_FALSE(there());
  pass(AddressKeeper::kSoon);
  EXPECT_TRUE(there());
  EXPECT_THAT(bed_.told, ElementsAre("port lan: another program has removed 10.1.0.254/24, set again now"));
  pass(10s);
  EXPECT_EQ(bed_.told.size(), 1U);
}

TEST_F(AddressKeeperTest, AProgramThatRemovesItEachTimeWinsMoreAndMoreTime) {
  for (Duration time{}; time < 120s; time += 50ms) {
    if (there()) remove();
    pass(50ms);
  }
  EXPECT_GE(bed_.told.size(), 8U);
  EXPECT_LE(bed_.told.size(), 14U) << "pauses double up to kSlowest";
  EXPECT_THAT(bed_.told.back(), HasSubstr("`kernel: {addresses: off}` leaves addresses to that program"));
  pass(AddressKeeper::kSlowest);
  ASSERT_TRUE(there());
  pass(2 * AddressKeeper::kCalm);
  remove();
  pass(AddressKeeper::kSoon);
  EXPECT_TRUE(there()) << "after a calm";
}

TEST_F(AddressKeeperTest, AnAddressThatIsBackOrNotOursIsLeftAlone) {
  reported(EventAction::add, "10.9.1.254/24");
  reported(EventAction::remove, "10.9.1.254/24");
  remove();
  run("ip address add 10.1.0.254/24 dev a0");
  reported(EventAction::add);
  pass(1s);
  EXPECT_THAT(bed_.told, IsEmpty());
  config::Config next = bed_.links.config();
  next.ports[kLan].addresses = {};
  bed_.links.configure(next, bed_.links.interfaces());
  remove();
  pass(1s);
  EXPECT_FALSE(there()) << "a reload has removed it";
  EXPECT_THAT(bed_.told, IsEmpty());
}

TEST_F(AddressKeeperTest, ALinkThatIsDownGetsItsAddressesWhenItComesUp) {
  remove();
  port_->state.in_kernel = false;
  pass(1s);
  EXPECT_FALSE(there()) << "KernelEntries::restore() sets it";
}

TEST_F(AddressKeeperTest, ALinkOnAnotherDeviceHasItsAddresses) {
  remove();
  port_->interface = a0_ + 1;
  bed_.links.bind(*port_);
  keeper_.on({.action = EventAction::add, .ifindex = a0_ + 1, .address = prefix("10.1.0.254/24")}, now_);
  pass(1s);
  EXPECT_THAT(bed_.told, IsEmpty());
}

// `ip address replace`, or a manager that sets up a device in several steps.
TEST_F(AddressKeeperTest, ChangesWithinAMillisecondAreOneRestorationAtMost) {
  for (int i = 0; i < 10; ++i) {
    reported(EventAction::remove);
    reported(EventAction::add);
    reported(EventAction::add, "10.9.7.254/24");
    reported(EventAction::remove, "10.9.7.254/24");
  }
  pass(1s);
  EXPECT_THAT(bed_.told, IsEmpty()) << "it is there";
  run("ip address del 10.1.0.254/24 dev a0");
  for (int i = 0; i < 10; ++i) {
    reported(EventAction::remove);
    reported(EventAction::add);
    reported(EventAction::remove);
  }
  pass(AddressKeeper::kSoon);
  EXPECT_TRUE(there());
  pass(1s);
  EXPECT_EQ(bed_.told.size(), 1U);
}

TEST_F(AddressKeeperTest, LostMessagesHideNoRemoval) {
  run("ip address del 10.1.0.254/24 dev a0");
  keeper_.begin_sync();
  reported(EventAction::add, "10.9.1.254/24");
  keeper_.end_sync(now_);
  pass(AddressKeeper::kSoon);
  EXPECT_TRUE(there());
  keeper_.begin_sync();
  reported(EventAction::add);
  keeper_.end_sync(now_);
  pass(1s);
  EXPECT_EQ(bed_.told.size(), 1U);
}

// The port also has an IPv6 address, which the kernel refuses while IPv6 is disabled on the device.
class RefusedAddressTest : public AddressKeeperTest {
 protected:
  static constexpr const char* kAddress = "2001:db8:7::fe/64";
  void SetUp() override {
    AddressKeeperTest::SetUp();
    if (IsSkipped()) return;
    if (!tun::ensure_setting(kDisabled, 1)) GTEST_SKIP() << "/proc/sys cannot be written";
    config::Config next = bed_.links.config();
    next.ports[kLan].addresses.push_back(prefix(kAddress));
    bed_.links.configure(next, bed_.links.interfaces());
  }
  // As after `nodad`: the kernel reports the address.
  void enable() { ASSERT_TRUE(tun::ensure_setting(kDisabled, 0)); }
  void pass(Duration time) {
    now_ += time;
    const bool was = has6();
    keeper_.work(now_);
    if (!was && has6()) reported(EventAction::add, kAddress);
  }
  static bool has6() {
    return std::system("ip -6 address show dev a0 | grep -q 2001:db8:7::fe/64") == 0;  // NOLINT(cert-env33-c)
  }

  static constexpr const char* kDisabled = "/proc/sys/net/ipv6/conf/a0/disable_ipv6";
};

TEST_F(RefusedAddressTest, IsSaidOnceWithTheReasonAndTriedUntilItIsSet) {
  kernel_.add_addresses(*port_);
  for (int i = 0; i < 10; ++i) pass(AddressKeeper::kSoon);
  ASSERT_EQ(bed_.told.size(), 1U);
  EXPECT_THAT(bed_.told[0], HasSubstr("port lan: 2001:db8:7::fe/64 is not set in the kernel: "));
  EXPECT_THAT(bed_.told[0], HasSubstr("Permission denied"));
  EXPECT_THAT(bed_.told[0], HasSubstr("the router tries again, every 30 s at least"));
  enable();
  pass(AddressKeeper::kSlowest);
  EXPECT_TRUE(has6());
  pass(10s);
  ASSERT_EQ(bed_.told.size(), 2U);
  EXPECT_EQ(bed_.told[1], "port lan: the kernel has 2001:db8:7::fe/64 now, which it refused");
  EXPECT_THAT(kernel_.refused(), IsEmpty());
}

// As network managers do it: the address is removed as IPv6 is disabled.
TEST_F(RefusedAddressTest, ARestorationThatTheKernelRefusesIsNotSaidToBeOne) {
  reported(EventAction::remove, kAddress);
  pass(AddressKeeper::kSoon);
  ASSERT_EQ(bed_.told.size(), 1U);
  EXPECT_THAT(bed_.told[0], HasSubstr("is not set in the kernel"));
  enable();
  for (int i = 0; i < 2; ++i) pass(AddressKeeper::kSlowest);
  EXPECT_TRUE(has6());
}

TEST_F(RefusedAddressTest, DelaysNoOther) {
  kernel_.add_addresses(*port_);
  for (int i = 0; i < 100; ++i) keeper_.work(now_ += 1s);  // the pauses are long
  bed_.told.clear();
  remove();
  pass(AddressKeeper::kSoon);
  EXPECT_TRUE(there());
  EXPECT_THAT(bed_.told, ElementsAre("port lan: another program has removed 10.1.0.254/24, set again now"));
}

TEST_F(RefusedAddressTest, AnotherThatIsSetWithItHasItsEvent) {
  kernel_.add_addresses(*port_);
  keeper_.work(now_);
  bed_.told.clear();
  now_ += AddressKeeper::kSoon / 2;
  remove();
  AddressKeeperTest::pass(AddressKeeper::kSoon / 2);
  EXPECT_TRUE(there()) << "by the attempt for the refused address";
  EXPECT_THAT(bed_.told, ElementsAre("port lan: another program has removed 10.1.0.254/24, set again now"));
}

TEST_F(RefusedAddressTest, IsForgottenWithTheConfigurationOrTheDevice) {
  kernel_.add_addresses(*port_);
  pass(AddressKeeper::kSoon);
  kernel_.remove_address(*port_, prefix(kAddress));
  EXPECT_THAT(kernel_.refused(), IsEmpty());
  kernel_.add_addresses(*port_);
  kernel_.forget_device(a0_);
  EXPECT_THAT(kernel_.refused(), IsEmpty());
}

}  // namespace
}  // namespace surety
