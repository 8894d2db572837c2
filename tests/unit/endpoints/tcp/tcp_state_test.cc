// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_state.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

TcpState established() {
  TcpState s(TcpState::idle);
  s.on_syn_sent();
  s.on_syn_acknowledged();
  return s;
}

TEST(TcpState, OpensActively) {
  TcpState s(TcpState::idle);
  EXPECT_EQ(s.flow_state(), FlowState::idle);
  s.on_syn_sent();
  EXPECT_EQ(s, TcpState::syn_sent);
  EXPECT_EQ(s.flow_state(), FlowState::connecting);
  s.on_syn_received();
  EXPECT_EQ(s, TcpState::syn_received);
  EXPECT_FALSE(s.peer_sends());
  s.on_syn_acknowledged();
  EXPECT_EQ(s, TcpState::established);
  EXPECT_EQ(s.flow_state(), FlowState::open);
  EXPECT_TRUE(s.peer_sends());
}

TEST(TcpState, ClosesFirst) {
  TcpState s = established();
  s.on_fin_sent();
  EXPECT_EQ(s, TcpState::fin_wait_1);
  EXPECT_TRUE(s.on_fin_acknowledged());
  EXPECT_EQ(s, TcpState::fin_wait_2);
  EXPECT_EQ(s.flow_state(), FlowState::closing);
  EXPECT_TRUE(s.peer_sends());
  EXPECT_TRUE(s.on_fin_received());
  EXPECT_EQ(s, TcpState::time_wait);
  EXPECT_FALSE(s.peer_sends());
  EXPECT_EQ(s.flow_state(), FlowState::closed);
}

TEST(TcpState, ClosesAfterItsPeer) {
  TcpState s = established();
  EXPECT_TRUE(s.on_fin_received());
  EXPECT_EQ(s, TcpState::close_wait);
  EXPECT_EQ(s.flow_state(), FlowState::open) << "our half goes on";
  EXPECT_FALSE(s.peer_sends());
  s.on_fin_sent();
  EXPECT_EQ(s, TcpState::last_ack);
  EXPECT_TRUE(s.on_fin_acknowledged());
  EXPECT_EQ(s, TcpState::closed);
  EXPECT_EQ(s.failure(), Failure::none);
}

TEST(TcpState, BothCloseAtOnce) {
  TcpState s = established();
  s.on_fin_sent();
  EXPECT_TRUE(s.on_fin_received());
  EXPECT_EQ(s, TcpState::closing);
  EXPECT_TRUE(s.on_fin_acknowledged());
  EXPECT_EQ(s, TcpState::time_wait);
}

TEST(TcpState, WhatAStateDoesNotKnowChangesNothing) {
  TcpState s = established();
  EXPECT_FALSE(s.on_fin_acknowledged());
  s.on_syn_sent();
  s.on_syn_received();
  EXPECT_EQ(s, TcpState::established);
  s.on_fin_received();
  EXPECT_FALSE(s.on_fin_received());
  EXPECT_EQ(s, TcpState::close_wait);
}

TEST(TcpState, EndsAnywhere) {
  TcpState s = established();
  s.end(Failure::reset);
  EXPECT_EQ(s, TcpState::closed);
  EXPECT_EQ(s.failure(), Failure::reset);
  EXPECT_FALSE(s.on_fin_sent() || s.on_fin_acknowledged() || s.on_fin_received() || s.peer_sends());
}

}  // namespace
}  // namespace surety::endpoints
