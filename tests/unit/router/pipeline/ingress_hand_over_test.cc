// SPDX-License-Identifier: BSD-3-Clause
// The way of a vector's packets to the ports that they leave by: of this worker, or of another.
#include <gmock/gmock.h>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;

// Port 0 receives; the others send, in turn without queues, with two classes, and with an interface's own.
std::string yaml(std::size_t exits) {
  std::string text = "version: 1\nports:\n  p0: {device: null, trust: core}\n", interfaces = "interfaces:\n";
  for (std::size_t p = 1; p <= exits; ++p) {
    const std::string name = "p" + std::to_string(p);
    text += "  " + name + ": {device: null, trust: core" + (p % 3 == 0 ? "" : ", queues: two") + "}\n";
    if (p % 3 == 2)
      interfaces += "  " + name + ".5: {port: " + name + ", vlan: 5, trust: core, queues: two}\n";
  }
  if (exits >= 2) text += interfaces;
  return text + "queues: {two: [{name: one, dscp: [AF11]}, {name: rest, dscp: [BE]}]}\n";
}

class HandOverTest : public testing::TestWithParam<std::size_t> {
 protected:
  HandOverTest() {
    for (std::size_t p = 1; p <= exits; ++p)
      d.route("10." + std::to_string(p) + ".0.0/16", {ready(static_cast<PortIndex>(p))});
    sent.resize(exits + 1);
  }
  ~HandOverTest() override { d.expect_law(); }

  // Numbered packets of any port, and of two classes.
  void receive(std::size_t n) {
    std::vector<Octets> burst;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t port = 1 + rng.next() % exits;
      const std::uint8_t dscp = rng.next() % 2 == 0 ? kAf11 : kBe;
      burst.push_back(udp_frame({.source = 0x0ac80001,
                                 .destination = static_cast<std::uint32_t>(0x0a000001 | port << 16),
                                 .from = next,
                                 .tos = static_cast<std::uint8_t>(dscp << 2)}));
      sent[port].push_back({dscp, next++});
    }
    d.receive(burst);
  }
  struct Sent {
    int dscp, number;
    bool operator==(const Sent&) const = default;
  };
  static std::vector<Sent> of(int dscp, std::vector<Sent> all) {
    std::erase_if(all, [&](const Sent& s) { return s.dscp != dscp; });
    return all;
  }
  void expect_all_in_order(std::size_t port) {
    std::vector<Sent> out;
    for (auto burst = d.transmit(static_cast<PortIndex>(port)); !burst.empty();
         burst = d.transmit(static_cast<PortIndex>(port)))
      for (const Octets& f : burst) out.push_back({dscp_of(f), f[34] << 8 | f[35]});
    EXPECT_EQ(out.size(), sent[port].size()) << port;
    if (d.egresses[port]->plain() != nullptr) {
      EXPECT_EQ(out, sent[port]) << port;
    } else {
      for (const int dscp : {kAf11, kBe}) EXPECT_EQ(of(dscp, out), of(dscp, sent[port])) << port;
    }
    sent[port].clear();
  }

  std::size_t exits = GetParam();
  DataPlane d{yaml(exits)};
  Rng rng{7};
  std::uint16_t next = 0;
  std::vector<std::vector<Sent>> sent;  // by port
};

TEST_P(HandOverTest, EachPortGetsItsOwnInOrder) {
  for (const std::size_t n : {0u, 1u, 2u, 63u, 64u, 65u, 130u}) {
    std::vector<std::uint64_t> before;
    for (const PortCounters& c : d.ports) before.push_back(c.enqueued);
    receive(n);
    for (std::size_t p = 1; p <= exits; ++p) {
      EXPECT_EQ(d.ports[p].enqueued - before[p], sent[p].size()) << p;
      EXPECT_EQ(d.egresses[p]->depth(), sent[p].size()) << p;
      expect_all_in_order(p);
    }
  }
  EXPECT_EQ(d.ports[0].forwarded, 325u);
}

// Every second port is another worker's, by a ring.
TEST_P(HandOverTest, WhatAnotherWorkerOwnsGoesToItsRing) {
  std::vector<std::unique_ptr<EgressHandover>> rings(exits + 1);
  for (std::size_t p = 1; p <= exits; p += 2) {
    rings[p] =
        std::make_unique<EgressHandover>("hand-over-" + std::to_string(exits) + "-" + std::to_string(p));
    d.port_egresses[p].owner = rings[p].get();
  }
  for (int round = 0; round < 20; ++round) {
    receive(64);
    std::uint32_t handed = 0;
    for (std::size_t p = 1; p <= exits; ++p) {
      if (rings[p] != nullptr) {
        EXPECT_EQ(d.egresses[p]->depth(), 0u) << p;
        std::array<HandedPacket, kBurst> burst;
        const std::size_t n = rings[p]->dequeue(burst);
        EXPECT_EQ(n, sent[p].size()) << p;
        handed |= n > 0 ? 1u << p : 0;
        d.ports[p].taken_over += n;
        d.egresses[p]->enqueue_handed({burst.data(), n}, d.now);
      }
      expect_all_in_order(p);
    }
    EXPECT_EQ(d.ingress->take_handed(), handed);
  }
}

TEST_P(HandOverTest, AFullRingDropsWhatThereIsNoRoomForAndNoMore) {
  EgressHandover ring("hand-over-full-" + std::to_string(exits));
  d.port_egresses[1].owner = &ring;
  const auto full = [&] { return d.drops(0, DropReason::handover_full); };
  for (std::size_t round = 0; full() == 0; ++round) {
    ASSERT_LT(round, 100 * exits);
    receive(64);
    for (std::size_t p = 2; p <= exits; ++p) expect_all_in_order(p);
  }
  EXPECT_EQ(d.ports[1].handed_over + full(), sent[1].size());
  EXPECT_EQ(d.ports[0].forwarded + full(), d.ports[0].rx_packets);
  std::array<HandedPacket, kBurst> burst;
  for (std::size_t n = 0, at = 0; (n = ring.dequeue(burst)) > 0; at += n) {
    d.ports[1].taken_over += n;
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_EQ(rte_pktmbuf_mtod(burst[i].mbuf(), const std::uint8_t*)[35], sent[1][at + i].number & 0xff);
    d.egresses[1]->enqueue_handed({burst.data(), n}, d.now);
  }
}

INSTANTIATE_TEST_SUITE_P(Exits, HandOverTest, testing::Values(1, 2, 31));

}  // namespace
}  // namespace surety
