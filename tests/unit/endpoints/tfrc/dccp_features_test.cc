// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace surety::endpoints::dccp {
namespace {

using Octets = std::vector<std::uint8_t>;
using Outcome = Features::Outcome;

Outcome give(Features& f, const Octets& options) {
  OptionReader r(options);
  Outcome outcome = Outcome::done;
  for (Option o; outcome == Outcome::done && r.next(o);) outcome = f.on_option(o);
  EXPECT_NE(r.end(), OptionReader::End::overrun);
  return outcome;
}
Octets written(Features& f, bool keep = false) {
  std::uint8_t out[Features::kMostBytes + 4];
  OptionWriter w(out);
  f.write(w, keep);
  const std::size_t n = w.finish();
  Octets all(out, out + n);
  while (!all.empty() && all.back() == 0) all.pop_back();
  return all;
}
Features client(std::uint64_t window = 0x0102'0304'0506) {
  return {Role::client, window};
}
Features server() {
  return {Role::server, kDefaultWindow};
}
const Octets kRequest{1, 32, 4, 1, 3, 32, 9, 3, 1, 2, 3, 4, 5, 6, 34, 4, 192, 1};

TEST(DccpFeatures, TheRequestAsksForWhatTheFlowNeeds) {
  Features f = client();
  EXPECT_EQ(written(f), kRequest);
  EXPECT_EQ(written(f), kRequest);  // until it is confirmed
  EXPECT_FALSE(f.ccid_agreed());
}

TEST(DccpFeatures, TheServerConfirmsIt) {
  Features f = server();
  EXPECT_EQ(give(f, kRequest), Outcome::done);
  EXPECT_TRUE(f.ccid_agreed());
  EXPECT_TRUE(f.send_loss_event_rate());
  EXPECT_EQ(f.remote_window(), 0x0102'0304'0506u);
  const Octets confirms{35, 5, 1, 3, 3, 35, 9, 3, 1, 2, 3, 4, 5, 6, 33, 6, 192, 1, 1};
  const Octets whole = written(f, true);
  ASSERT_EQ(whole.size(), confirms.size());  // the last zero of its list [1, 0] went with the padding
  EXPECT_EQ(whole, confirms);
  EXPECT_TRUE(f.confirms_pending());
  EXPECT_EQ(written(f), confirms);
  EXPECT_FALSE(f.confirms_pending());
  EXPECT_TRUE(written(f).empty());
}

TEST(DccpFeatures, ConfirmsEndTheAsking) {
  Features f = client();
  EXPECT_EQ(give(f, {35, 5, 1, 3, 3}), Outcome::done);
  EXPECT_TRUE(f.ccid_agreed());
  EXPECT_EQ(written(f), (Octets{32, 9, 3, 1, 2, 3, 4, 5, 6, 34, 4, 192, 1}));
  EXPECT_EQ(give(f, {35, 9, 3, 1, 2, 3, 4, 5, 6}), Outcome::done);
  EXPECT_EQ(give(f, {33, 6, 192, 1, 1, 0}), Outcome::done);
  EXPECT_TRUE(f.send_loss_event_rate());
  EXPECT_TRUE(written(f).empty());
}

TEST(DccpFeatures, ARefusedLossEventRateIsNotAskedForAgain) {
  for (const Octets& confirm : {Octets{33, 3, 192}, Octets{33, 5, 192, 0, 0}}) {
    Features f = client();
    EXPECT_EQ(give(f, {35, 4, 1, 3}), Outcome::done);
    EXPECT_EQ(give(f, {35, 3, 3}), Outcome::done);
    EXPECT_EQ(give(f, confirm), Outcome::done);
    EXPECT_FALSE(f.send_loss_event_rate());
    EXPECT_TRUE(written(f).empty());
  }
}

TEST(DccpFeatures, AnotherCcidForTheDataFails) {
  Features c = client();
  EXPECT_EQ(give(c, {35, 4, 1, 2}), Outcome::failed);
  Features d = client();
  EXPECT_EQ(give(d, {35, 3, 1}), Outcome::failed);  // empty: CCID unknown
  Features s = server();
  EXPECT_EQ(give(s, {32, 5, 1, 2, 4}), Outcome::failed);
  Features m = server();
  EXPECT_EQ(give(m, {1, 32, 4, 1, 2}), Outcome::mandatory);
  Features several = server();
  EXPECT_EQ(give(several, {32, 5, 1, 2, 3}), Outcome::done);
  EXPECT_TRUE(several.ccid_agreed());
  EXPECT_EQ(written(several), (Octets{35, 5, 1, 3, 3}));
}

TEST(DccpFeatures, TheOtherDirectionMayRunCcid2) {
  Features f = server();
  EXPECT_EQ(give(f, {34, 4, 1, 2}), Outcome::done);
  EXPECT_FALSE(f.ccid_agreed());
  EXPECT_EQ(written(f), (Octets{33, 6, 1, 2, 3, 2}));
  Features c = client();
  EXPECT_EQ(give(c, {35, 4, 1, 3}), Outcome::done);
  EXPECT_EQ(give(c, {32, 5, 1, 2, 3}), Outcome::done);  // the server's list: its first is chosen
  EXPECT_TRUE(c.ccid_agreed());
}

TEST(DccpFeatures, UnknownFeaturesGetAnEmptyConfirm) {
  Features f = server();
  EXPECT_EQ(give(f, {32, 5, 77, 1, 2, 34, 4, 130, 1}), Outcome::done);
  EXPECT_EQ(written(f), (Octets{35, 3, 77, 33, 3, 130}));
  EXPECT_EQ(give(f, {1, 32, 4, 77, 1}), Outcome::mandatory);
}

TEST(DccpFeatures, SequenceWindowsOutOfRangeAreRefused) {
  for (const Octets& change : {Octets{32, 9, 3, 0, 0, 0, 0, 0, 31}, Octets{32, 9, 3, 0x40, 0, 0, 0, 0, 0},
                               Octets{32, 8, 3, 0, 0, 0, 0, 99}, Octets{32, 3, 3}}) {
    Features f = server();
    EXPECT_EQ(give(f, change), Outcome::done);
    EXPECT_EQ(f.remote_window(), kDefaultWindow);
    EXPECT_EQ(written(f), (Octets{35, 3, 3}));
  }
  Features f = server();
  EXPECT_EQ(give(f, {32, 9, 3, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff}), Outcome::done);
  EXPECT_EQ(f.remote_window(), kMaxWindow);
}

TEST(DccpFeatures, WhatWeDoNotDoIsDeclinedInTheFormOfTheRfc) {
  Features f = server();
  EXPECT_EQ(give(f, {34, 5, 6, 1, 0}), Outcome::done);  // Send Ack Vector: [1, 0] against our [0]
  EXPECT_EQ(written(f), (Octets{33, 5, 6}));            // Confirm L, 0, our list [0]
  EXPECT_EQ(give(f, {34, 4, 6, 1}), Outcome::done);     // nothing in common: stays 0
  EXPECT_EQ(written(f), (Octets{33, 5, 6}));
  EXPECT_EQ(give(f, {34, 5, 4, 1, 0}), Outcome::done);  // ECN Incapable: we are not
  EXPECT_EQ(written(f), (Octets{33, 5, 4}));
  EXPECT_EQ(give(f, {1, 34, 4, 2, 1}), Outcome::mandatory);  // short sequence numbers
}

// RFC 4340 12.1: a peer that cannot see marks says so with Mandatory; nobody says that he can.
TEST(DccpFeatures, APeerThatIsEcnIncapableIsBelieved) {
  for (const Role role : {Role::client, Role::server}) {
    Features f(role, kDefaultWindow);
    EXPECT_FALSE(f.remote_ecn_incapable());
    EXPECT_EQ(give(f, {1, 32, 4, 4, 1}), Outcome::done);
    EXPECT_TRUE(f.remote_ecn_incapable());
    const Octets all = written(f);
    const Octets confirm{35, 6, 4, 1, 0, 1};
    EXPECT_NE(std::search(all.begin(), all.end(), confirm.begin(), confirm.end()), all.end());
    EXPECT_EQ(give(f, {32, 4, 4, 0}), Outcome::done);
    EXPECT_FALSE(f.remote_ecn_incapable()) << "it has changed its mind";
    EXPECT_EQ(give(f, {32, 3, 4}), Outcome::done);
    EXPECT_FALSE(f.remote_ecn_incapable()) << "no value";
  }
}

TEST(DccpFeatures, ChangesBeyondTheRoomGoUnanswered) {
  Features f = server();
  Octets many;
  for (std::uint8_t i = 0; i < 40; ++i) many.insert(many.end(), {32, 3, static_cast<std::uint8_t>(80 + i)});
  EXPECT_EQ(give(f, many), Outcome::done);
  EXPECT_EQ(written(f).size(), 63u);  // 21 empty Confirms
}

TEST(DccpFeatures, WritesWithinItsMost) {
  Features f = client();
  Octets many;
  for (std::uint8_t i = 0; i < 40; ++i) many.insert(many.end(), {32, 3, static_cast<std::uint8_t>(80 + i)});
  give(f, many);
  std::vector<std::uint8_t> out(Features::kMostBytes);
  OptionWriter w(out.data());
  f.write(w);
  EXPECT_LE(w.finish(), Features::kMostBytes);
}

}  // namespace
}  // namespace surety::endpoints::dccp
