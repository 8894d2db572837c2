// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_connection.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/endpoints/tfrc/dccp_peer.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using dccp::Packet;
using dccp::Phase;
using dccp::ResetCode;
using dccp::Type;
using Kind = SyncLimit::Kind;
using Types = std::vector<Type>;

TEST(SyncLimit, EightOfEachKindInASecond) {
  SyncLimit limit;
  const Time start(5s);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(limit.permit(Kind::invalid, start + i * 1ms));
  EXPECT_FALSE(limit.permit(Kind::invalid, start + 999ms));
  EXPECT_TRUE(limit.permit(Kind::sync, start + 999ms)) << "valid Syncs have their own eight";
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(limit.permit(Kind::invalid, start + 1s));
  EXPECT_FALSE(limit.permit(Kind::invalid, start + 1s));
}

// A client that sends nothing but what the common part makes. Its peer's first packet was number 1000; its
// own was `iss`.
class End final : public DccpConnection {
 public:
  explicit End(Phase phase = Phase::open) : DccpConnection(dccp::Role::client, dccp_tuple(), {}, 1000, 0, 1) {
    sequence_.synchronise(1000);
    iss = sequence_.next() % dccp::kSequenceModulus;
    phase_ = phase;
  }
  Refusal receive(const IpPacket&, Time) override { return Refusal::none; }
  std::size_t poll(Room room, Time) override {
    if (!control_pending()) return 0;
    write_control(room[0]);
    return 1;
  }
  Time next_wakeup() const override { return control_pending() ? Time{} : kNever; }
  void close(Time) override {}
  void read(FlowReading&) const override {}

  Packet of(Type type, std::uint64_t sequence) const {
    Packet p;
    p.type = type;
    p.sequence = sequence;
    p.ack = iss;
    return p;
  }
  Refusal give(Type type, std::uint64_t sequence, Time now = {}) { return admit(of(type, sequence), now); }
  std::vector<Frame> sent() { return sent_by(*this, Time{}); }

  using DccpConnection::admit;
  using DccpConnection::heard_;
  using DccpConnection::kAck;
  using DccpConnection::kClose;
  using DccpConnection::kSync;
  using DccpConnection::on_timer;
  using DccpConnection::pending_;
  using DccpConnection::repeat;
  using DccpConnection::repetition_;
  using DccpConnection::send_stray_reset;
  using DccpConnection::send_sync;
  std::uint64_t iss;
};

// RFC 4340 8.5, step 7: the number of the peer's first packet after its Response decides.
TEST(DccpConnection, AnOldResponseIsIgnoredANewOneAnswered) {
  End end;
  ASSERT_EQ(end.give(Type::ack, 1001), Refusal::none);
  EXPECT_EQ(end.give(Type::response, 1000), Refusal::state);
  EXPECT_TRUE(end.sent().empty()) << "repeated before the peer was open, too";
  EXPECT_EQ(end.give(Type::response, 1002), Refusal::state);
  const auto frames = end.sent();
  ASSERT_EQ(types_of(frames), Types{Type::sync});
  EXPECT_EQ(decoded(frames.front()).ack, 1002u);
}

TEST(DccpConnection, AResetIsAnOrderlyEndOnlyAsTheAnswerToAClose) {
  const auto failure = [](Phase phase, ResetCode code) {
    End end(phase);
    Packet reset = end.of(Type::reset, 1001);
    reset.reset_code = code;
    EXPECT_EQ(end.admit(reset, {}), Refusal::none);
    EXPECT_EQ(end.state(), FlowState::closed);
    return end.failure();
  };
  EXPECT_EQ(failure(Phase::closing, ResetCode::closed), Failure::none);
  EXPECT_EQ(failure(Phase::closing, ResetCode::no_connection), Failure::none) << "the first Reset was lost";
  EXPECT_EQ(failure(Phase::closing, ResetCode::aborted), Failure::reset);
  EXPECT_EQ(failure(Phase::open, ResetCode::closed), Failure::reset);
}

TEST(DccpConnection, OurResetIsRepeatedForWhatThePeerStillSends) {
  End end;
  ASSERT_EQ(end.give(Type::close, 1001), Refusal::none);
  ASSERT_EQ(types_of(end.sent()), Types{Type::reset});
  EXPECT_EQ(end.give(Type::data, 1002), Refusal::closed);
  const auto frames = end.sent();
  ASSERT_EQ(types_of(frames), Types{Type::reset});
  EXPECT_EQ(decoded(frames.front()).reset_code, ResetCode::closed);
  EXPECT_EQ(decoded(frames.front()).ack, 1002u);
  EXPECT_EQ(end.give(Type::data, 5000), Refusal::closed);
  EXPECT_TRUE(end.sent().empty()) << "not of this connection";
}

TEST(DccpConnection, AfterThePeersResetNothingIsAnswered) {
  End end;
  ASSERT_EQ(end.give(Type::reset, 1001), Refusal::none);
  EXPECT_EQ(end.give(Type::data, 1002), Refusal::closed);
  EXPECT_TRUE(end.sent().empty());
}

TEST(DccpConnection, RepeatsSixTimesAtIntervalsUpTo64Seconds) {
  End end;
  std::vector<Duration> waits;
  Time now{};
  end.repeat(End::kClose, 30s, now);
  do {
    EXPECT_EQ(types_of(end.sent()), Types{Type::close});
    waits.push_back(end.repetition_.at() - now);
    now = end.repetition_.at();
  } while (end.on_timer(now));
  EXPECT_EQ(waits, (std::vector<Duration>{30s, 60s, 64s, 64s, 64s, 64s}));
  EXPECT_TRUE(end.sent().empty());
  end.repeat(End::kClose, 100s, now);
  EXPECT_EQ(end.repetition_.at() - now, 64s);
}

// Invalid packets must not keep a flow alive whose peer is gone.
TEST(DccpConnection, OnlyValidPacketsAreHeard) {
  End end;
  ASSERT_EQ(end.give(Type::ack, 1001, Time(1s)), Refusal::none);
  EXPECT_EQ(end.give(Type::ack, 5000, Time(2s)), Refusal::dccp_sequence);
  EXPECT_EQ(end.give(Type::request, 1002, Time(3s)), Refusal::state);
  EXPECT_EQ(end.heard_, Time(1s));
  EXPECT_EQ(end.give(Type::ack, 1003, Time(4s)), Refusal::none);
  EXPECT_EQ(end.heard_, Time(4s));
}

TEST(DccpConnection, WhatEndsAConnectionNegotiatesNothing) {
  End end;
  end.pending_ = End::kAck | End::kClose;
  const auto frames = end.sent();
  ASSERT_EQ(types_of(frames), (Types{Type::ack, Type::close}));
  EXPECT_FALSE(decoded(frames[0]).options.empty()) << "the window is not confirmed";
  EXPECT_TRUE(decoded(frames[1]).options.empty());
  ASSERT_EQ(end.give(Type::close, 1001), Refusal::none);
  EXPECT_TRUE(decoded(end.sent().at(0)).options.empty());
}

TEST(DccpConnection, AResetOfAStrangeConnectionGoesFirst) {
  End end(Phase::request);
  end.pending_ = End::kAck | End::kSync;
  end.send_stray_reset(end.of(Type::ack, 77), {});
  EXPECT_EQ(types_of(end.sent()), (Types{Type::reset, Type::sync, Type::ack}));
}

TEST(DccpConnection, SyncsAndResetsThatAnswerInvalidPacketsShareTheirEight) {
  End end(Phase::request);
  for (std::uint64_t i = 0; i < 8; ++i) end.send_sync(i, {});
  ASSERT_EQ(types_of(end.sent()), Types{Type::sync});
  end.send_stray_reset(end.of(Type::ack, 77), {});
  EXPECT_TRUE(end.sent().empty());
}

}  // namespace
}  // namespace surety::endpoints
