// SPDX-License-Identifier: BSD-3-Clause
// Both ends of our TCP on one wire, in virtual time: whatever the network does, the stream arrives, and it is
// the stream that was sent.
#include <gtest/gtest.h>

#include "conditioners/rng.h"
#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/tcp_sender.h"
#include "tests/unit/endpoints/endpoint_wire.h"
#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr std::uint64_t kPayload = 300'000;

struct Transfer {
  SinkParams sink;
  TcpParams params;
  bool v6 = false;
  std::optional<TcpSender> sender;
  std::optional<TcpReceiver> receiver;
  std::optional<Wire> wire;

  Transfer() { params.common.total_payload = kPayload; }

  void run(std::function<void(Wire&)> network) {
    const Tuple here = sink_tuple(v6);
    sender.emplace(params, reversed(here), Schedule{}, 1);
    wire.emplace(*sender, [this, here](const IpPacket& p, Time now) -> Engine* {
      if (TcpAcceptor::check_syn(p) != Refusal::none) return nullptr;
      return &receiver.emplace(sink, here, p, now, 2);
    });
    network(*wire);
    wire->run(Time(std::chrono::hours(2)));
  }

  void arrived() const {
    ASSERT_TRUE(receiver);
    FlowReading r;
    receiver->read(r);
    EXPECT_EQ(r.payload_bytes, kPayload);
    EXPECT_EQ(r.mismatched_bytes, 0u);
    EXPECT_EQ(sender->state(), FlowState::closed);
    EXPECT_EQ(receiver->state(), FlowState::closed);
    EXPECT_EQ(sender->failure(), Failure::none);
    EXPECT_EQ(receiver->failure(), Failure::none);
  }
};

std::function<bool(const WirePacket&)> losing(std::uint64_t seed, double probability) {
  return [rng = Rng(seed), probability](const WirePacket&) mutable { return rng.uniform() < probability; };
}

TEST(TcpTransfer, WithoutLossEveryPacketIsNeededOnce) {
  for (const bool v6 : {false, true})
    for (const AckPolicy policy : {AckPolicy::every, AckPolicy::delayed}) {
      Transfer t;
      t.v6 = v6;
      t.sink.ack = policy;
      t.run([](Wire&) {});
      t.arrived();
      EXPECT_TRUE(t.wire->refused_left.empty() && t.wire->refused_right.empty());
      FlowReading r;
      t.receiver->read(r);
      EXPECT_EQ(r.duplicate_packets, 0u);
      EXPECT_EQ(r.loss_events, 0u);
    }
}

TEST(TcpTransfer, RandomLossInBothDirections) {
  for (const double probability : {0.01, 0.05, 0.2})
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      for (const AckPolicy policy : {AckPolicy::every, AckPolicy::delayed}) {
        Transfer t;
        t.sink.ack = policy;
        t.params.retries = 100;
        t.run([&](Wire& w) {
          w.there.drop = losing(seed, probability);
          w.back.drop = losing(seed + 100, probability);
        });
        FlowReading r;
        t.receiver->read(r);
        EXPECT_EQ(r.payload_bytes, kPayload) << probability << ' ' << seed;
        EXPECT_EQ(r.mismatched_bytes, 0u);
        EXPECT_EQ(t.sender->state(), FlowState::closed);
        EXPECT_EQ(t.receiver->state(), FlowState::closed);
      }
}

// Packets of this direction take one of several ways, drawn for each.
void reorder(Pipe& pipe, std::uint64_t seed) {
  pipe.drop = [&pipe, rng = Rng(seed)](const WirePacket&) mutable {
    pipe.delay = std::chrono::milliseconds(5 + rng.next() % 5 * 4);
    return false;
  };
}

TEST(TcpTransfer, Reordering) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Transfer t;
    t.run([&](Wire& w) {
      reorder(w.there, seed);
      reorder(w.back, seed + 100);
    });
    t.arrived();
  }
}

// An engine behind a link that delivers some packets twice.
class Twice : public Engine {
 public:
  Twice(Engine& e, std::uint64_t seed) : e_(&e), rng_(seed) {}
  Refusal receive(const IpPacket& p, Time now) override {
    if (rng_.next() % 10 == 0) e_->receive(p, now);
    return e_->receive(p, now);
  }
  std::size_t poll(Room room, Time now) override { return e_->poll(room, now); }
  Time next_wakeup() const override { return e_->next_wakeup(); }
  void close(Time now) override { e_->close(now); }
  FlowState state() const override { return e_->state(); }
  void read(FlowReading& out) const override { e_->read(out); }

 private:
  Engine* e_;
  Rng rng_;
};

TEST(TcpTransfer, Duplication) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Transfer t;
    const Tuple here = sink_tuple();
    t.sender.emplace(t.params, reversed(here), Schedule{}, 1);
    Twice left(*t.sender, seed);
    std::optional<Twice> right;
    Wire wire(left, [&](const IpPacket& p, Time now) -> Engine* {
      if (TcpAcceptor::check_syn(p) != Refusal::none) return nullptr;
      return &right.emplace(t.receiver.emplace(t.sink, here, p, now, 2), seed + 100);
    });
    wire.run(Time(std::chrono::hours(2)));
    t.arrived();
    FlowReading r;
    t.receiver->read(r);
    EXPECT_GT(r.duplicate_packets, 0u);
  }
}

TEST(TcpTransfer, FlippedBitsCostNoByte) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Transfer t;
    t.run([&](Wire& w) {
      w.there.alter = [rng = Rng(seed)](WirePacket& p) mutable {
        if (rng.next() % 20 != 0 || p.frame.size() < 100) return;
        p.frame[60 + rng.next() % (p.frame.size() - 60)] ^= static_cast<std::uint8_t>(1 << rng.next() % 8);
      };
    });
    t.arrived();
    EXPECT_FALSE(t.wire->refused_right.empty());
    EXPECT_EQ(t.wire->refused_right.front(), Refusal::checksum);
  }
}

TEST(TcpTransfer, EveryPacketLostInTurn) {
  for (std::uint64_t lost = 0; lost < 60; ++lost) {
    Transfer t;
    t.params.common.total_payload = 50'000;
    t.run([&](Wire& w) { w.there.drop = [lost](const WirePacket& p) { return p.number == lost; }; });
    FlowReading r;
    t.receiver->read(r);
    EXPECT_EQ(r.payload_bytes, 50'000u) << lost;
    EXPECT_EQ(t.receiver->state(), FlowState::closed) << lost;
    EXPECT_EQ(t.sender->failure(), Failure::none) << lost;
  }
}

TEST(TcpTransfer, EveryAnswerLostInTurn) {
  for (std::uint64_t lost = 0; lost < 40; ++lost) {
    Transfer t;
    t.params.common.total_payload = 50'000;
    t.run([&](Wire& w) { w.back.drop = [lost](const WirePacket& p) { return p.number == lost; }; });
    FlowReading r;
    t.receiver->read(r);
    EXPECT_EQ(r.payload_bytes, 50'000u) << lost;
    EXPECT_EQ(t.receiver->state(), FlowState::closed) << lost;
    EXPECT_EQ(t.sender->failure(), Failure::none) << lost;
  }
}

TEST(TcpTransfer, AWindowOfOneSegment) {
  Transfer t;
  t.sink.window = Bytes(1000);
  t.run([](Wire&) {});
  t.arrived();
  EXPECT_TRUE(t.wire->refused_right.empty());
}

TEST(TcpTransfer, WithoutTimestampsAndScale) {
  Transfer t;
  t.params.timestamps = t.params.window_scale = false;
  t.run([](Wire& w) { w.there.drop = losing(1, 0.02); });
  t.arrived();
}

}  // namespace
}  // namespace surety::endpoints
