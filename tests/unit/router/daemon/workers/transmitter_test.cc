// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/transmitter.h"

#include "router/daemon/workers/worker_reading.h"
#include "tests/unit/router/daemon/workers/worker_parts.h"

namespace surety {
namespace {

using namespace test;

// A device that accepts so many packets and no more.
struct Device {
  std::size_t accepts = 1000;
  std::vector<Octets> out;

  static std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                   void* user) {
    auto& self = *static_cast<Device*>(user);
    n = static_cast<std::uint16_t>(std::min<std::size_t>(n, self.accepts));
    self.accepts -= n;
    for (std::uint16_t i = 0; i < n; ++i) {
      const auto* p = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
      self.out.emplace_back(p, p + packets[i]->data_len);
    }
    return n;
  }
};

struct TransmitterTest : WorkerParts {
  TransmitterTest() { tap.on_transmit(Device::on_transmit, &device); }
  ~TransmitterTest() override {
    transmitter.discard(d.now);
    other.discard(d.now);
  }
  // The second worker hands over packets for `down`.
  void hand_over(std::uint32_t first, std::uint32_t n) {
    for (std::uint32_t i = first; i < first + n; ++i) {
      const HandedPacket h(to_mbuf(numbered(1, i)), 100, 0, Precedence::out, false);
      ASSERT_EQ(fabric.to_owner(1, kDown)->enqueue({&h, 1}), 1u);
    }
  }
  std::uint64_t queued() {
    Reading r = blank_reading(d.snapshot, 0);
    transmitter.fill(r, d.snapshot);
    return r.ports[kDown].queued;
  }

  Device device;
  PortTap tap{*ports[kDown]};
  Transmitter transmitter{context(0), d.snapshot, false, 1, d.now};
  Transmitter other{context(1), d.snapshot, false, 2, d.now};
};

TEST_F(TransmitterTest, HasTheEgressesOfItsPorts) {
  EXPECT_NE(transmitter.egresses()[kLan], nullptr);
  EXPECT_EQ(transmitter.egresses()[kUp], nullptr);
  EXPECT_NE(transmitter.egresses()[kDown], nullptr);
}

TEST_F(TransmitterTest, WhatAnotherWorkerHandsOverLeaves) {
  EXPECT_FALSE(transmitter.handed_waits());
  EXPECT_TRUE(transmitter.sent());
  hand_over(0, 2);
  EXPECT_TRUE(transmitter.handed_waits());
  EXPECT_FALSE(transmitter.sent()) << "it is on its way";
  EXPECT_EQ(transmitter.take_over(d.now), 2u);
  EXPECT_FALSE(transmitter.handed_waits());
  EXPECT_FALSE(transmitter.sent()) << "it is queued";
  EXPECT_EQ(d.ports[kDown].taken_over, 2u);
  EXPECT_EQ(transmitter.transmit(d.now), 2u);
  EXPECT_TRUE(transmitter.sent());
  EXPECT_EQ(d.ports[kDown].tx_packets, 2u);
  EXPECT_EQ(d.ports[kDown].tx_bytes, device.out[0].size() + device.out[1].size());
}

TEST_F(TransmitterTest, SoDoesWhatTheControlThreadInjects) {
  rte_mbuf* m = to_mbuf(udp_frame());
  ASSERT_EQ(fabric.injected(kDown)->enqueue({&m, 1}), 1u);
  EXPECT_TRUE(transmitter.handed_waits());
  EXPECT_EQ(transmitter.take_over(d.now), 1u);
  EXPECT_EQ(d.ports[kDown].originated, 1u);
  EXPECT_EQ(transmitter.transmit(d.now), 1u);
  EXPECT_EQ(device.out, std::vector<Octets>{udp_frame()});
}

TEST_F(TransmitterTest, WhatADeviceDoesNotAcceptStaysFirst) {
  device.accepts = 3;
  hand_over(0, 10);
  transmitter.take_over(d.now);
  EXPECT_EQ(transmitter.transmit(d.now), 3u);
  EXPECT_TRUE(transmitter.blocked());
  EXPECT_EQ(transmitter.next_event(d.now), kNever);
  EXPECT_EQ(queued(), 7u);
  hand_over(10, 5);
  transmitter.take_over(d.now);
  EXPECT_EQ(queued(), 12u);
  EXPECT_EQ(transmitter.transmit(d.now), 0u);
  device.accepts = 1000;
  while (transmitter.transmit(d.now) > 0) {
  }
  EXPECT_TRUE(transmitter.sent());
  std::vector<Octets> all;
  for (std::uint32_t i = 0; i < 15; ++i) all.push_back(numbered(1, i));
  EXPECT_EQ(device.out, all);
  EXPECT_EQ(d.ports[kDown].tx_bytes, all.size() * all[0].size());
}

TEST_F(TransmitterTest, WhatADeviceCannotSendIsADropAndNotSilence) {
  constexpr unsigned kMtu = 1000, kHeaders = 14 + 2 * 4;
  ports[kDown]->follow({.index = 1, .mtu = kMtu, .mac = {}});
  const std::vector<Octets> frames{udp_frame({}, 1200), udp_frame({}, kMtu),
                                   udp_frame({}, kMtu + kHeaders - 13)};
  for (const Octets& frame : frames) {
    rte_mbuf* m = to_mbuf(frame);
    ASSERT_EQ(fabric.injected(kDown)->enqueue({&m, 1}), 1u);
  }
  transmitter.take_over(d.now);
  EXPECT_EQ(transmitter.transmit(d.now), 1u);
  EXPECT_EQ(device.out, std::vector<Octets>{frames[1]});
  EXPECT_EQ(d.drops(kDown, DropReason::device_mtu), 2u);
  EXPECT_EQ(d.ports[kDown].tx_bytes, frames[1].size());
  EXPECT_EQ(d.ports[kDown].enqueued, d.ports[kDown].tx_packets + d.drops(kDown, DropReason::device_mtu));
  EXPECT_TRUE(transmitter.sent());
}

TEST_F(TransmitterTest, WithoutADeviceNothingWaits) {
  device.accepts = 3;
  hand_over(0, 10);
  transmitter.take_over(d.now);
  EXPECT_EQ(transmitter.transmit(d.now), 3u);
  ASSERT_TRUE(transmitter.blocked());
  std::unique_ptr<DpdkPort> lost = std::move(ports[kDown]);
  Transmitter::Update update = transmitter.prepare(d.snapshot, plan, d.now);
  transmitter.adopt(update, d.snapshot, d.now);
  hand_over(10, 5);
  transmitter.take_over(d.now);
  while (transmitter.transmit(d.now) > 0) {
  }
  EXPECT_FALSE(transmitter.blocked());
  EXPECT_TRUE(transmitter.sent());
  EXPECT_EQ(transmitter.next_event(d.now), kNever) << "its worker may sleep";
  EXPECT_EQ(d.drops(kDown, DropReason::port_gone), 12u);
  EXPECT_EQ(d.ports[kDown].tx_packets, 3u);
  ports[kDown] = std::move(lost);
}

TEST_F(TransmitterTest, AllThatIsLeftIsFreed) {
  device.accepts = 0;
  hand_over(0, 200);
  transmitter.take_over(d.now);
  transmitter.transmit(d.now);
  EXPECT_GT(d.in_use(), 0u);
  EXPECT_TRUE(transmitter.blocked());
}  // by the destructors; DataPlane looks for it

}  // namespace
}  // namespace surety
