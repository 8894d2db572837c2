// SPDX-License-Identifier: BSD-3-Clause
// The sender against hand-made packets: every state, and everything that a hostile peer may say.
#include "endpoints/tfrc/dccp_sender.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/tfrc/dccp_peer.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using dccp::Packet;
using dccp::ResetCode;
using dccp::Type;
using Octets = std::vector<std::uint8_t>;
using Types = std::vector<Type>;

constexpr Time at(Duration d) {
  return Time{} + d;
}
const Octets kConfirms{35, 5, 1, 3, 3, 33, 6, 192, 1, 1, 0};

class DccpSenderTest : public testing::Test {
 protected:
  Packet of(Type type, std::uint64_t sequence, std::uint64_t ack) {
    Packet p;
    p.type = type;
    p.sequence = sequence;
    p.ack = ack;
    p.service_code = kServiceCode;
    return p;
  }
  Refusal give(const Packet& p, const Octets& options = {}, Time now = at(10ms)) {
    const Frame f = dccp_frame(reversed(dccp_tuple()), p, options);
    return sender.receive(f.packet(), now);
  }
  // Sends the Request and returns its sequence number.
  std::uint64_t request() {
    const auto frames = sent_by(sender, at(0s));
    EXPECT_EQ(types_of(frames), Types{Type::request});
    return decoded(frames.front()).sequence;
  }
  // Connected at 10 ms; the peer's Response was number 1000.
  void connect() {
    iss = request();
    ASSERT_EQ(give(of(Type::response, 1000, iss), kConfirms), Refusal::none);
    EXPECT_EQ(types_of(sent_by(sender, at(10ms))), (Types{Type::ack, Type::data_ack}));
    ASSERT_EQ(give(of(Type::ack, 1001, iss + 2)), Refusal::none);
  }
  FlowReading reading() const {
    FlowReading r;
    sender.read(r);
    return r;
  }

  DccpParams params = [] {
    DccpParams p;
    p.tfrc.application = 120_kbps;  // a packet in 100 ms
    return p;
  }();
  DccpSender sender{params, dccp_tuple(), {at(0s), at(1000s)}, 42};
  std::uint64_t iss = 0;
};

TEST_F(DccpSenderTest, NothingBeforeItsTime) {
  DccpSender later(params, dccp_tuple(), {at(5s), kNever}, 1);
  EXPECT_EQ(later.state(), FlowState::idle);
  EXPECT_EQ(later.next_wakeup(), at(5s));
  EXPECT_TRUE(sent_by(later, at(4999ms)).empty());
  EXPECT_EQ(later.receive(dccp_frame(reversed(dccp_tuple()), of(Type::reset, 1, 1)).packet(), at(1s)),
            Refusal::state);
  EXPECT_EQ(types_of(sent_by(later, at(5s))), Types{Type::request});
  EXPECT_EQ(later.state(), FlowState::connecting);
  EXPECT_EQ(later.next_wakeup(), at(6s));
}

TEST_F(DccpSenderTest, TheRequestSaysWhatItNeeds) {
  const auto frames = sent_by(sender, at(0s));
  const Packet p = decoded(frames.front());
  EXPECT_EQ(p.service_code, kServiceCode);
  // Mandatory Change L(CCID, 3); Change L(Sequence Window): 10 packets a second would do with 100, so the
  // least of ours, 1000; Change R(Send Loss Event Rate, 1); padding.
  EXPECT_EQ(Octets(p.options.begin(), p.options.end()),
            (Octets{1, 32, 4, 1, 3, 32, 9, 3, 0, 0, 0, 0, 3, 0xe8, 34, 4, 192, 1, 0, 0}));
}

// RFC 4340 12, RFC 8311 5: ECT(0), of data only.
TEST_F(DccpSenderTest, OnlyDataCanBeMarked) {
  const auto opening = sent_by(sender, at(0s));
  EXPECT_EQ(opening.front().packet().traffic_class & 3, 0);
  ASSERT_EQ(give(of(Type::response, 1000, decoded(opening.front()).sequence), kConfirms), Refusal::none);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), (Types{Type::ack, Type::data_ack}));
  EXPECT_EQ(frames[0].packet().traffic_class & 3, 0);
  EXPECT_EQ(frames[1].packet().traffic_class & 3, 2);
}

TEST_F(DccpSenderTest, APeerThatDoesNotLookAtMarksGetsNothingMarkable) {
  connect();
  Octets incapable{1, 32, 4, 4, 1};
  ASSERT_EQ(give(of(Type::ack, 1002, iss + 2), incapable), Refusal::none);
  const auto frames = sent_by(sender, at(200ms));
  ASSERT_FALSE(frames.empty());
  for (const Frame& f : frames) EXPECT_EQ(f.packet().traffic_class & 3, 0);
}

TEST_F(DccpSenderTest, WithoutEcnNothingIsMarkable) {
  params.ecn = false;
  connect();
  for (const Frame& f : sent_by(sender, at(200ms))) EXPECT_EQ(f.packet().traffic_class & 3, 0);
}

TEST_F(DccpSenderTest, SequenceWindowFitsTheRate) {
  DccpParams fast;
  fast.tfrc.guarantee = 5_Gbps;
  fast.tfrc.application = 5_Gbps;
  DccpSender s(fast, dccp_tuple(), {}, 1);
  const auto frames = sent_by(s, at(0s));
  const Packet p = decoded(frames.front());
  // Ten seconds of 416,666 packets.
  EXPECT_EQ(load_be64(p.options.data() + 6) & 0xffff'ffff'ffff, 4'166'666u);
}

TEST_F(DccpSenderTest, SeedsGiveSequenceNumbers) {
  DccpSender same(params, dccp_tuple(), {}, 42), other(params, dccp_tuple(), {}, 43);
  const std::uint64_t mine = request();
  EXPECT_EQ(decoded(sent_by(same, at(0s)).front()).sequence, mine);
  EXPECT_NE(decoded(sent_by(other, at(0s)).front()).sequence, mine);
}

TEST_F(DccpSenderTest, OnlyAResponseToOurRequestOpens) {
  const std::uint64_t request_number = request();
  EXPECT_EQ(give(of(Type::response, 1000, request_number + 1), kConfirms), Refusal::dccp_ack);
  EXPECT_EQ(give(of(Type::response, 1000, request_number - 1), kConfirms), Refusal::dccp_ack);
  EXPECT_EQ(give(of(Type::data, 1000, 0)), Refusal::state);
  EXPECT_EQ(give(of(Type::ack, 1000, request_number)), Refusal::dccp_ack);
  EXPECT_EQ(sender.state(), FlowState::connecting);
  EXPECT_TRUE(sent_by(sender, at(10ms)).empty());
  EXPECT_EQ(give(of(Type::response, 1000, request_number), kConfirms), Refusal::none);
  EXPECT_EQ(sender.state(), FlowState::open);
}

TEST_F(DccpSenderTest, AResetThatGuessesDoesNotRefuse) {
  const std::uint64_t number = request();
  Packet reset = of(Type::reset, 0, number + 1);
  reset.reset_code = ResetCode::connection_refused;
  EXPECT_EQ(give(reset), Refusal::dccp_reset);
  EXPECT_EQ(sender.state(), FlowState::connecting);
  reset.ack = number;
  EXPECT_EQ(give(reset), Refusal::none);
  EXPECT_EQ(sender.failure(), Failure::refused);
  EXPECT_EQ(sender.next_wakeup(), kNever);
}

TEST_F(DccpSenderTest, AnotherServiceIsRefused) {
  const std::uint64_t number = request();
  Packet response = of(Type::response, 1000, number);
  response.service_code = 1;
  EXPECT_EQ(give(response, kConfirms), Refusal::dccp_service);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::reset});
  EXPECT_EQ(decoded(frames.front()).reset_code, ResetCode::bad_service_code);
  EXPECT_EQ(sender.failure(), Failure::refused);
}

TEST_F(DccpSenderTest, WithoutCcid3ThereIsNoFlow) {
  for (const Octets& options : {Octets{}, Octets{35, 3, 1}, Octets{35, 4, 1, 2}}) {
    DccpSender s(params, dccp_tuple(), {}, 42);
    const std::uint64_t number = decoded(sent_by(s, at(0s)).front()).sequence;
    const Frame f = dccp_frame(reversed(dccp_tuple()), of(Type::response, 1, number), options);
    EXPECT_EQ(s.receive(f.packet(), at(1ms)), Refusal::dccp_feature);
    const auto frames = sent_by(s, at(1ms));
    ASSERT_EQ(types_of(frames), Types{Type::reset});
    EXPECT_EQ(decoded(frames.front()).reset_code, ResetCode::option_error);
    EXPECT_EQ(s.failure(), Failure::refused);
  }
}

// The peer has an old connection with these ports (RFC 4340 8.5): its Sync is answered with a Reset that it
// will believe, and the connection opens at the next Request.
TEST_F(DccpSenderTest, AnOldConnectionOfThePeerIsReset) {
  const std::uint64_t number = request();
  EXPECT_EQ(give(of(Type::sync, 5555, number + 99)), Refusal::dccp_ack);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::reset});
  const Packet reset = decoded(frames.front());
  EXPECT_EQ(reset.sequence, number + 100);
  EXPECT_EQ(reset.ack, 5555u);
  EXPECT_EQ(reset.reset_code, ResetCode::packet_error);
  EXPECT_EQ(sender.state(), FlowState::connecting);
  const auto again = sent_by(sender, at(1s));
  EXPECT_EQ(decoded(again.front()).sequence, number + 1);
}

TEST_F(DccpSenderTest, ClosingWhileConnectingAborts) {
  request();
  sender.close(at(5ms));
  const auto frames = sent_by(sender, at(5ms));
  ASSERT_EQ(types_of(frames), Types{Type::reset});
  EXPECT_EQ(decoded(frames.front()).reset_code, ResetCode::aborted);
  EXPECT_EQ(decoded(frames.front()).ack, 0u);
  EXPECT_EQ(sender.state(), FlowState::closed);
  EXPECT_EQ(sender.failure(), Failure::none);
}

TEST_F(DccpSenderTest, CloseIsRepeatedAndGivenUp) {
  connect();
  sender.close(at(20ms));
  sender.close(at(20ms));  // idempotent
  EXPECT_EQ(sender.state(), FlowState::closing);
  // Two round-trip times are less than the least interval, 200 ms.
  Time due = at(20ms);
  for (const Duration wait : {0ms, 200ms, 400ms, 800ms, 1600ms, 3200ms}) {
    due += wait;
    EXPECT_TRUE(wait == 0ms || sent_by(sender, due - 1ns).empty());
    EXPECT_EQ(types_of(sent_by(sender, due)), Types{Type::close});
  }
  EXPECT_TRUE(sent_by(sender, due + 6400ms).empty());
  EXPECT_EQ(sender.state(), FlowState::closed);
  EXPECT_EQ(sender.failure(), Failure::timeout);
}

TEST_F(DccpSenderTest, AResetClosesOnlyInSequence) {
  connect();
  Packet reset = of(Type::reset, 1001, iss + 2);  // not above GSR
  reset.reset_code = ResetCode::aborted;
  EXPECT_EQ(give(reset), Refusal::dccp_reset);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::sync});
  EXPECT_EQ(decoded(frames.front()).ack, 1001u);  // GSR
  reset.sequence = 1002;
  reset.ack = iss + 1;  // below GAR
  EXPECT_EQ(give(reset), Refusal::dccp_reset);
  reset.sequence = 1002 + 75;  // above SWH
  reset.ack = iss + 2;
  EXPECT_EQ(give(reset), Refusal::dccp_reset);
  EXPECT_EQ(sender.state(), FlowState::open);
  reset.sequence = 1002;
  EXPECT_EQ(give(reset), Refusal::none);
  EXPECT_EQ(sender.failure(), Failure::reset);
}

TEST_F(DccpSenderTest, OutOfSequenceIsAnsweredWithSyncEightTimesASecond) {
  connect();
  int syncs = 0;
  for (int ms = 20; ms < 1020; ++ms) {
    EXPECT_EQ(give(of(Type::ack, 5000, iss + 2), {}, at(ms * 1ms)), Refusal::dccp_sequence);
    for (const Frame& f : sent_by(sender, at(ms * 1ms))) {
      if (decoded(f).type != Type::sync) continue;
      ++syncs;
      EXPECT_EQ(decoded(f).ack, 5000u);
    }
  }
  EXPECT_EQ(syncs, 8);
}

TEST_F(DccpSenderTest, AcknowledgingWhatWasNeverSentIsRefused) {
  connect();
  EXPECT_EQ(give(of(Type::ack, 1002, iss + 3)), Refusal::dccp_ack);
  EXPECT_EQ(give(of(Type::close, 1002, iss + 3)), Refusal::dccp_ack);
  EXPECT_EQ(give(of(Type::sync, 1002, iss + 3)), Refusal::dccp_ack);  // not answered: two ends could go on so
  EXPECT_EQ(sender.state(), FlowState::open);
  EXPECT_EQ(types_of(sent_by(sender, at(10ms))), Types{Type::sync});
}

TEST_F(DccpSenderTest, SyncIsAnsweredWithSyncAck) {
  connect();
  EXPECT_EQ(give(of(Type::sync, 1010, iss + 1)), Refusal::none);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::sync_ack});
  EXPECT_EQ(decoded(frames.front()).ack, 1010u);
  // Eight a second (RFC 4340 7.5.4).
  for (std::uint64_t i = 1; i < 8; ++i) EXPECT_EQ(give(of(Type::sync, 1010 + i, iss + 1)), Refusal::none);
  EXPECT_EQ(give(of(Type::sync, 1018, iss + 1)), Refusal::dccp_sync);
  EXPECT_EQ(give(of(Type::sync, 1019, iss + 1), {}, at(1010ms)), Refusal::none);
}

TEST_F(DccpSenderTest, WhatAClientNeverGets) {
  connect();
  EXPECT_EQ(give(of(Type::request, 1002, 0)), Refusal::state);
  EXPECT_EQ(types_of(sent_by(sender, at(10ms))), Types{Type::sync});
  EXPECT_EQ(give(of(Type::response, 1003, iss), kConfirms), Refusal::state);
  EXPECT_EQ(sender.state(), FlowState::open);
}

TEST_F(DccpSenderTest, UnknownOptionsAreIgnoredUnlessMandatory) {
  connect();
  EXPECT_EQ(give(of(Type::ack, 1002, iss + 2), {99, 4, 1, 2, 230, 2, 5, 0}), Refusal::none);
  EXPECT_EQ(give(of(Type::ack, 1003, iss + 2), {1, 42, 6, 0, 0, 0, 0, 0}), Refusal::none);
  EXPECT_EQ(give(of(Type::ack, 1004, iss + 2), {1, 99, 4, 1, 2, 0, 0, 0}), Refusal::dccp_mandatory);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::reset});
  EXPECT_EQ(decoded(frames.front()).reset_code, ResetCode::mandatory_error);
  EXPECT_EQ(decoded(frames.front()).reset_data, 99);
  EXPECT_EQ(sender.failure(), Failure::reset);
}

TEST_F(DccpSenderTest, ChangesOfThePeerAreConfirmed) {
  connect();
  EXPECT_EQ(give(of(Type::ack, 1002, iss + 2), {32, 4, 77, 1, 32, 9, 3, 0, 0, 0, 0, 2, 0}), Refusal::none);
  const auto frames = sent_by(sender, at(10ms));
  ASSERT_EQ(types_of(frames), Types{Type::ack});
  const Packet p = decoded(frames.front());
  // What the Response did not confirm, the Sequence Window, is asked for again.
  EXPECT_EQ(Octets(p.options.begin(), p.options.end()),
            (Octets{32, 9, 3, 0, 0, 0, 0, 3, 0xe8, 35, 3, 77, 35, 9, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0}));
  // The window of 512 is in force: GSR + 384.
  EXPECT_EQ(give(of(Type::ack, 1002 + 384, iss + 2)), Refusal::none);
}

// Feedback: echo of tick 1000 (10 ms), elapsed 0, X_recv 50,000 bytes/s.
Octets feedback(std::uint32_t echo, std::uint32_t elapsed) {
  Octets o{194, 6, 0, 0, 0xc3, 0x50, 42, 10};
  for (const std::uint32_t v : {echo, elapsed})
    for (int shift = 24; shift >= 0; shift -= 8) o.push_back(static_cast<std::uint8_t>(v >> shift));
  return o;
}

TEST_F(DccpSenderTest, FeedbackGivesRoundTripAndRate) {
  connect();
  EXPECT_EQ(give(of(Type::ack, 1002, iss + 2), feedback(1000, 500), at(40ms)), Refusal::none);
  EXPECT_EQ(reading().x_recv.bytes_per_second(), 50'000);
  // Handshake 10 ms, then 30 ms less 5 ms elapsed: 0.9 * 10 + 0.1 * 25.
  EXPECT_NEAR(seconds(reading().rtt), 0.0115, 1e-6);
}

TEST_F(DccpSenderTest, ImpossibleFeedbackIsNotUsed) {
  connect();
  const Duration rtt = reading().rtt;
  // Echo of the future, of long before the flow, and an elapsed time above the time since.
  const Octets cases[] = {feedback(4001, 0), feedback(0x8000'0000, 0), feedback(3000, 2000)};
  std::uint64_t sequence = 1002;
  for (const Octets& options : cases)
    EXPECT_EQ(give(of(Type::ack, sequence++, iss + 2), options, at(40ms)), Refusal::none);
  EXPECT_EQ(reading().rtt, rtt);
  EXPECT_EQ(reading().x_recv, Rate{});
}

TEST_F(DccpSenderTest, OldFeedbackDoesNotUndoNewer) {
  connect();
  EXPECT_EQ(give(of(Type::ack, 1005, iss + 2), feedback(1000, 0), at(40ms)), Refusal::none);
  const Duration rtt = reading().rtt;
  EXPECT_EQ(give(of(Type::ack, 1004, iss + 2), feedback(1000, 0), at(90ms)), Refusal::none);
  EXPECT_EQ(reading().rtt, rtt);
}

TEST_F(DccpSenderTest, MarksOutBeyondItsBucket) {
  DccpParams p = params;
  p.common.dscp = 10;
  p.common.dscp_out = 12;
  p.common.mark = TokenBucketParams(60_kbps, Depth::packets(1));
  DccpSender s(p, dccp_tuple(), {}, 42);
  const std::uint64_t number = decoded(sent_by(s, at(0s)).front()).sequence;
  const Frame f = dccp_frame(reversed(dccp_tuple()), of(Type::response, 1, number), kConfirms);
  ASSERT_EQ(s.receive(f.packet(), at(0s)), Refusal::none);
  std::vector<unsigned> dscps;
  for (int i = 0; i < 5; ++i)
    for (const Frame& g : sent_by(s, at(i * 100ms)))
      if (dccp::carries_data(decoded(g).type)) dscps.push_back(g.packet().dscp());
  EXPECT_EQ(dscps, (std::vector<unsigned>{10, 12, 10, 12, 10}));
  FlowReading r;
  s.read(r);
  EXPECT_EQ(r.sent_packets, 5u);
  EXPECT_EQ(r.sent_in_packets, 3u);
}

TEST_F(DccpSenderTest, ASmallRoomIsLeftAlone) {
  connect();
  std::vector<std::uint8_t> bytes(1499);
  Slot s{bytes.data(), 1499, 0};
  EXPECT_EQ(sender.poll({&s, 1}, at(200ms)), 0u);
  EXPECT_EQ(reading().sent_packets, 1u);
}

}  // namespace
}  // namespace surety::endpoints
