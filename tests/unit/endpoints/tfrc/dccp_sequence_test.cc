// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_sequence.h"

#include <gtest/gtest.h>

namespace surety::endpoints::dccp {
namespace {

using Check = SequenceSpace::Check;
constexpr std::uint64_t kTop = kSequenceModulus - 1;

TEST(DccpSequence, ExtendsToTheNearestNumber) {
  EXPECT_EQ(extend(kSequenceModulus + 5, 7), kSequenceModulus + 7);
  EXPECT_EQ(extend(kSequenceModulus + 5, kTop), kSequenceModulus - 1);  // seven before, across the wrap
  EXPECT_EQ(extend(2 * kSequenceModulus - 1, 3), 2 * kSequenceModulus + 3);
  const std::uint64_t half = kSequenceModulus / 2;
  EXPECT_EQ(extend(kSequenceModulus, half - 1), kSequenceModulus + half - 1);
  EXPECT_EQ(extend(kSequenceModulus, half), kSequenceModulus - half);  // equally far: taken as older
}

// GSR 1000, ISR 100, remote W 100: [976, 1075]. GSS 2009, ISS 2000, local W 100: [2000, 2009].
SequenceSpace established() {
  SequenceSpace s(2000);
  for (int i = 0; i < 10; ++i) s.next();
  s.synchronise(100);
  s.accept(Type::ack, s.received(1000), s.acknowledged(2003));
  return s;
}
Check check(const SequenceSpace& s, Type t, std::uint64_t sequence, std::uint64_t ack = 0) {
  return s.check(t, s.received(sequence), s.acknowledged(ack));
}

TEST(DccpSequence, WindowsAreThoseOfRfc4340) {
  const SequenceSpace s = established();
  EXPECT_EQ(s.swl() % kSequenceModulus, 976u);   // GSR + 1 - W/4
  EXPECT_EQ(s.swh() % kSequenceModulus, 1075u);  // GSR + 3W/4
  EXPECT_EQ(s.awl() % kSequenceModulus, 2000u);  // not below ISS
  EXPECT_EQ(s.awh() % kSequenceModulus, 2009u);  // GSS
}

TEST(DccpSequence, OddWindowsRoundAsRfc4340Says) {
  SequenceSpace s = established();
  s.set_remote_window(101);  // SWL: floor(W/4) = 25, SWH: ceil(3W/4) = 76
  EXPECT_EQ(s.swl() % kSequenceModulus, 976u);
  EXPECT_EQ(s.swh() % kSequenceModulus, 1076u);
}

TEST(DccpSequence, LowerEndsDoNotGoBeforeTheConnection) {
  SequenceSpace s(2000);
  s.synchronise(100);
  EXPECT_EQ(s.swl() % kSequenceModulus, 100u);
  for (int i = 0; i < 150; ++i) s.next();
  EXPECT_EQ(s.awl() % kSequenceModulus, 2050u);
}

TEST(DccpSequence, DataNeedsOnlyItsSequenceNumber) {
  const SequenceSpace s = established();
  EXPECT_EQ(check(s, Type::data, 975), Check::sequence);
  EXPECT_EQ(check(s, Type::data, 976), Check::valid);
  EXPECT_EQ(check(s, Type::data, 1075), Check::valid);
  EXPECT_EQ(check(s, Type::data, 1076), Check::sequence);
}

TEST(DccpSequence, AcknowledgementsNeedBoth) {
  const SequenceSpace s = established();
  for (const Type t : {Type::ack, Type::data_ack, Type::response}) {
    EXPECT_EQ(check(s, t, 1001, 1999), Check::acknowledgement);
    EXPECT_EQ(check(s, t, 1001, 2000), Check::valid);
    EXPECT_EQ(check(s, t, 1001, 2009), Check::valid);
    EXPECT_EQ(check(s, t, 1001, 2010), Check::acknowledgement);
    EXPECT_EQ(check(s, t, 1076, 2005), Check::sequence);
  }
}

TEST(DccpSequence, WhatEndsAConnectionMustBeNew) {
  const SequenceSpace s = established();
  for (const Type t : {Type::reset, Type::close, Type::close_req}) {
    EXPECT_EQ(check(s, t, 1000, 2005), Check::sequence);  // GSR itself
    EXPECT_EQ(check(s, t, 1001, 2005), Check::valid);
    EXPECT_EQ(check(s, t, 1001, 2002), Check::acknowledgement);  // below GAR
    EXPECT_EQ(check(s, t, 1001, 2003), Check::valid);
  }
}

TEST(DccpSequence, SyncHasNoUpperEnd) {
  const SequenceSpace s = established();
  for (const Type t : {Type::sync, Type::sync_ack}) {
    EXPECT_EQ(check(s, t, 975, 2005), Check::sequence);
    EXPECT_EQ(check(s, t, 5'000'000, 2005), Check::valid);
    EXPECT_EQ(check(s, t, 5'000'000, 2010), Check::acknowledgement);
  }
}

TEST(DccpSequence, SyncMovesGsrButNotGar) {
  SequenceSpace s = established();
  s.accept(Type::sync, s.received(5000), s.acknowledged(2008));
  EXPECT_EQ(s.gsr() % kSequenceModulus, 5000u);
  EXPECT_EQ(check(s, Type::reset, 5001, 2003), Check::valid);
  s.accept(Type::sync_ack, s.received(5001), s.acknowledged(2008));
  EXPECT_EQ(check(s, Type::reset, 5002, 2007), Check::acknowledgement);
}

TEST(DccpSequence, WrapsWithoutNotice) {
  SequenceSpace s(kTop - 2);
  for (int i = 0; i < 10; ++i) s.next();
  EXPECT_EQ(s.gss() % kSequenceModulus, 6u);
  s.synchronise(kTop);
  EXPECT_EQ(check(s, Type::ack, 3, 2), Check::valid);
  s.accept(Type::ack, s.received(3), s.acknowledged(2));
  EXPECT_EQ(s.gsr(), 2 * kSequenceModulus + 3);
  EXPECT_EQ(check(s, Type::ack, kTop, kTop), Check::valid);
  EXPECT_EQ(check(s, Type::ack, kTop - 1, kTop), Check::sequence);  // before ISR
}

TEST(DccpSequence, WidestWindow) {
  SequenceSpace s = established();
  s.set_remote_window(kMaxWindow);
  EXPECT_EQ(check(s, Type::data, 1000 + kMaxWindow / 4 * 3), Check::valid);
  EXPECT_EQ(check(s, Type::data, 99), Check::sequence);
}

}  // namespace
}  // namespace surety::endpoints::dccp
