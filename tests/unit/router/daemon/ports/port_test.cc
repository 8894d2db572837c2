// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using Kind = config::Device::Kind;
using testing::HasSubstr;

config::Port null_port(bool feeds) {
  config::Port p;
  p.name = "p0";
  p.device.kind = Kind::null;
  if (feeds) p.device.name = kFeedDevice;
  return p;
}

std::size_t receive_and_free(DpdkPort& port, std::uint16_t queue) {
  std::array<rte_mbuf*, 32> burst{};
  const std::size_t n = port.receive(queue, burst);
  rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
  return n;
}

TEST(DpdkPort, KnowsItsDeviceBeforeItStarts) {
  const DpdkPort port(null_port(false), 0, test::packet_pool());
  EXPECT_EQ(port.ability().max_rx_queues, 16);
  EXPECT_FALSE(port.ability().spreads_by(Spread::flow)) << "its driver says it does, and does not";
  EXPECT_EQ(port.socket(), static_cast<int>(rte_socket_id()));
  EXPECT_NE(port.mac(), (MacAddress{}));
}

TEST(DpdkPort, HasTheConfiguredAddress) {
  auto config = null_port(false);
  config.mac = MacAddress{{2, 0, 0, 0, 0, 9}};
  const DpdkPort port(config, 0, test::packet_pool());
  EXPECT_EQ(port.mac(), *config.mac);
}

TEST(DpdkPort, ReceivesInOneQueueByDefault) {
  DpdkPort port(null_port(true), 0, test::packet_pool());
  port.start();
  EXPECT_EQ(port.rx_queues(), 1);
  EXPECT_EQ(receive_and_free(port, 0), 32u);
  EXPECT_TRUE(port.wake_fds(0).empty());
  EXPECT_TRUE(port.link_up());
}

TEST(DpdkPort, ReceivesInAsManyQueuesAsAsked) {
  DpdkPort port(null_port(true), 0, test::packet_pool());
  port.start(3, Spread::none);
  EXPECT_EQ(port.rx_queues(), 3);
  for (std::uint16_t q = 0; q < 3; ++q) EXPECT_EQ(receive_and_free(port, q), 32u) << q;
}

TEST(DpdkPort, TransmitsAndTakesTheBuffersOver) {
  DpdkPort port(null_port(false), 0, test::packet_pool());
  port.start();
  const auto free = rte_mempool_avail_count(test::packet_pool());
  std::array<rte_mbuf*, 4> burst{};
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(test::packet_pool(), burst.data(), 4), 0);
  EXPECT_EQ(port.transmit(burst), 4u);
  EXPECT_EQ(rte_mempool_avail_count(test::packet_pool()), free);
}

TEST(DpdkPort, ReaddressesFramesForItsVirtualMacs) {
  constexpr MacAddress kOwn{2, 0, 0, 0, 0, 9}, kVirtual{0, 0, 0x5e, 0, 1, 10},
      kAnothers{0, 0, 0x5e, 0, 1, 11}, kAll{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  auto config = null_port(false);
  config.mac = kOwn;
  DpdkPort port(config, 0, test::packet_pool());
  EXPECT_FALSE(port.accepts_others());
  std::vector<MacAddress> many(2 * DpdkPort::kVirtualMacs, MacAddress{2, 2, 2, 2, 2, 2});
  EXPECT_FALSE(port.accept(many));
  const std::vector<MacAddress> one{kVirtual};
  EXPECT_TRUE(port.accept(one));
  EXPECT_TRUE(port.accepts_others());
  const auto readdressed = [&](const MacAddress& to, std::size_t length = 60) {
    test::Octets frame(length, 7);
    std::copy_n(to.begin(), std::min(length, to.size()), frame.begin());
    rte_mbuf* const m = test::to_mbuf(frame);
    port.readdress({&m, 1});
    MacAddress is{};
    std::copy_n(rte_pktmbuf_mtod(m, const std::uint8_t*), is.size(), is.begin());
    rte_pktmbuf_free(m);
    return is;
  };
  EXPECT_EQ(readdressed(kVirtual), kOwn);
  EXPECT_EQ(readdressed(kOwn), kOwn);
  EXPECT_EQ(readdressed(kAnothers), kAnothers);
  EXPECT_EQ(readdressed(kAll), kAll);
  EXPECT_EQ(readdressed(kVirtual, 13), kVirtual) << "not a frame";
  port.accept({});
  EXPECT_FALSE(port.accepts_others());
  EXPECT_EQ(readdressed(kVirtual), kVirtual);
}

TEST(DpdkPort, RefusesMoreQueuesThanThereAre) {
  DpdkPort port(null_port(false), 0, test::packet_pool());
  try {
    port.start(17, Spread::none);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "port p0: the device has at most 16 receive queues, not 17");
  }
}

TEST(DpdkPort, GivesTheDeviceBack) {
  for (int i = 0; i < 3; ++i) {
    DpdkPort port(null_port(true), 0, test::packet_pool());
    port.start();
    EXPECT_EQ(receive_and_free(port, 0), 32u) << i;
  }
}

}  // namespace
}  // namespace surety
