// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/receive_queues.h"

#include <gtest/gtest.h>
#include <rte_thash.h>

namespace surety {
namespace {

constexpr std::uint64_t kAddressesAndPorts = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;

rte_eth_dev_info nic(std::uint64_t offered) {
  rte_eth_dev_info d{};
  d.max_rx_queues = 8;
  d.hash_key_size = 40;
  d.flow_type_rss_offloads = offered;
  return d;
}

// Toeplitz over addresses and ports, as a device does it.
std::uint32_t hash(std::uint32_t source, std::uint32_t destination, std::uint32_t ports) {
  std::array<std::uint32_t, 3> tuple{source, destination, ports};
  const auto key = symmetric_rss_key();
  return rte_softrss(tuple.data(), 3, key.data());
}

TEST(RssKey, GivesBothDirectionsOfAFlowOneHash) {
  for (std::uint32_t i = 1; i < 1000; ++i) {
    const std::uint32_t a = 0x0a000001 * i, b = 0xc6336401 + 7919 * i;
    const std::uint32_t sport = 1024 + i, dport = 80;
    EXPECT_EQ(hash(a, b, sport << 16 | dport), hash(b, a, dport << 16 | sport)) << i;
  }
}

// The key folds an address and a port onto one another, so that neighbours among both may meet: these do not.
TEST(RssKey, SpreadsFlows) {
  std::array<int, 4> queues{};
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const std::uint32_t port = i * 2654435761u >> 16;
    ++queues[hash(0x0a000001 + i % 16, 0xc6336401, port << 16 | 80) % 4];
  }
  for (const int n : queues) EXPECT_NEAR(n, 1000, 100);
}

TEST(RssFields, OfFlowsAreAddressesAndPorts) {
  EXPECT_EQ(rss_fields(nic(~0ull), Spread::flow), kAddressesAndPorts);
  EXPECT_EQ(rss_fields(nic(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6), Spread::flow),
            RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6)
      << "addresses alone where ports are not offered";
}

TEST(RssFields, OfOneSideAreAddressesAlone) {
  EXPECT_EQ(rss_fields(nic(~0ull), Spread::source), RTE_ETH_RSS_IP | RTE_ETH_RSS_L3_SRC_ONLY);
  EXPECT_EQ(rss_fields(nic(~0ull), Spread::destination), RTE_ETH_RSS_IP | RTE_ETH_RSS_L3_DST_ONLY);
}

TEST(RssFields, NoneWhereTheDeviceCannot) {
  EXPECT_FALSE(rss_fields(nic(kAddressesAndPorts), Spread::source));
  EXPECT_FALSE(rss_fields(nic(kAddressesAndPorts), Spread::destination));
  EXPECT_FALSE(rss_fields(nic(RTE_ETH_RSS_L3_SRC_ONLY), Spread::source));
  EXPECT_FALSE(rss_fields(nic(RTE_ETH_RSS_TCP), Spread::flow));
  EXPECT_FALSE(rss_fields(nic(0), Spread::flow));
  EXPECT_FALSE(rss_fields(nic(~0ull), Spread::none));
  auto other = nic(~0ull);
  other.max_rx_queues = 1;
  EXPECT_FALSE(rss_fields(other, Spread::flow)) << "one queue";
  other = nic(~0ull);
  other.hash_key_size = kRssKey + 1;
  EXPECT_FALSE(rss_fields(other, Spread::flow)) << "a key of which we have no more";
}

TEST(AbilityOf, SaysWhatADeviceSpreadsBy) {
  const PortAbility all = ability_of(nic(~0ull));
  EXPECT_EQ(all.max_rx_queues, 8);
  EXPECT_TRUE(all.spreads_by(Spread::flow));
  EXPECT_TRUE(all.spreads_by(Spread::source));
  EXPECT_TRUE(all.spreads_by(Spread::destination));
  EXPECT_FALSE(all.spreads_by(Spread::none));
  const PortAbility flows = ability_of(nic(kAddressesAndPorts));
  EXPECT_TRUE(flows.spreads_by(Spread::flow));
  EXPECT_FALSE(flows.spreads_by(Spread::source));
  EXPECT_FALSE(flows.spreads_by(Spread::destination));
}

TEST(AbilityOf, HasOneToSixteenQueues) {
  auto d = nic(0);
  d.max_rx_queues = 0;
  EXPECT_EQ(ability_of(d).max_rx_queues, 1);
  d.max_rx_queues = 1024;
  EXPECT_EQ(ability_of(d).max_rx_queues, 16);
}

}  // namespace
}  // namespace surety
