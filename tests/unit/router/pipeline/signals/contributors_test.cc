// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/contributors.h"

#include <gmock/gmock.h>

#include <vector>

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr Time kStart = Time(1000s);
constexpr Duration kPace = Contributors::kPace;

class ContributorsTest : public testing::Test {
 protected:
  static IpAddress host(std::uint32_t n) { return IpAddress::v4(__builtin_bswap32(0x0a010000 + n)); }
  static constexpr IpAddress kTo = IpAddress::v4(10, 2, 0, 1);
  void note(std::uint32_t n, Time now, std::uint8_t dscp = 0) { contributors.note(host(n), kTo, dscp, now); }
  bool sample(std::uint32_t n, Time at) { return contributors.may_sample(host(n), kTo, 0, at); }
  // Who is reminded at the next time, by number.
  std::vector<std::uint32_t> reminded(bool congested = true) {
    std::array<CongestionSignal, Contributors::kMost> out;
    now = contributors.next();
    const std::size_t n = contributors.remind(congested, now, out);
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(out[i].kind, SignalKind::reminder);
      EXPECT_EQ(out[i].destination, kTo);
      EXPECT_EQ(out[i].time, now);
      all.push_back(out[i].source.v4_host_order() & 0xffff);
    }
    return all;
  }

  Contributors contributors{1000};  // 16 in a kPace
  Time now = kStart;
};

TEST_F(ContributorsTest, AQueueIsWatchedFromItsCongestionOn) {
  EXPECT_FALSE(contributors.watching());
  EXPECT_EQ(contributors.next(), kNever);
  contributors.congested(false, kStart);
  EXPECT_TRUE(contributors.watching());
  EXPECT_EQ(contributors.next(), kStart + kPace);
}

TEST_F(ContributorsTest, EverybodyIsRemindedAsLongAsTheQueueIsCongested) {
  contributors.congested(true, kStart);
  note(1, kStart);
  note(2, kStart + 1ms, 12);
  EXPECT_THAT(reminded(), UnorderedElementsAre(1, 2));
  EXPECT_THAT(reminded(), UnorderedElementsAre(1, 2));
  EXPECT_EQ(now, kStart + 2 * kPace);
  EXPECT_THAT(reminded(false), IsEmpty());
  EXPECT_THAT(reminded(true), IsEmpty()) << "it has just become so, and there was no eighth arrival";
  EXPECT_THAT(reminded(true), UnorderedElementsAre(1, 2));
}

// As short as it was, the one who had the eighth packet has been told, and so are the others.
TEST_F(ContributorsTest, AnEighthArrivalIsEnough) {
  contributors.congested(false, kStart);
  note(1, kStart);
  EXPECT_THAT(reminded(false), IsEmpty());
  contributors.congested(true, now + 1ms);
  EXPECT_THAT(reminded(false), ElementsAre(1));
  EXPECT_THAT(reminded(false), IsEmpty());
}

TEST_F(ContributorsTest, SourcesAreForgotten) {
  contributors.congested(true, kStart);
  note(1, kStart);
  while (contributors.next() < kStart + Contributors::kMemory) {
    note(2, contributors.next() - 10ms);
    EXPECT_THAT(reminded(), UnorderedElementsAre(1, 2));
  }
  reminded();
  EXPECT_THAT(reminded(), ElementsAre(2));
}

TEST_F(ContributorsTest, TheWatchEnds) {
  contributors.congested(true, kStart);
  while (contributors.next() <= kStart + Contributors::kMemory) reminded(false);
  EXPECT_TRUE(contributors.watching());
  reminded(false);
  EXPECT_FALSE(contributors.watching());
  contributors.congested(true, now + 1s);
  EXPECT_EQ(contributors.next(), now + 1s + kPace);
}

TEST_F(ContributorsTest, AFastSourceHasItsSamples) {
  contributors.congested(true, kStart);
  for (Duration t{}; t < kPace; t += 1ms) note(1, kStart + t);
  note(2, kStart + 5ms);
  EXPECT_THAT(reminded(), ElementsAre(2));
  EXPECT_THAT(reminded(), UnorderedElementsAre(1, 2)) << "it has paused";
}

TEST_F(ContributorsTest, WhoHasBeenToldIsNotToldAgainForAWhile) {
  contributors.congested(true, kStart);
  note(1, kStart);
  note(2, kStart);
  EXPECT_TRUE(sample(1, kStart + 20ms));
  EXPECT_FALSE(sample(1, kStart + 21ms));
  EXPECT_THAT(reminded(), ElementsAre(2));
  EXPECT_FALSE(sample(2, kStart + 40ms));
  EXPECT_FALSE(sample(1, kStart + 20ms + kPace - 1ns));
  EXPECT_TRUE(sample(1, kStart + 20ms + kPace));
  EXPECT_THAT(reminded(), ElementsAre(2));
  EXPECT_THAT(reminded(), UnorderedElementsAre(1, 2));
}

// The first one, of whom nothing has been noted.
TEST_F(ContributorsTest, WhoHasASampleIsKnown) {
  contributors.congested(true, kStart);
  EXPECT_TRUE(sample(1, kStart));
  EXPECT_THAT(reminded(), ElementsAre(1));
}

TEST_F(ContributorsTest, ByTurnsWhereTheShareIsTooSmall) {
  contributors.congested(true, kStart);
  for (std::uint32_t n = 0; n < 32; ++n) note(n, kStart);
  std::vector<std::uint32_t> two = reminded(), then = reminded();
  EXPECT_EQ(two.size(), 16u);
  two.insert(two.end(), then.begin(), then.end());
  std::ranges::sort(two);
  for (std::uint32_t n = 0; n < 32; ++n) EXPECT_EQ(two[n], n);
}

TEST_F(ContributorsTest, NobodyWhereTheyAreTooMany) {
  contributors.congested(true, kStart);
  for (std::uint32_t n = 0; n < 33; ++n) note(n, kStart);
  EXPECT_THAT(reminded(), IsEmpty());
  for (std::uint32_t n = 100; n < 200; ++n) EXPECT_TRUE(sample(n, now));
}

// A second has 31 kPaces, with 16 of each kind: within the limit.
TEST_F(ContributorsTest, SamplesLeaveRemindersTheirShare) {
  contributors.congested(true, kStart);
  note(1, kStart);
  ASSERT_THAT(reminded(), ElementsAre(1));
  for (std::uint32_t n = 100; n < 116; ++n) EXPECT_TRUE(sample(n, now));
  EXPECT_FALSE(sample(116, now));
  ASSERT_EQ(reminded().size(), 16u) << "of those that have been sampled, too, by turns";
  EXPECT_TRUE(sample(200, now));
}

TEST_F(ContributorsTest, ASmallLimitIsLeftToSamples) {
  Contributors few(62);
  few.congested(true, kStart);
  for (std::uint32_t n = 0; n < 100; ++n) EXPECT_TRUE(few.may_sample(host(n), kTo, 0, kStart));
  EXPECT_FALSE(few.may_sample(host(7), kTo, 0, kStart));
  std::array<CongestionSignal, Contributors::kMost> out;
  EXPECT_EQ(few.remind(true, few.next(), out), 0u);
}

// Of more than there is room for, those that send least are kept: they need it.
TEST_F(ContributorsTest, TheFastestGiveWay) {
  note(1, kStart - 1s);
  note(1, kStart);
  contributors.congested(true, kStart);
  for (Duration t{}; t < 500ms; t += 1ms) {
    for (std::uint32_t n = 2; n < 2 + 2 * Contributors::kRoom; ++n) note(n, kStart + t);
    if (kStart + t + 1ms > contributors.next()) {
      EXPECT_THAT(reminded(), ElementsAre(1));
    }
  }
}

// Events: of a queue that stores the sources of IN packets.

class ContributorsEventsTest : public ContributorsTest {
 protected:
  using To = std::vector<std::uint32_t>;
  To numbers(SignalKind kind, std::span<const CongestionSignal> events) const {
    To all;
    for (const CongestionSignal& s : events) {
      EXPECT_EQ(s.kind, kind);
      EXPECT_EQ(s.destination, kTo);
      EXPECT_EQ(s.dscp, 12) << "the OUT packet's: it has the class";
      all.push_back(s.source.v4_host_order() & 0xffff);
    }
    return all;
  }
  To report(SignalKind kind, std::uint32_t source, Time at) {
    CongestionSignal arrival;
    arrival.source = host(source);
    arrival.destination = kTo;
    arrival.dscp = 12;
    arrival.time = at;
    return numbers(kind, std::span(out).first(contributors.report(kind, arrival, out)));
  }
  To check(bool congested, Time at) {
    return numbers(SignalKind::clear, std::span(out).first(contributors.check(congested, at, out)));
  }

  std::array<CongestionSignal, Contributors::kMost> out;
};

TEST_F(ContributorsEventsTest, AnEighthGoesToItsOwnSourceIfThatHasAContract) {
  for (const std::uint32_t n : {1U, 2U, 3U}) note(n, kStart);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(report(SignalKind::eighth, 2, kStart + 1ms), ElementsAre(2));
}

TEST_F(ContributorsEventsTest, AnEighthOfBestEffortGoesToThoseWithAContractInTurn) {
  for (const std::uint32_t n : {1U, 2U, 3U}) note(n, kStart);
  To all;
  for (int i = 0; i < 6; ++i)
    for (const std::uint32_t n : report(SignalKind::eighth, 9, kStart + 1ms)) all.push_back(n);
  EXPECT_THAT(all, UnorderedElementsAre(1, 1, 2, 2, 3, 3));
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[1], all[2]);
}

TEST_F(ContributorsEventsTest, OnsetAndEndGoToAllWithAContract) {
  EXPECT_EQ(contributors.next(), kNever);
  for (const std::uint32_t n : {1U, 2U, 3U}) note(n, kStart);
  EXPECT_THAT(report(SignalKind::onset, 9, kStart + 1ms), UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(contributors.next(), kStart + 2ms);
  EXPECT_THAT(check(true, kStart + 2ms), IsEmpty());
  EXPECT_EQ(contributors.next(), kStart + 3ms);
  EXPECT_THAT(check(false, kStart + 3ms), UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(contributors.next(), kNever);
}

TEST_F(ContributorsEventsTest, NoneGetsEventsBeyondTheMemory) {
  note(1, kStart);
  note(2, kStart + 1s);
  EXPECT_THAT(report(SignalKind::onset, 9, kStart + Contributors::kMemory + 1ms), ElementsAre(2));
  EXPECT_THAT(report(SignalKind::eighth, 1, kStart + Contributors::kMemory + 1ms), ElementsAre(2));
  EXPECT_THAT(report(SignalKind::eighth, 1, kStart + Contributors::kMemory + 2s), IsEmpty());
}

TEST_F(ContributorsEventsTest, AtMostKMostGetAnOnset) {
  for (std::uint32_t n = 0; n < 300; ++n) note(n, kStart);
  EXPECT_EQ(report(SignalKind::onset, 999, kStart + 1ms).size(), Contributors::kMost);
}

TEST_F(ContributorsEventsTest, TheEndGoesToThoseThatHaveHadAnEvent) {
  for (std::uint32_t n = 0; n < 200; ++n) note(n, kStart);
  To told = report(SignalKind::onset, 999, kStart + 1ms);
  for (int i = 0; i < 6; ++i)
    for (const std::uint32_t n : report(SignalKind::eighth, 999, kStart + 1ms)) told.push_back(n);
  To ended = check(false, kStart + 2ms);
  EXPECT_EQ(ended.size(), Contributors::kMost);
  EXPECT_EQ(contributors.next(), kStart + 3ms) << "the others";
  for (const std::uint32_t n : check(false, kStart + 3ms)) ended.push_back(n);
  EXPECT_THAT(ended, UnorderedElementsAreArray(told));
  EXPECT_EQ(contributors.next(), kNever);
}

// A queue whose periods follow each other within less than kCheck still tells of an end.
TEST_F(ContributorsEventsTest, PeriodsThatFollowEachOtherDoNotPostponeTheCheck) {
  note(1, kStart);
  for (Duration t{}; t < 2 * Contributors::kCheck; t += Contributors::kCheck / 4) {
    if (kStart + t >= contributors.next()) break;
    report(SignalKind::onset, 7, kStart + t);
  }
  EXPECT_EQ(contributors.next(), kStart + Contributors::kCheck);
  EXPECT_THAT(check(false, contributors.next()), ElementsAre(1));
}

// The class at the border that the onset was for; numbers() expects its DSCP.
TEST_F(ContributorsEventsTest, TheEndHasTheDscpOfTheOnset) {
  note(1, kStart);
  EXPECT_THAT(report(SignalKind::onset, 7, kStart), ElementsAre(1));
  CongestionSignal eighth;
  eighth.source = host(7);
  eighth.destination = kTo;
  eighth.dscp = 0;
  eighth.time = kStart;
  contributors.report(SignalKind::eighth, eighth, out);
  EXPECT_THAT(check(false, contributors.next()), ElementsAre(1));
}

TEST_F(ContributorsEventsTest, WhoAwaitsTheEndIsNotDisplaced) {
  note(1, kStart - 1us);
  note(1, kStart);
  EXPECT_THAT(report(SignalKind::onset, 7, kStart), ElementsAre(1));
  for (std::uint32_t n = 100; n < 100 + 4 * Contributors::kRoom; ++n) note(n, kStart + 1us);
  EXPECT_THAT(check(false, contributors.next()), ElementsAre(1));
}

}  // namespace
}  // namespace surety
