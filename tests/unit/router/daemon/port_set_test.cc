// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/port_set.h"

#include <gtest/gtest.h>

#include "tests/unit/router/daemon/ports/namespace_and_back.h"

namespace surety {
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
  EXPECT_TRUE(ports_.follow_devices(config_).empty());
  ports_.note_device_mtus(config_);
  EXPECT_EQ(config_.ports[0].device_mtu, 1400);
  run("ip link set a0 mtu 9000");
  EXPECT_EQ(ports_.follow_devices(config_).size(), 1u);
  run("ip link set a0 mtu 8000");
  EXPECT_TRUE(ports_.follow_devices(config_).empty()) << "the port's is lower";
}

// A later step of the change fails, for example the start of another port: it is tried again.
TEST_F(PortSetTest, AMissingPortWhoseOpeningIsGivenUpIsMissing) {
  run("ip link del a0");
  ASSERT_EQ(ports_.follow_devices(config_).size(), 1u);
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
