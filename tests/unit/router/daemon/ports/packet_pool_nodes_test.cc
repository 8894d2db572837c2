// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <filesystem>
#include <fstream>

namespace surety {
namespace {

using Kind = config::Device::Kind;

config::Config ports(std::size_t n, std::uint16_t mtu = 1500) {
  config::Config c;
  c.ports.resize(n);
  for (auto& p : c.ports) {
    p.device.kind = Kind::null;
    p.mtu = mtu;
  }
  return c;
}
int here() {
  return static_cast<int>(rte_socket_id());
}

TEST(Pools, AreOneWhereAllPortsAreOnOneNode) {
  const Pools pools("unit-one", ports(3), {1000, 1000});
  EXPECT_EQ(pools.size(), 1u);
  EXPECT_NE(pools.of(0), nullptr);
  EXPECT_EQ(pools.of(1), pools.of(0));
  EXPECT_EQ(pools.of(2), pools.of(0));
  EXPECT_EQ(pools.on(here()), pools.of(0));
  EXPECT_EQ(pools.on(here() + 1), nullptr);
}

TEST(Pools, CountTheirBuffers) {
  const Pools pools("unit-count", ports(1), {1000, 1000});
  EXPECT_EQ(pools.buffers(), 1000u);
  EXPECT_EQ(pools.available(), 1000u);
  rte_mbuf* m = rte_pktmbuf_alloc(pools.of(0));
  EXPECT_EQ(pools.available(), 999u);
  rte_pktmbuf_free(m);
  EXPECT_EQ(pools.available(), 1000u);
}

// SOCKET_ID_ANY is a node of its own for the map; this machine has but one.
TEST(Pools, AreOneForEachNode) {
  Pools pools("unit-two", ports(3), {600, 900}, {here(), SOCKET_ID_ANY, here()});
  EXPECT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools.of(0), pools.of(2));
  EXPECT_NE(pools.of(0), pools.of(1));
  EXPECT_EQ(pools.on(SOCKET_ID_ANY), pools.of(1));
  EXPECT_EQ(pools.buffers(), 1200u);
  EXPECT_TRUE(pools.grow({700, 900})) << "both";
  EXPECT_EQ(pools.buffers(), 1400u);
  EXPECT_EQ(pools.available(), 1400u);
  EXPECT_TRUE(pools.grow({1000, 2000}));
  EXPECT_EQ(pools.size_of_each(), 900u) << "as many as there may be";
}

TEST(Pools, HaveBuffersForWholeFrames) {
  const Pools ordinary("unit-mtu", ports(1), {500, 500}), jumbo("unit-jumbo", ports(1, 9000), {500, 500});
  EXPECT_EQ(rte_pktmbuf_data_room_size(ordinary.of(0)), RTE_MBUF_DEFAULT_BUF_SIZE);
  EXPECT_GE(rte_pktmbuf_data_room_size(jumbo.of(0)), RTE_PKTMBUF_HEADROOM + 9000 + 14 + 8);
}

TEST(NodeOf, IsTheOneThatTheKernelNames) {
  std::string pattern = std::filesystem::temp_directory_path() / "suretyXXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path sysfs = pattern;
  const auto write = [&](const std::filesystem::path& directory, const char* text) {
    std::filesystem::create_directories(sysfs / directory);
    std::ofstream(sysfs / directory / "numa_node") << text << '\n';
  };
  write("bus/pci/devices/0000:03:00.0", "1");
  write("bus/pci/devices/0000:04:00.0", "-1");
  write("class/net/eth1/device", "2");
  const auto node = [&](Kind kind, const std::string& name) {
    config::Device d;
    d.kind = kind;
    d.name = name;
    return node_of(d, 7, sysfs);
  };
  EXPECT_EQ(node(Kind::pci, "0000:03:00.0"), 1);
  EXPECT_EQ(node(Kind::pci, "03:00.0"), 1);
  EXPECT_EQ(node(Kind::pci, "0000:04:00.0"), 7) << "a machine without nodes says -1";
  EXPECT_EQ(node(Kind::pci, "0000:05:00.0"), 7);
  EXPECT_EQ(node(Kind::af_xdp, "eth1"), 2);
  EXPECT_EQ(node(Kind::af_packet, "veth0"), 7);
  EXPECT_EQ(node(Kind::memif, "/run/a.sock"), 7);
  std::filesystem::remove_all(sysfs);
}

}  // namespace
}  // namespace surety
