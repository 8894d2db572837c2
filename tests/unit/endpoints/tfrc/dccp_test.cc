// SPDX-License-Identifier: BSD-3-Clause
// Whole conversations of a sender and its sink in virtual time, over real frames.
#include <gtest/gtest.h>

#include "conditioners/rng.h"
#include "endpoints/tfrc/tfrc.h"
#include "router/pipeline/wire/rewrite.h"
#include "tests/unit/endpoints/tfrc/dccp_peer.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using dccp::Type;

constexpr Time at(Duration d) {
  return Time{} + d;
}

DccpParams offering(Rate application) {
  DccpParams p;
  p.tfrc.application = application;
  return p;
}

dccp::Type type_of(const WirePacket& p) {
  const std::size_t l4 = p.frame[14] >> 4 == 6 ? 40 : 20;
  return static_cast<Type>(p.ip()[l4 + 8] >> 1 & 15);
}
std::vector<std::pair<Type, Time>> sent_on(const Pipe& pipe) {
  std::vector<std::pair<Type, Time>> all;
  for (const WirePacket& p : pipe.log) all.emplace_back(type_of(p), p.sent);
  return all;
}

// Bits per second of IP packets that arrive from `from` to `to`.
double throughput(Conversation& c, Duration from, Duration to) {
  c.wire.run_until(at(from));
  const std::uint64_t before = c.at_receiver().received_bytes;
  c.wire.run_until(at(to));
  return static_cast<double>(c.at_receiver().received_bytes - before) * 8 / seconds(to - from);
}

std::function<bool(const WirePacket&)> random_loss(double share) {
  return [rng = Rng(7), share](const WirePacket&) mutable { return rng.uniform() < share; };
}

class DccpOpening : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Families, DccpOpening, testing::Bool());

TEST_P(DccpOpening, AConversationFromRequestToReset) {
  Conversation c(offering(120_kbps), {at(100ms), at(1s)}, GetParam());
  c.wire.there.keep = c.wire.back.keep = true;
  c.wire.run(at(10s));
  EXPECT_EQ(c.sender.state(), FlowState::closed);
  EXPECT_EQ(c.receiver->state(), FlowState::closed);
  EXPECT_EQ(c.sender.failure(), Failure::none);
  EXPECT_EQ(c.receiver->failure(), Failure::none);
  EXPECT_TRUE(c.wire.refused_left.empty());
  EXPECT_TRUE(c.wire.refused_right.empty());

  // Ten packets of 1500 bytes a second; the first ones are due when the connection opens.
  using Sent = std::vector<std::pair<Type, Time>>;
  EXPECT_EQ(sent_on(c.wire.there), (Sent{{Type::request, at(100ms)},
                                         {Type::ack, at(120ms)},
                                         {Type::data_ack, at(120ms)},
                                         {Type::data, at(200ms)},
                                         {Type::data, at(300ms)},
                                         {Type::data, at(400ms)},
                                         {Type::data, at(500ms)},
                                         {Type::data, at(600ms)},
                                         {Type::data, at(700ms)},
                                         {Type::data, at(800ms)},
                                         {Type::data, at(900ms)},
                                         {Type::close, at(1s)}}));
  const Sent back = sent_on(c.wire.back);
  ASSERT_EQ(back.size(), 11u);
  EXPECT_EQ(back[0], std::pair(Type::response, at(110ms)));
  EXPECT_EQ(back[1], std::pair(Type::ack, at(130ms)));  // feedback for the first packet
  EXPECT_EQ(back[2], std::pair(Type::ack, at(210ms)));  // slower than a packet per RTT: each is acknowledged
  EXPECT_EQ(back[10], std::pair(Type::reset, at(1010ms)));

  const FlowReading there = c.at_sender(), here = c.at_receiver();
  EXPECT_EQ(there.sent_packets, 9u);
  EXPECT_EQ(there.sent_bytes, 9 * 1500u);
  EXPECT_EQ(there.sent_in_packets, 9u);
  EXPECT_EQ(here.received_packets, 9u);
  EXPECT_EQ(here.received_bytes, 9 * 1500u);
  const unsigned ip = GetParam() ? 40 : 20;
  EXPECT_EQ(here.payload_bytes, 9 * (1500 - ip - 24) - 8u);  // the DataAck's header is 8 bytes longer
  EXPECT_EQ(here.lost_packets, 0u);
  EXPECT_EQ(here.loss_event_rate, 0.0);
  EXPECT_NEAR(here.one_way_delay_sum, 9 * 0.01, 1e-9);
  EXPECT_NEAR(seconds(there.rtt), 0.020, 2e-5);
}

// A sender that died without a word comes again with the same ports, with the old initial sequence number or
// with another: the sink's old connection finds out by Sync and Reset (RFC 4340 7.5.5, 8.5), and makes room
// for the new one.
TEST(Dccp, ARestartedSenderIsNotLockedOutByItsOldConnection) {
  for (const std::uint64_t seed : {1u, 77u}) {
    SCOPED_TRACE(seed);
    Conversation old(offering(1_Mbps), {at(0s), kNever});
    old.wire.there.delay = old.wire.back.delay = 5ms;
    old.wire.run_until(at(2s));
    ASSERT_EQ(old.receiver->state(), FlowState::open);
    DccpSender again(old.params, dccp_tuple(false), {at(3s), kNever}, seed);
    Wire wire(again, [&](const IpPacket&, Time) -> Engine* { return old.receiver; });
    wire.there.delay = wire.back.delay = 5ms;
    wire.run_until(at(20s));
    EXPECT_EQ(old.receiver->state(), FlowState::closed);
    EXPECT_EQ(old.receiver->failure(), Failure::reset);
  }
}

// Each packet of the opening lost in turn, in either direction: it opens all the same, and ends in order.
TEST(Dccp, OpensWhicheverPacketIsLost) {
  for (const bool there : {true, false}) {
    for (std::uint64_t lost = 0; lost < 8; ++lost) {
      SCOPED_TRACE((there ? "there " : "back ") + std::to_string(lost));
      Conversation c(offering(120_kbps), {at(0s), at(12s)});
      (there ? c.wire.there : c.wire.back).drop = [lost](const WirePacket& p) { return p.number == lost; };
      c.wire.run(at(60s));
      ASSERT_NE(c.receiver, nullptr);
      EXPECT_EQ(c.sender.state(), FlowState::closed);
      EXPECT_EQ(c.sender.failure(), Failure::none);
      EXPECT_EQ(c.receiver->state(), FlowState::closed);
      // What the application offered while connecting is sent as soon as that is possible.
      EXPECT_GE(c.at_receiver().received_packets, 117u);
    }
  }
}

TEST(Dccp, OpensThroughHeavyLoss) {
  Conversation c(offering(120_kbps), {at(0s), at(60s)});
  c.wire.there.drop = random_loss(0.3);
  c.wire.back.drop = random_loss(0.3);
  c.wire.run(at(200s));
  EXPECT_EQ(c.sender.state(), FlowState::closed);
  EXPECT_GT(c.at_receiver().received_packets, 100u);
}

TEST(Dccp, FillsABottleneck) {
  Conversation c(DccpParams{});
  c.wire.there.rate = 1_Mbps;
  c.wire.there.queue = 50;
  EXPECT_GE(throughput(c, 20s, 100s), 0.95e6);
}

TEST(Dccp, RandomLossGivesTheRateOfTheEquation) {
  Conversation c(DccpParams{});
  c.wire.there.delay = c.wire.back.delay = 50ms;
  c.wire.there.drop = random_loss(0.01);
  const double measured = throughput(c, 100s, 500s);
  // Independent losses that rarely share a round trip: p is just below 1 %.
  const double expected = 8 * tfrc_throughput(1500_B, 100ms, 0.01);
  EXPECT_GT(measured, 0.85 * expected);
  EXPECT_LT(measured, 1.15 * expected);
  const FlowReading there = c.at_sender(), here = c.at_receiver();
  EXPECT_NEAR(static_cast<double>(here.lost_packets), 0.01 * static_cast<double>(there.sent_packets),
              0.1 * static_cast<double>(here.lost_packets));
  // The sender's knowledge of what arrived and what was lost, from feedback alone.
  EXPECT_NEAR(static_cast<double>(there.payload_bytes), static_cast<double>(here.payload_bytes),
              0.02 * static_cast<double>(here.payload_bytes));
  EXPECT_NEAR(static_cast<double>(there.loss_events), static_cast<double>(here.loss_events), 3);
  EXPECT_GE(there.lost_packets + 3, here.lost_packets);
  EXPECT_LT(there.lost_packets, 2 * here.lost_packets);  // what arrived between two losses of an event counts
}

// As the rate under losses, and everything arrives.
TEST(Dccp, RandomMarksGiveTheRateOfTheEquation) {
  Conversation c(DccpParams{});
  c.wire.there.delay = c.wire.back.delay = 50ms;
  c.wire.there.alter = [random = random_loss(0.01)](WirePacket& p) {
    if (!random(p) || (p.frame[15] & 3) != 2) return;
    set_ce(p.frame.data() + 14, false);
  };
  const double measured = throughput(c, 100s, 500s);
  const double expected = 8 * tfrc_throughput(1500_B, 100ms, 0.01);
  EXPECT_GT(measured, 0.85 * expected);
  EXPECT_LT(measured, 1.15 * expected);
  const FlowReading there = c.at_sender(), here = c.at_receiver();
  EXPECT_EQ(here.lost_packets, 0u);
  EXPECT_NEAR(static_cast<double>(here.marks), 0.01 * static_cast<double>(there.sent_packets),
              0.1 * static_cast<double>(here.marks));
  EXPECT_NEAR(static_cast<double>(there.loss_events), static_cast<double>(here.loss_events), 3);
}

TEST(Dccp, AGuaranteeHoldsUnderLoss) {
  DccpParams p;
  p.tfrc.guarantee = 800_kbps;
  Conversation c(p);
  c.wire.there.delay = c.wire.back.delay = 320ms;
  c.wire.there.drop = random_loss(0.05);
  EXPECT_NEAR(throughput(c, 30s, 330s), 0.95 * 800e3, 0.01 * 800e3);

  Conversation plain(DccpParams{});
  plain.wire.there.delay = plain.wire.back.delay = 320ms;
  plain.wire.there.drop = random_loss(0.05);
  EXPECT_LT(throughput(plain, 30s, 330s), 150e3);
}

TEST(Dccp, RepairDeliversTheGuaranteeUnderLoss) {
  DccpParams p;
  p.tfrc.guarantee = 800_kbps;
  p.tfrc.repair = 880_kbps;
  Conversation c(p);
  c.wire.there.delay = c.wire.back.delay = 320ms;
  c.wire.there.drop = random_loss(0.05);
  EXPECT_NEAR(throughput(c, 30s, 330s), 800e3, 0.01 * 800e3);
  c.wire.there.drop = random_loss(0.3);  // beyond what it may make up for
  EXPECT_NEAR(throughput(c, 360s, 660s), 0.7 * 880e3, 0.02 * 880e3);
}

// After losses, which keep X below g, the delay grows by 200 ms in each second, as in a queue that fills.
TEST(Dccp, RepairTakesAGrowingDelayForNoLoss) {
  DccpParams p;
  p.tfrc.guarantee = 2_Mbps;
  p.tfrc.repair = 4_Mbps;
  Conversation c(p);
  c.wire.there.delay = c.wire.back.delay = 320ms;
  c.wire.there.drop = random_loss(0.05);
  c.wire.run_until(at(30s));
  c.wire.there.drop = nullptr;
  c.wire.run_until(at(60s));  // 5000 packets: the losses are forgotten
  EXPECT_NEAR(c.at_sender().sending.bytes_per_second(), 250e3, 250);
  c.wire.each_event = [&](Time now) { c.wire.there.delay = 320ms + (now - at(60s)) / 5; };
  c.wire.run_until(at(65s));
  EXPECT_EQ(c.at_receiver().lost_packets, c.wire.there.dropped);
  EXPECT_NEAR(c.at_sender().sending.bytes_per_second(), 250e3, 250);
}

TEST(Dccp, WindowCounterCountsQuartersOfTheRoundTrip) {
  Conversation c(offering(2_Mbps), {at(0s), at(3s)});
  c.wire.there.delay = c.wire.back.delay = 50ms;
  c.wire.there.keep = c.wire.back.keep = true;
  c.wire.run_until(at(2s));
  const auto counter_at = [&](Duration when) {
    for (const WirePacket& p : c.wire.there.log)
      if (p.sent >= at(when)) return p.ip()[25] >> 4;
    return -1;
  };
  EXPECT_EQ((counter_at(1600ms) - counter_at(1500ms)) & 15, 4);
  EXPECT_EQ((counter_at(1800ms) - counter_at(1500ms)) & 15, 12);
  // Once per round-trip time: ten times a second.
  const auto recent = [](const WirePacket& p) { return p.sent >= at(1s); };
  const auto reports = std::ranges::count_if(c.wire.back.log, recent);
  EXPECT_GE(reports, 9);
  EXPECT_LE(reports, 11);
}

TEST(Dccp, NobodyAnswers) {
  DccpParams p;
  Conversation c(p, {at(1s), kNever});
  c.wire.there.keep = true;
  c.wire.there.drop = [](const WirePacket&) { return true; };
  c.wire.run(at(300s));
  EXPECT_EQ(c.sender.state(), FlowState::closed);
  EXPECT_EQ(c.sender.failure(), Failure::no_answer);
  using Sent = std::vector<std::pair<Type, Time>>;
  EXPECT_EQ(sent_on(c.wire.there), (Sent{{Type::request, at(1s)},
                                         {Type::request, at(2s)},
                                         {Type::request, at(4s)},
                                         {Type::request, at(8s)},
                                         {Type::request, at(16s)},
                                         {Type::request, at(32s)},
                                         {Type::reset, at(64s)}}));
  EXPECT_EQ(load_be64(c.wire.there.log.back().ip().data() + 20 + 16), 0u);  // acknowledges nothing
}

TEST(Dccp, APeerThatVanishesIsGivenUp) {
  Conversation c(DccpParams{});
  c.wire.there.rate = 1_Mbps;
  c.wire.there.queue = 50;
  c.wire.back.keep = true;
  c.wire.run_until(at(5s));
  c.wire.there.drop = [](const WirePacket&) { return true; };
  c.wire.run_until(at(7s));  // the queue, 0.6 s of it, has arrived
  const Time heard = c.wire.back.log.back().sent + 10ms;
  c.wire.there.keep = true;
  c.wire.run_until(at(450s));
  const auto& log = c.wire.there.log;
  EXPECT_EQ(log[log.size() - 1].sent - log[log.size() - 2].sent, 64s);  // s / t_mbi
  EXPECT_EQ(c.sender.state(), FlowState::open);
  c.wire.run(at(1000s));
  EXPECT_EQ(c.sender.failure(), Failure::timeout);
  EXPECT_EQ(type_of(log.back()), Type::reset);
  EXPECT_EQ(log.back().sent, heard + dccp::kPeerTimeout);
  EXPECT_EQ(c.receiver->failure(), Failure::timeout);
}

// More packets are lost in a row than the sequence window is wide: Sync and SyncAck bring the ends together.
TEST(Dccp, ABlackoutBeyondTheSequenceWindowHeals) {
  DccpParams p = offering(2_Mbps);
  p.tfrc.guarantee = 2_Mbps;  // so that the sender does not slow down
  Conversation c(p);
  c.wire.back.keep = true;
  c.wire.run_until(at(2s));
  c.wire.there.drop = [](const WirePacket&) { return true; };
  c.wire.run_until(at(12s));
  c.wire.there.drop = nullptr;
  const std::uint64_t before = c.at_receiver().received_packets;
  c.wire.run_until(at(14s));
  EXPECT_EQ(std::ranges::count_if(c.wire.back.log, [](const auto& w) { return type_of(w) == Type::sync; }), 4)
      << "one for each packet that was under way until the first was answered";
  // 166 packets a second, less those of the round trip that the Sync took.
  EXPECT_GT(c.at_receiver().received_packets - before, 2 * 166u - 20);
  EXPECT_EQ(c.wire.refused_right.front(), Refusal::dccp_sequence);
}

TEST(Dccp, DeliversATotalAndCloses) {
  DccpParams p;
  p.common.total_payload = 100'000;
  Conversation c(p);
  c.wire.run(at(60s));
  EXPECT_EQ(c.at_receiver().payload_bytes, 100'000u);
  EXPECT_EQ(c.sender.state(), FlowState::closed);
  EXPECT_EQ(c.sender.failure(), Failure::none);
}

TEST(Dccp, TheSinkMayEndIt) {
  Conversation c(offering(120_kbps));
  c.wire.back.keep = true;
  c.wire.run_until(at(1s));
  c.receiver->close(at(1s));
  EXPECT_EQ(c.receiver->state(), FlowState::closing);
  c.wire.run(at(5s));
  EXPECT_EQ(c.sender.state(), FlowState::closed);
  EXPECT_EQ(c.receiver->state(), FlowState::closed);
  EXPECT_EQ(c.sender.failure(), Failure::none);
  EXPECT_EQ(c.receiver->failure(), Failure::none);
  EXPECT_EQ(type_of(c.wire.back.log.back()), Type::reset);
}

// What the host does for DCCP in UDP, around an engine.
class Decapsulated final : public Engine {
 public:
  explicit Decapsulated(Engine& inner) : inner_(inner) {}
  static IpPacket stripped(IpPacket p) {
    Sum s = pseudo_header(p);
    s.add(p.payload);
    EXPECT_TRUE(s.valid());
    EXPECT_NE(load_be16(p.payload.data() + 6), 0);
    p.udp_source = load_be16(p.payload.data());
    p.udp_destination = load_be16(p.payload.data() + 2);
    p.payload = p.payload.subspan(8);
    p.protocol = dccp::kProtocol;
    return p;
  }
  Refusal receive(const IpPacket& p, Time now) override { return inner_.receive(stripped(p), now); }
  std::size_t poll(Room room, Time now) override { return inner_.poll(room, now); }
  Time next_wakeup() const override { return inner_.next_wakeup(); }
  void close(Time now) override { inner_.close(now); }
  FlowState state() const override { return inner_.state(); }
  void read(FlowReading& out) const override { inner_.read(out); }

 private:
  Engine& inner_;
};

TEST_P(DccpOpening, InUdp) {
  DccpParams params = offering(120_kbps);
  params.udp = true;
  params.udp_local_port = 40001;
  const Tuple tuple = dccp_tuple(GetParam());
  DccpSender sender(params, tuple, {at(0s), at(1s)}, 1);
  const SinkParams sink;
  std::unique_ptr<DccpReceiver> receiver;
  Decapsulated left(sender);
  std::unique_ptr<Decapsulated> right;
  Wire wire(left, [&](const IpPacket& first, Time now) -> Engine* {
    receiver = std::make_unique<DccpReceiver>(sink, reversed(tuple), Decapsulated::stripped(first), now, 2);
    right = std::make_unique<Decapsulated>(*receiver);
    return right.get();
  });
  wire.there.keep = wire.back.keep = true;
  wire.run(at(10s));
  EXPECT_EQ(sender.state(), FlowState::closed);
  EXPECT_TRUE(wire.refused_left.empty());
  EXPECT_TRUE(wire.refused_right.empty());
  FlowReading r;
  receiver->read(r);
  EXPECT_EQ(r.received_packets, 10u);
  EXPECT_EQ(r.received_bytes, 15'000u);
  const std::size_t udp = GetParam() ? 40 : 20;
  for (const WirePacket& p : wire.there.log) EXPECT_EQ(load_be32(p.ip().data() + udp), 40001u << 16 | 6511);
  for (const WirePacket& p : wire.back.log) EXPECT_EQ(load_be32(p.ip().data() + udp), 6511u << 16 | 40001);
}

}  // namespace
}  // namespace surety::endpoints
