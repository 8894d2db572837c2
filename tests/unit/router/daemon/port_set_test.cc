// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/port_set.h"

#include <gtest/gtest.h>
#include <rte_dev.h>

#include <filesystem>

#include "tests/unit/router/daemon/ports/namespace_and_back.h"

namespace surety {

// A function of DPDK for buses, whose declaration applications cannot use.
extern "C" void report_device(const char*, rte_dev_event_type) __asm__("rte_dev_event_callback_process");

namespace {

config::Config one_port() {
  config::Config c;
  c.ports.resize(kMaxPorts);
  c.ports[0].name = "wan";
  c.ports[0].device.kind = config::Device::Kind::af_packet;
  c.ports[0].device.name = "a0";
  return c;
}

// A port on a device that other programs change.
class PortSetTest : public InNamespaceAndBack {
 protected:
  void SetUp() override {
    InNamespaceAndBack::SetUp();
    if (IsSkipped()) return;
    make_wire();
    open();
  }
  void open() {
    ports_.open(config_.ports[0], 0);
    ports_.start(0, plan_);
  }
  PortReading reading() const {
    std::array<PortReading, 1> rows;
    ports_.read(rows);
    return rows[0];
  }

  config::Config config_ = one_port();
  Pools pools_{"port-set", config_, {1024, 1024}};
  PortSet ports_{pools_};
  const WorkPlan::Port plan_{.owner = 0, .readers = {0}, .spread = Spread::none, .dispatch = false};
};

TEST_F(PortSetTest, NothingChangesByItself) {
  EXPECT_TRUE(ports_.follow_devices(config_).empty());
  EXPECT_TRUE(reading().up);
  EXPECT_FALSE(reading().missing);
}

TEST_F(PortSetTest, FollowsMtuAndMacAddressOnce) {
  run("ip link set a0 mtu 1400 && ip link set a0 address 02:00:00:00:00:99");
  const auto changes = ports_.follow_devices(config_);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].mtu && changes[0].mac && !changes[0].gone);
  EXPECT_EQ(changes[0].mac_before, (MacAddress{2, 0, 0, 0, 0, 0xa}));
  EXPECT_EQ(ports_.all()[0]->mac(), (MacAddress{2, 0, 0, 0, 0, 0x99}));
  ports_.note_device_mtus(config_);
  EXPECT_TRUE(ports_.follow_devices(config_).empty());
  EXPECT_EQ(config_.ports[0].device_mtu, 1400);
  run("ip link set a0 mtu 9000");
  EXPECT_EQ(ports_.follow_devices(config_).size(), 1u);
  ports_.note_device_mtus(config_);
  run("ip link set a0 mtu 8000");
  EXPECT_TRUE(ports_.follow_devices(config_).empty()) << "the port's is lower";
}

// As when the old process of an upgrade restores the device's MTU.
TEST_F(PortSetTest, FollowsAnMtuThatChangedBeforeTheStart) {
  ports_.close(0);
  ports_.note_device_mtus(config_);
  ports_.open(config_.ports[0], 0);
  run("ip link set a0 mtu 1400");
  ports_.start(0, plan_);
  const auto changes = ports_.follow_devices(config_);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].mtu && !changes[0].mac && !changes[0].gone);
  EXPECT_EQ(ports_.follow_devices(config_).size(), 1u) << "until a configuration has it";
  ports_.note_device_mtus(config_);
  EXPECT_EQ(config_.ports[0].device_mtu, 1400);
  EXPECT_TRUE(ports_.follow_devices(config_).empty());
}

// A worker may adopt the snapshot before the change only then, which frees the old state.
TEST_F(PortSetTest, ALostDeviceIsOpenUntilASnapshotWithoutItIsPublished) {
  ports_.detach_lost();
  run("ip link del a0");
  ASSERT_EQ(ports_.follow_devices(config_).size(), 1u);
  ports_.close_lost();
  EXPECT_TRUE(ports_.is_lost(0)) << "workers have it";
  ports_.detach_lost();
  EXPECT_TRUE(ports_.is_lost(0)) << "workers may have it";
  ports_.close_lost();
  EXPECT_FALSE(ports_.is_lost(0));
}

TEST_F(PortSetTest, ADeviceThatFlapsIsLostOnce) {
  const auto flap = [] {
    for (int i = 0; i < 5; ++i)
      run("ip link del a0 && ip link add a0 type veth peer name b0 && ip link set a0 up");
  };
  for (int round = 0; round < 3; ++round) {
    flap();
    ASSERT_EQ(ports_.follow_devices(config_).size(), 1u);
    flap();
    EXPECT_TRUE(ports_.follow_devices(config_).empty()) << "missing already";
    ports_.detach_lost();
    ports_.close_lost();
    open();
    EXPECT_TRUE(ports_.follow_devices(config_).empty());
  }
  for (int i = 0; i < 5; ++i) run("ip link set a0 down && ip link set a0 up");
  EXPECT_TRUE(ports_.follow_devices(config_).empty()) << "LinkWatch follows the carrier";
}

// Each port then has the device of its name, and each device its own settings at the end.
TEST_F(PortSetTest, TwoDevicesThatSwapNamesAreLostAndOpenedAgain) {
  const auto redirects = [](const char* interface) {
    return tun::read_setting(tun::setting_path("ipv4", interface, "accept_redirects"));
  };
  ports_.close(0);
  if (!tun::ensure_setting(tun::setting_path("ipv4", "a0", "accept_redirects"), 1) ||
      !tun::ensure_setting(tun::setting_path("ipv4", "b0", "accept_redirects"), 0))
    GTEST_SKIP() << "/proc/sys cannot be written";
  config_.ports[1] = config_.ports[0];
  config_.ports[1].name = "lan";
  config_.ports[1].device.name = "b0";
  open();
  ports_.open(config_.ports[1], 1);
  ports_.start(1, plan_);
  EXPECT_EQ(redirects("a0"), 0);
  run("ip link set a0 down && ip link set b0 down && ip link set a0 name x0 && ip link set b0 name a0 && ip "
      "link set x0 name b0 && ip link set a0 up && ip link set b0 up");
  EXPECT_EQ(ports_.follow_devices(config_).size(), 2u);
  EXPECT_TRUE(ports_.is_missing(0) && ports_.is_missing(1));
  ports_.detach_lost();
  ports_.close_lost();
  EXPECT_EQ(redirects("b0"), 1) << "it was a0";
  EXPECT_EQ(redirects("a0"), 0);
  PortOpening opening(ports_);
  EXPECT_FALSE(opening.open(config_));
  ASSERT_TRUE(ports_.is_open(0) && ports_.is_open(1));
  EXPECT_EQ(ports_.all()[0]->mac(), (MacAddress{2, 0, 0, 0, 0, 0xb}));
  EXPECT_EQ(ports_.all()[1]->mac(), (MacAddress{2, 0, 0, 0, 0, 0xa}));
}

// A device of DPDK stands in for a PCI device: only the name of the bus differs.
TEST_F(PortSetTest, ARemovedDeviceOfDpdkIsGone) {
  config_.ports[1].name = "core";
  config_.ports[1].device.kind = config::Device::Kind::null;
  ports_.open(config_.ports[1], 1);
  ports_.start(1, plan_);
  EXPECT_TRUE(ports_.follow_devices(config_).empty());
  report_device("net_null1", RTE_DEV_EVENT_REMOVE);
  const auto changes = ports_.follow_devices(config_);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].place, 1u);
  EXPECT_TRUE(changes[0].gone);
  EXPECT_TRUE(ports_.is_missing(1) && ports_.is_lost(1));
  ports_.detach_lost();
  ports_.close_lost();
}

// Opening it fails without the privileges of the start, and would refuse every reload.
TEST_F(PortSetTest, AMissingPciDeviceIsNotOpenedByAReload) {
  std::error_code none;
  const std::filesystem::directory_iterator devices("/sys/bus/pci/devices", none);
  if (none || devices == std::filesystem::directory_iterator()) GTEST_SKIP() << "no PCI device here";
  config_.ports[1].name = "core";
  config_.ports[1].device.kind = config::Device::Kind::pci;
  config_.ports[1].device.name = devices->path().filename();
  ports_.set_missing(1, true);
  PortOpening opening(ports_);
  EXPECT_FALSE(opening.open(config_));
  EXPECT_TRUE(ports_.is_missing(1));
}

// A later step of the change fails, for example the start of another port: it is tried again.
TEST_F(PortSetTest, AMissingPortWhoseOpeningIsGivenUpIsMissing) {
  run("ip link del a0");
  ASSERT_EQ(ports_.follow_devices(config_).size(), 1u);
  ports_.detach_lost();
  ports_.close_lost();
  run("ip link add a0 type veth peer name a9 && ip link set a0 up");
  {
    PortOpening opening(ports_);
    EXPECT_FALSE(opening.open(config_));
    EXPECT_TRUE(ports_.is_open(0));
    EXPECT_FALSE(ports_.is_missing(0));
  }
  EXPECT_FALSE(ports_.is_open(0));
  EXPECT_TRUE(ports_.is_missing(0));
}

// A deleted device, one made again within a moment, and a renamed one.
TEST_F(PortSetTest, APortWithoutItsDeviceIsMissingUntilItIsOpenedAgain) {
  for (const char* change :
       {"ip link del a0", "ip link del a0; ip link add a0 type veth peer name a9; ip link set a0 up",
        "ip link set a0 down; ip link set a0 name a1"}) {
    run(change);
    const auto changes = ports_.follow_devices(config_);
    ASSERT_EQ(changes.size(), 1u) << change;
    EXPECT_TRUE(changes[0].gone);
    EXPECT_FALSE(ports_.is_open(0));
    EXPECT_TRUE(ports_.is_lost(0)) << "workers may have it";
    EXPECT_TRUE(reading().missing);
    EXPECT_FALSE(reading().up);
    PortOpening opening(ports_);
    EXPECT_FALSE(opening.open(config_)) << "not opened twice";
    EXPECT_FALSE(ports_.is_open(0));
    ports_.detach_lost();
    ports_.close_lost();
    run("ip link del a0 2>/dev/null; ip link del a1 2>/dev/null; ip link add a0 type veth peer name a9 && ip "
        "link set a0 "
        "up");
    EXPECT_FALSE(opening.open(config_, false));
    EXPECT_FALSE(ports_.is_open(0)) << "by another reload";
    open();
    EXPECT_FALSE(reading().missing);
    EXPECT_TRUE(ports_.follow_devices(config_).empty());
  }
}

}  // namespace
}  // namespace surety
