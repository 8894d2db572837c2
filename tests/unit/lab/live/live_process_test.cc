// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_process.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace surety::lab {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr auto kPatience = 20s;
const auto kNever = [] { return false; };

class LabLiveProcess : public testing::Test {
 protected:
  LabLiveProcess() { EXPECT_NE(mkdtemp(directory_.data()), nullptr); }
  ~LabLiveProcess() override { std::filesystem::remove_all(directory_); }
  std::string log() const { return directory_ + "/log"; }

  std::string directory_ = testing::TempDir() + "lab-live-XXXXXX";
};

TEST_F(LabLiveProcess, ItsStatusAndOutputAreKnownWhenItEnds) {
  LiveProcess p({"sh", "-c", "echo hello; echo trouble >&2; exit 3"}, log());
  ASSERT_TRUE(wait_until([&] { return p.status().has_value(); }, kPatience, kNever));
  EXPECT_EQ(p.status(), 3);
  EXPECT_EQ(p.output(), "hello\ntrouble\n");
}

TEST_F(LabLiveProcess, WhatCannotBeStartedEndsAtOnce) {
  LiveProcess p({"/no/such/program"}, log());
  ASSERT_TRUE(wait_until([&] { return p.status().has_value(); }, kPatience, kNever));
  EXPECT_EQ(p.status(), 127);
}

TEST_F(LabLiveProcess, OneThatIsToldEnds) {
  LiveProcess p({"sleep", "1000"}, log());
  EXPECT_EQ(p.status(), std::nullopt);
  p.end();
  EXPECT_EQ(p.status(), 128 + SIGTERM);
}

TEST_F(LabLiveProcess, OneThatDoesNotListenEndsToo) {
  LiveProcess p({"sh", "-c", "trap '' TERM; echo deaf; exec sleep 1000"}, log());
  ASSERT_TRUE(wait_until([&] { return p.output() == "deaf\n"; }, kPatience, kNever));
  p.end(1ms);
  EXPECT_EQ(p.status(), 128 + SIGKILL);
}

TEST_F(LabLiveProcess, ACommandThatFailsSaysWhy) {
  run_command({"true"}, directory_);
  EXPECT_THAT(
      [&] {
        run_command({"sh", "-c", "echo no such thing; exit 1"}, directory_);
      },
      ThrowsMessage<LiveError>(AllOf(HasSubstr("failed: no such thing"), HasSubstr("`sh -c echo"))));
  EXPECT_THAT([&] { run_command({"false"}, directory_); }, ThrowsMessage<LiveError>("`false` failed: "))
      << "what the command before it said is not there any more";
}

TEST(LabLiveWait, EndsWhenItIsDoneStoppedOrOver) {
  EXPECT_TRUE(wait_until([] { return true; }, 0ms, kNever));
  int looks = 0;
  EXPECT_TRUE(wait_until([&] { return ++looks == 3; }, kPatience, kNever));
  EXPECT_FALSE(wait_until(kNever, kPatience, [] { return true; }));
  EXPECT_FALSE(wait_until(kNever, 0ms, kNever));
}

}  // namespace
}  // namespace surety::lab
