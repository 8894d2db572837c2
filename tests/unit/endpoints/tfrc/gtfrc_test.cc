// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/gtfrc.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/tfrc/tfrc_flow.h"

namespace surety::endpoints {
namespace {

constexpr Guarantee::State kSilent{.x = 10};
constexpr Guarantee::State kClimbing{.x = 10, .feedback = true};
constexpr Guarantee::State kLossy{.x = 10, .feedback = true, .loss = true};
constexpr Guarantee::State kCutShort{.x = 10, .feedback = true, .cut_short = true};
constexpr auto kAfter = GuaranteeReading::after_slow_start;

TEST(Gtfrc, LiteralFromTheFirstFeedbackOn) {
  const Guarantee g{.g = 100};
  EXPECT_EQ(g.rate(kSilent), 10);
  EXPECT_EQ(g.rate(kClimbing), 100);
  EXPECT_EQ(g.rate(kLossy), 100);
  EXPECT_EQ(g.rate(kCutShort), 100);
}

TEST(Gtfrc, AfterSlowStartFromTheFirstLossOn) {
  const Guarantee g{.g = 100, .reading = kAfter};
  EXPECT_EQ(g.rate(kSilent), 10);
  EXPECT_EQ(g.rate(kClimbing), 10);
  EXPECT_EQ(g.rate(kCutShort), 10);
  EXPECT_EQ(g.rate(kLossy), 100);
}

TEST(Gtfrc, NeverLessThanTfrc) {
  for (const auto reading : {GuaranteeReading::literal, kAfter}) {
    const Guarantee g{.g = 100, .reading = reading};
    for (Guarantee::State s : {kSilent, kClimbing, kLossy, kCutShort}) {
      s.x = 250;
      EXPECT_EQ(g.rate(s), 250);
    }
  }
}

TEST(Gtfrc, WithoutAGuaranteeItIsTfrc) {
  const Guarantee g{.theta = 2};
  EXPECT_EQ(g.rate(kLossy), 10);
  EXPECT_FALSE(g.broken(kLossy));
}

TEST(Gtfrc, ThetaGivesTheGuaranteeUpBelowGOverTheta) {
  const Guarantee g{.g = 100, .theta = 4};
  Guarantee::State s = kLossy;
  s.x = 25;  // = g / theta: not below
  EXPECT_FALSE(g.broken(s));
  EXPECT_EQ(g.rate(s), 100);
  s.x = 24.9;
  EXPECT_TRUE(g.broken(s));
  EXPECT_EQ(g.rate(s), 24.9);
}

TEST(Gtfrc, ThetaJudgesOnlyTheNetwork) {
  const Guarantee g{.g = 100, .theta = 4};
  EXPECT_FALSE(g.broken(kSilent));
  EXPECT_FALSE(g.broken(kClimbing));  // still climbing
  EXPECT_EQ(g.rate(kClimbing), 100);
  EXPECT_TRUE(g.broken(kCutShort));  // no answer any more
  EXPECT_EQ(g.rate(kCutShort), 10);
}

TEST(Gtfrc, WithoutThetaBrokenIsReportedAndNotActedOn) {
  const Guarantee g{.g = 100};
  Guarantee::State s = kLossy;
  EXPECT_FALSE(g.broken(s));  // a tenth
  s.x = 9.9;
  EXPECT_TRUE(g.broken(s));
  EXPECT_EQ(g.rate(s), 100);
}

// Beyond the paper

TEST(Gtfrc, FairAddsTheShareOfTheExcessFromTheFirstLossOn) {
  const Guarantee g{.g = 100, .fair = true};
  Guarantee::State s = kLossy;
  s.excess = 0.25;
  EXPECT_EQ(g.rate(s), 102.5);
  s.x = 400;
  EXPECT_EQ(g.rate(s), 200);  // and not max(g, X)
  s.loss = false;
  EXPECT_EQ(g.rate(s), 400);
  s.feedback = false;
  EXPECT_EQ(g.rate(s), 400);
}

TEST(Gtfrc, ThetaGivesUpAFairFlowToo) {
  const Guarantee g{.g = 100, .theta = 4, .fair = true};
  Guarantee::State s = kLossy;
  s.excess = 0.25;
  EXPECT_EQ(g.rate(s), 10);
}

TEST(Gtfrc, RepairSendsWhatIsLostOfGOnTop) {
  const Guarantee g{.g = 100, .repair = 120};
  Guarantee::State s = kLossy;
  EXPECT_EQ(g.rate(s), 100);
  s.lost = 0.05;
  EXPECT_DOUBLE_EQ(g.rate(s), 100 / 0.95);
  s.x = 110;
  EXPECT_EQ(g.rate(s), 110);  // g is delivered by this much already
}

TEST(Gtfrc, RepairIsBoundedWhateverIsLost) {
  const Guarantee g{.g = 100, .repair = 120};
  for (const double lost : {0.2, 0.5, 1.0}) {
    Guarantee::State s = kLossy;
    s.lost = lost;
    EXPECT_EQ(g.rate(s), 120);
  }
  Guarantee::State silent = kSilent;
  silent.lost = 0.5;
  EXPECT_EQ(g.rate(silent), 10);
}

TEST(Gtfrc, AFairShareComesOnTopOfWhatRepairSends) {
  const Guarantee g{.g = 2000, .fair = true, .repair = 2200};
  Guarantee::State s = kLossy;
  s.x = 1000;
  s.excess = 0.1;
  s.lost = 0.05;
  EXPECT_DOUBLE_EQ(g.rate(s), 2000 / 0.95 + 100);
  s.lost = 0.5;
  EXPECT_EQ(g.rate(s), 2300);  // the bound is that of the repaired part
  s.loss = false;
  EXPECT_EQ(g.rate(s), 2200);
}

TEST(Gtfrc, WithoutRepairNothingIsSentOnTop) {
  const Guarantee g{.g = 100};
  Guarantee::State s = kLossy;
  s.lost = 0.5;
  EXPECT_EQ(g.rate(s), 100);
}

// gTFRC in the sender

constexpr Rate kGuarantee = Rate::bytes_per_second(100'000);

TEST(GtfrcSender, LiteralFromTheFirstFeedbackOn) {
  TfrcFlow f{{.guarantee = kGuarantee}};
  f.sender.on_handshake(kRtt, kStart);
  EXPECT_DOUBLE_EQ(f.sender.rate(), 40'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
  f.open();
  EXPECT_EQ(f.sender.rate(), 100'000);
  EXPECT_DOUBLE_EQ(f.x(), 80'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::guarantee);
  f.send_for(kRtt);
  f.feedback(kPlenty);
  EXPECT_DOUBLE_EQ(f.sender.rate(), 160'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
}

TEST(GtfrcSender, AfterSlowStartOnlyThen) {
  TfrcFlow f{{.guarantee = kGuarantee, .reading = TfrcParams::Reading::after_slow_start}};
  f.open();
  EXPECT_DOUBLE_EQ(f.sender.rate(), 40'000);
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.05);
  EXPECT_EQ(f.sender.rate(), 100'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::guarantee);
}

TEST(GtfrcSender, NeitherTheReceiverNorTheTimerTakeGBelowIt) {
  TfrcFlow f{{.guarantee = kGuarantee}};
  f.avoid_congestion(0.01);
  ASSERT_GT(f.sender.rate(), 100'000);
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(10'000, 0.01);
  }
  EXPECT_DOUBLE_EQ(f.x(), 20'000);
  EXPECT_EQ(f.sender.rate(), 100'000);
  f.send_for(kRtt);
  f.expire();
  EXPECT_DOUBLE_EQ(f.x(), 10'000);
  EXPECT_EQ(f.sender.rate(), 100'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::guarantee);
}

TEST(GtfrcSender, ThetaGivesItUpAndFeedbackBringsItBack) {
  TfrcFlow f{{.guarantee = kGuarantee, .theta = 4}};
  f.open();
  EXPECT_EQ(f.sender.rate(), 100'000);
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.2);
  EXPECT_NEAR(f.sender.rate(), equation(0.2), 1e-6);  // 10 kB/s
  EXPECT_EQ(f.limited_by(), LimitedBy::equation);
  EXPECT_TRUE(f.reading().guarantee_broken);
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.05);  // 37 kB/s
  EXPECT_EQ(f.sender.rate(), 100'000);
  EXPECT_FALSE(f.reading().guarantee_broken);
}

TEST(GtfrcSender, ThetaGivesItUpWhenNobodyAnswers) {
  TfrcFlow f{{.guarantee = kGuarantee, .theta = 4}};
  f.open();
  for (const double rate : {20'000.0, 10'000.0}) {  // below g / 4 at once
    f.send_for(kRtt);
    f.expire();
    EXPECT_DOUBLE_EQ(f.sender.rate(), rate);
  }
}

TEST(GtfrcSender, SendsAtG) {
  TfrcFlow f{{.guarantee = kGuarantee}};
  f.avoid_congestion(0.2);
  const std::uint64_t before = f.sent;
  for (int i = 0; i < 100; ++i) {
    f.send_for(kRtt);
    f.feedback(100'000, 0.2);
  }
  EXPECT_EQ(f.sent - before, 1000u);
  EXPECT_EQ(f.reading().sending, kGuarantee);
  EXPECT_EQ(f.reading().g, kGuarantee);
}

TEST(GtfrcSender, AnApplicationBelowItIsWhatLimits) {
  TfrcFlow f{{.guarantee = kGuarantee, .application = Rate::bytes_per_second(50'000)}};
  f.avoid_congestion(0.2);
  EXPECT_EQ(f.limited_by(), LimitedBy::application);
}

}  // namespace
}  // namespace surety::endpoints
