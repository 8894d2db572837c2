// SPDX-License-Identifier: BSD-3-Clause
// TcpAcceptor of tcp_receiver.h.
#include <gtest/gtest.h>

#include "endpoints/tcp/tcp_receiver.h"
#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

TEST(TcpAcceptor, MakesAReceiverInTheRoomGiven) {
  alignas(64) std::uint8_t room[kEngineBytes];
  ScriptedSender peer;
  TcpAcceptor acceptor(peer.params, 1);
  Refusal refusal = Refusal::state;
  const Crafted c = crafted(peer.syn(), reversed(peer.tuple));
  Engine* const e = acceptor.accept(room, peer.tuple, c.packet, peer.now, refusal);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(static_cast<void*>(e), static_cast<void*>(room));
  EXPECT_EQ(refusal, Refusal::none);
  EXPECT_EQ(polled(*e, peer.now).at(0).flags, tcp::kSyn | tcp::kAck);
  e->~Engine();
}

TEST(TcpAcceptor, InitialSequenceNumbersDifferButRepeatWithTheSeed) {
  const auto isn = [](std::uint64_t seed) {
    ScriptedSender peer;
    TcpAcceptor acceptor(peer.params, seed);
    const Crafted c = crafted(peer.syn(), reversed(peer.tuple));
    std::vector<std::uint32_t> out;
    for (int i = 0; i < 2; ++i) {
      alignas(64) std::uint8_t room[kEngineBytes];
      Refusal refusal;
      Engine* const e = acceptor.accept(room, peer.tuple, c.packet, peer.now, refusal);
      out.push_back(polled(*e, peer.now).at(0).sequence);
      e->~Engine();
    }
    return out;
  };
  EXPECT_EQ(isn(1), isn(1));
  EXPECT_NE(isn(1), isn(2));
  EXPECT_NE(isn(1)[0], isn(1)[1]);
}

TEST(TcpAcceptor, OnlyASynBeginsAFlow) {
  ScriptedSender peer;
  TcpAcceptor acceptor(peer.params, 1);
  alignas(64) std::uint8_t room[kEngineBytes];
  const auto refusal = [&](const Crafted& c) {
    Refusal r = Refusal::none;
    EXPECT_EQ(acceptor.accept(room, peer.tuple, c.packet, peer.now, r), nullptr);
    return r;
  };
  for (const int flags : {tcp::kAck + 0, tcp::kSyn | tcp::kAck, tcp::kRst + 0, tcp::kFin | tcp::kAck}) {
    tcp::Segment s = peer.syn();
    s.flags = static_cast<std::uint8_t>(flags);
    EXPECT_EQ(refusal(crafted(s, reversed(peer.tuple))), Refusal::state) << flags;
  }
  Crafted c = crafted(peer.syn(), reversed(peer.tuple));
  c.frame.back() ^= 1;
  EXPECT_EQ(refusal(c), Refusal::checksum);
}

}  // namespace
}  // namespace surety::endpoints
