// SPDX-License-Identifier: BSD-3-Clause
// Whole transfers in virtual time: TcpSender to the product's TcpReceiver through a
// lossy wire, byte for byte.
#include "conditioners/rng.h"
#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/tcp_sender.h"
#include "router/pipeline/wire/rewrite.h"
#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kBegin{1s};

Tuple there(bool v6) {
  const std::uint8_t a[16] = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::uint8_t b[16] = {0x20, 1, 0xd, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  if (v6) return {IpAddress::v6(a), IpAddress::v6(b), 40000, 5001};
  return {IpAddress::v4(10, 1, 0, 1), IpAddress::v4(10, 2, 0, 1), 40000, 5001};
}

struct Transfer {
  TcpParams params;
  SinkParams sink_params;
  Tuple tuple;
  TcpSender sender;
  std::optional<TcpReceiver> sink;
  Wire wire;

  explicit Transfer(const TcpParams& p, const SinkParams& k = {}, bool v6 = false, Time stop = kNever)
      : params(p),
        sink_params(k),
        tuple(there(v6)),
        sender(params, tuple, Schedule{kBegin, stop}, 1),
        wire(sender, [this](const IpPacket& packet, Time now) -> Engine* {
          if (TcpAcceptor::check_syn(packet) != Refusal::none) return nullptr;
          const Tuple back{tuple.remote, tuple.local, tuple.remote_port, tuple.local_port};
          return &sink.emplace(sink_params, back, packet, now, 2);
        }) {}

  FlowReading sent() const {
    FlowReading r;
    sender.read(r);
    return r;
  }
  FlowReading received() const {
    FlowReading r;
    if (sink) sink->read(r);
    return r;
  }
  // 10 Mbit/s, RTT 40 ms.
  void bottleneck(std::size_t queue) {
    wire.there.rate = 10_Mbps;
    wire.there.queue = queue;
    wire.there.delay = wire.back.delay = 20ms;
  }
  // All of it arrived, each byte the right one, and the sender closed in order.
  void expect_delivered(std::uint64_t bytes) {
    EXPECT_EQ(received().payload_bytes, bytes);
    EXPECT_EQ(sent().payload_bytes, bytes);
    ASSERT_TRUE(sink);
    EXPECT_EQ(sink->mismatches(), 0u);
    EXPECT_STREQ(name(sender.state()), "closed");
    EXPECT_STREQ(name(sender.failure()), "none");
  }
  // And the receiver too: which it cannot know if the last ACK is lost again and again.
  void expect_complete(std::uint64_t bytes) {
    expect_delivered(bytes);
    EXPECT_STREQ(name(sink->state()), "closed");
    EXPECT_STREQ(name(sink->failure()), "none");
  }
};

TcpParams flow(TcpFlavour flavour, std::uint64_t bytes) {
  TcpParams p;
  p.flavour = flavour;
  p.common.total_payload = bytes;
  if (flavour == TcpFlavour::gtcp) p.reserved = 4_Mbps;
  return p;
}

constexpr TcpFlavour kFlavours[] = {TcpFlavour::reno, TcpFlavour::newreno, TcpFlavour::gtcp,
                                    TcpFlavour::cubic};

TEST(TcpTransfer, NothingLostNothingRepeated) {
  for (const auto flavour : kFlavours)
    for (const bool v6 : {false, true})
      for (const auto ack : {AckPolicy::every, AckPolicy::delayed}) {
        Transfer t(flow(flavour, 1'000'001), {.ack = ack}, v6);
        t.wire.run(kBegin + 1h);
        t.expect_complete(1'000'001);
        EXPECT_EQ(t.sent().retransmitted_packets, 0u);
        EXPECT_TRUE(t.wire.refused_left.empty());
        EXPECT_TRUE(t.wire.refused_right.empty());
        EXPECT_NEAR(seconds(t.sent().min_rtt), 0.02, 1.1e-6);  // in ticks of 1.024 us
      }
}

TEST(TcpTransfer, WithoutTimestampsOrScaling) {
  TcpParams p = flow(TcpFlavour::newreno, 300'000);
  p.timestamps = p.window_scale = p.sack = p.ecn = false;
  Transfer t(p);
  t.wire.run(kBegin + 1h);
  t.expect_complete(300'000);
  EXPECT_EQ(t.sent().min_rtt, 20ms);
}

// SYN, ACK, every data segment, FIN, last ACK: each in turn, and each packet of the way back.
TEST(TcpTransfer, AnySinglePacketMayBeLost) {
  for (const auto flavour : kFlavours)
    for (const bool there_or_back : {true, false})
      for (std::uint64_t lost = 0; lost < 70; ++lost) {
        Transfer t(flow(flavour, 60'000), {.ack = AckPolicy::every});
        (there_or_back ? t.wire.there : t.wire.back).drop = [&](const WirePacket& p) {
          return p.number == lost;
        };
        t.wire.run(kBegin + 1h);
        t.expect_complete(60'000);
        if (testing::Test::HasFailure()) FAIL() << "packet " << lost << (there_or_back ? " there" : " back");
      }
}

TEST(TcpTransfer, AnyTwoNeighboursMayBeLost) {
  for (const auto flavour : kFlavours)
    for (std::uint64_t lost = 0; lost < 100; ++lost) {
      TcpParams p = flow(flavour, 60'000);
      p.sack = lost % 2 == 0;
      Transfer t(p);
      t.wire.there.drop = [&](const WirePacket& p) {
        return p.number == lost / 2 || p.number == lost / 2 + 1;
      };
      t.wire.run(kBegin + 1h);
      t.expect_complete(60'000);
    }
}

TEST(TcpTransfer, RandomLossBothWaysIsByteExact) {
  for (const auto flavour : kFlavours)
    for (const double loss : {0.01, 0.05, 0.2})
      for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
        TcpParams p = flow(flavour, 500'000);
        p.min_rto = 200ms;
        p.sack = seed > 2;
        Transfer t(p, {.ack = seed % 2 ? AckPolicy::every : AckPolicy::delayed});
        Rng rng(seed);
        const auto drop = [&](const WirePacket&) { return rng.uniform() < loss; };
        t.wire.there.drop = t.wire.back.drop = drop;
        t.wire.run(kBegin + 4h);
        t.expect_delivered(500'000);
        EXPECT_GT(t.sent().retransmitted_packets, 0u);
        if (testing::Test::HasFailure()) FAIL() << loss << " seed " << seed;
      }
}

TEST(TcpTransfer, ReorderedAndCorruptedPacketsDoNoHarm) {
  for (const auto flavour : kFlavours) {
    Transfer t(flow(flavour, 400'000));
    Rng rng(5);
    const auto alter = [&](WirePacket& p) {
      if (rng.next() % 50 == 0) p.frame[p.frame.size() - 1] ^= 0x10;
      if (rng.next() % 50 == 0) p.frame[40] ^= 1;
    };
    t.wire.there.alter = t.wire.back.alter = alter;
    t.wire.run(kBegin + 1h);
    t.expect_complete(400'000);
    EXPECT_FALSE(t.wire.refused_right.empty());
  }
}

// 10 Mbit/s, RTT 40 ms, a queue of one bandwidth-delay product: the payload rate of 1500-byte packets.
TEST(TcpTransfer, NewRenoFillsItsBottleneck) {
  Transfer t(flow(TcpFlavour::newreno, 0), {}, false, kBegin + 60s);
  t.bottleneck(34);
  t.wire.run_until(kBegin + 10s);
  const std::uint64_t before = t.received().received_bytes;
  t.wire.run_until(kBegin + 60s);
  const double rate = static_cast<double>(t.received().received_bytes - before) * 8 / 50;
  EXPECT_GE(rate, 0.95 * 10e6);
  EXPECT_LE(rate, 10e6);
  EXPECT_GT(t.sent().loss_events, 2u);
  EXPECT_LE(t.sent().timeouts, 1u) << "one overshoot of slow start, then fast recoveries";
}

// A promise that the network keeps: cwnd never falls below cwnd_G while losses are recovered from.
TEST(TcpTransfer, GtcpKeepsTheReservedWindowThroughFastRecovery) {
  TcpParams p = flow(TcpFlavour::gtcp, 0);
  p.initial_ssthresh = 20'000;
  Transfer t(p, {.ack = AckPolicy::every}, false, kBegin + 60s);
  t.bottleneck(20);
  t.wire.run_until(kBegin + 5s);
  // The least RTT is the handshake's: 40 ms and 60 bytes at 10 Mbit/s.
  EXPECT_NEAR(static_cast<double>(t.sent().cwnd_guaranteed), 0.5e6 * 0.040048 * 1448 / 1500, 2);
  const std::uint64_t losses = t.sent().loss_events, timeouts = t.sent().timeouts;
  std::uint64_t least = UINT64_MAX;
  t.wire.each_event = [&](Time) { least = std::min(least, t.sent().cwnd); };
  t.wire.run_until(kBegin + 60s);
  EXPECT_GE(least, t.sent().cwnd_guaranteed);
  EXPECT_GT(t.sent().loss_events, losses + 2);
  EXPECT_EQ(t.sent().timeouts, timeouts);
}

// What is reserved always arrives, of the rest one in ten is lost: what arrives is delivered, in order and
// soon.
TEST(TcpTransfer, GtcpDeliversWhatArrives) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    TcpParams p = flow(TcpFlavour::gtcp, 0);
    p.sack = seed > 2;
    p.timestamps = false;
    p.min_rto = 200ms;
    p.window = 64_MB;
    p.common.dscp = 10;
    p.common.mark = TokenBucketParams(4_Mbps, Depth::bytes(30'000));
    Transfer t(p, {.ack = AckPolicy::every, .window = 64_MB}, false, kBegin + 20s);
    t.bottleneck(1000);
    Rng rng(seed);
    t.wire.there.drop = [&](const WirePacket& w) { return w.ip()[1] >> 2 != 10 && rng.next() % 10 == 0; };
    t.wire.run_until(kBegin + 20s);
    const FlowReading r = t.received();
    EXPECT_GT(static_cast<double>(r.payload_bytes) * 8 / 20, 3.9e6) << "seed " << seed;
    EXPECT_GT(r.payload_bytes, r.received_bytes - r.received_bytes / 10) << "seed " << seed;
  }
}

// 50 segments of a window are lost at once: with SACK a round trip or two, without one for each.
TEST(TcpTransfer, SackRepairsManyLossesTogether) {
  double took[2];
  for (const bool sack : {false, true}) {
    TcpParams p = flow(TcpFlavour::newreno, 1'000'000);
    p.sack = sack;
    Transfer t(p, {.ack = AckPolicy::every});
    t.wire.there.drop = [&](const WirePacket& w) {
      return w.number > 200 && w.number < 300 && w.number % 2 == 0;
    };
    t.wire.each_event = [&](Time now) {
      if (t.received().payload_bytes < 1'000'000) took[sack] = seconds(now - kBegin);
    };
    t.wire.run(kBegin + 1h);
    t.expect_complete(1'000'000);
    EXPECT_GE(t.sent().retransmitted_packets, 49u);
  }
  EXPECT_LT(took[true], took[false] / 2);
}

// A queue that marks where it would drop: the window comes down, and nothing is lost.
TEST(TcpTransfer, MarksInsteadOfLosses) {
  for (const auto flavour : kFlavours) {
    Transfer t(flow(flavour, 3'000'000), {.ack = AckPolicy::every});
    t.bottleneck(200);
    std::uint64_t marked = 0;
    t.wire.there.alter = [&](WirePacket& p) {
      const std::span<std::uint8_t> ip = std::span(p.frame).subspan(14);
      if (p.number % 150 != 149 || (ip[1] & 3) != 2) return;
      set_ce(ip.data(), false);
      ++marked;
    };
    t.wire.run(kBegin + 1h);
    t.expect_complete(3'000'000);
    EXPECT_GT(marked, 5u);
    EXPECT_EQ(t.received().marks, marked);
    EXPECT_GE(t.sent().marks + 1, marked);
    EXPECT_EQ(t.sent().retransmitted_packets, 0u);
    EXPECT_LT(t.sent().cwnd, 200'000u);
  }
}

// A network that overwrites the field with always the same, of every packet both ways: bleached, ECT(1), CE.
TEST(TcpTransfer, MarksThatAreMangledCostNoByte) {
  for (const int ecn : {0, 1, 3}) {
    Transfer t(flow(TcpFlavour::newreno, 300'000));
    const auto mangle = [&](WirePacket& p) {
      const std::span ip = std::span(p.frame).subspan(14, 20);
      ip[1] = static_cast<std::uint8_t>((ip[1] & ~3) | ecn);
      store(ip.data() + 10, std::uint16_t{0});
      Sum sum;
      sum.add(ip);
      store(ip.data() + 10, sum.checksum_field());
    };
    t.wire.there.alter = t.wire.back.alter = mangle;
    t.wire.there.drop = [](const WirePacket& p) { return p.number % 50 == 49; };
    t.wire.run(kBegin + 1h);
    t.expect_complete(300'000);
    EXPECT_EQ(t.sent().marks > 0, ecn == 3);
    EXPECT_GT(t.sent().loss_events, 0u) << "losses tell as before";
  }
}

// Without a reserved rate: the very same packets at the very same times.
TEST(TcpTransfer, GtcpWithoutAReservationSendsNewRenosPackets) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<WirePacket> log[2];
    for (const bool gtcp : {false, true}) {
      TcpParams p = flow(gtcp ? TcpFlavour::gtcp : TcpFlavour::newreno, 700'000);
      p.reserved = {};
      p.initial_window = 2;
      Transfer t(p);
      Rng rng(seed);
      t.wire.there.drop = [&](const WirePacket&) { return rng.uniform() < 0.04; };
      t.wire.there.keep = true;
      t.wire.run(kBegin + 1h);
      t.expect_complete(700'000);
      log[gtcp] = std::move(t.wire.there.log);
    }
    ASSERT_EQ(log[0].size(), log[1].size());
    for (std::size_t i = 0; i < log[0].size(); ++i) {
      ASSERT_EQ(log[0][i].sent, log[1][i].sent) << i;
      ASSERT_EQ(log[0][i].frame, log[1][i].frame) << i;
    }
  }
}

// The papers' fixed window: `window: 20 packets` never has more in flight.
TEST(TcpTransfer, AFixedWindowIsTheMostInFlight) {
  TcpParams p = flow(TcpFlavour::newreno, 2'000'000);
  p.window_packets = 20;
  Transfer t(p, {.ack = AckPolicy::every});
  std::uint64_t most = 0;
  t.wire.each_event = [&](Time) { most = std::max(most, t.sent().in_flight); };
  t.wire.run(kBegin + 1h);
  t.expect_complete(2'000'000);
  EXPECT_EQ(most, 20u * 1448);
  EXPECT_LE(t.sent().cwnd, 21u * 1448) << "a window that is not used does not grow";
}

TEST(TcpTransfer, StopsInOrderAtItsTime) {
  Transfer t(flow(TcpFlavour::newreno, 0), {}, false, kBegin + 2s);
  t.wire.there.rate = 1_Mbps;
  t.wire.run(kBegin + 1h);
  EXPECT_GT(t.sent().payload_bytes, 200'000u);
  t.expect_complete(t.sent().payload_bytes);
}

TEST(TcpTransfer, TheHostMarkerDecidesEachPacketsDscp) {
  TcpParams p = flow(TcpFlavour::reno, 0);
  p.window_packets = 20;
  p.common.dscp = 10;
  p.common.dscp_out = 14;
  p.common.mark = TokenBucketParams(1_Mbps, Depth::bytes(3000));
  Transfer t(p, {.ack = AckPolicy::every}, false, kBegin + 10s);
  t.wire.there.rate = 2_Mbps;
  t.wire.there.keep = true;
  t.wire.run_until(kBegin + 10s);
  std::uint64_t in = 0, in_bytes = 0;
  for (const WirePacket& w : t.wire.there.log) {
    const std::uint8_t dscp = w.ip()[1] >> 2;
    ASSERT_TRUE(dscp == 10 || dscp == 14);
    if (dscp == 10) ++in, in_bytes += w.ip().size();
  }
  EXPECT_EQ(t.sent().sent_in_packets, in);
  EXPECT_EQ(t.sent().sent_packets, t.wire.there.log.size());
  EXPECT_NEAR(static_cast<double>(in_bytes) * 8 / 10, 1e6, 0.005e6);
}

}  // namespace
}  // namespace surety::endpoints
