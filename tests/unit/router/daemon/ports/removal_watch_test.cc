// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/removal_watch.h"

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <memory>

#include "router/daemon/ports/port.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {

// Functions for drivers and buses, which DPDK's library exports and its public headers do not declare.
extern "C" rte_eth_dev* device_of(const char* name) __asm__("rte_eth_dev_allocated");
extern "C" int report_port(rte_eth_dev*, rte_eth_event_type, void*) __asm__("rte_eth_dev_callback_process");
extern "C" void report_device(const char*, rte_dev_event_type) __asm__("rte_dev_event_callback_process");

namespace {

config::Port null_port() {
  config::Port p;
  p.name = "p0";
  p.device.kind = config::Device::Kind::null;
  return p;
}

TEST(RemovalWatch, TheEventOfADriver) {
  DpdkPort port(null_port(), 0, test::packet_pool());
  port.start();
  report_port(device_of("net_null0"), RTE_ETH_EVENT_INTR_LSC, nullptr);
  EXPECT_FALSE(port.removed());
  report_port(device_of("net_null0"), RTE_ETH_EVENT_INTR_RMV, nullptr);
  EXPECT_TRUE(port.removed());
}

TEST(RemovalWatch, TheEventOfABus) {
  DpdkPort port(null_port(), 0, test::packet_pool());
  report_device("net_null0", RTE_DEV_EVENT_ADD);
  report_device("net_null1", RTE_DEV_EVENT_REMOVE);
  EXPECT_FALSE(port.removed());
  report_device("net_null0", RTE_DEV_EVENT_REMOVE);
  EXPECT_TRUE(port.removed());
}

TEST(RemovalWatch, TheEndOfOneLeavesTheOthers) {
  auto first = std::make_unique<DpdkPort>(null_port(), 0, test::packet_pool());
  DpdkPort second(null_port(), 1, test::packet_pool());
  first.reset();
  report_device("net_null1", RTE_DEV_EVENT_REMOVE);
  EXPECT_TRUE(second.removed());
}

TEST(RemovalWatch, ANewDeviceOfTheNameIsNotRemoved) {
  for (int i = 0; i < 2; ++i) {
    DpdkPort port(null_port(), 0, test::packet_pool());
    EXPECT_FALSE(port.removed());
    report_device("net_null0", RTE_DEV_EVENT_REMOVE);
    EXPECT_TRUE(port.removed());
  }
  report_device("net_null0", RTE_DEV_EVENT_REMOVE);  // nobody is called
}

}  // namespace
}  // namespace surety
