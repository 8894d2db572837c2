// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <memory>

namespace surety::lab {
namespace {

TEST(LabProgress, BarAndPercentAreRoundedDown) {
  EXPECT_EQ(progress_line(0, 0, 1, 0, 80), "[------------------------------]   0 %");
  EXPECT_EQ(progress_line(0.5, 0, 1, 0, 80), "[###############---------------]  50 %");
  EXPECT_EQ(progress_line(0.9999, 0, 1, 0, 80), "[#############################-]  99 %");
  EXPECT_EQ(progress_line(1, 1, 1, 0, 80), "[##############################] 100 %");
}

TEST(LabProgress, WhatIsOutOfRangeIsTheEnd) {
  EXPECT_EQ(progress_line(-1, 0, 1, 0, 80), progress_line(0, 0, 1, 0, 80));
  EXPECT_EQ(progress_line(1.5, 0, 1, 0, 80), progress_line(1, 0, 1, 0, 80));
}

TEST(LabProgress, SeveralRunsAreCounted) {
  EXPECT_EQ(progress_line(0.5, 9, 20, 0, 80), "[###############---------------]  50 %, 9 of 20 runs");
}

TEST(LabProgress, WhatIsLeftIsEstimatedAfterASecond) {
  EXPECT_EQ(progress_line(0.25, 0, 1, 0.9, 80), "[#######-----------------------]  25 %");
  EXPECT_EQ(progress_line(0.25, 0, 1, 4, 80), "[#######-----------------------]  25 %, 12 s left");
  EXPECT_EQ(progress_line(0.25, 1, 4, 40, 80),
            "[#######-----------------------]  25 %, 1 of 4 runs, 2 min 0 s left");
  EXPECT_EQ(progress_line(0, 0, 1, 4, 80), "[------------------------------]   0 %");
}

TEST(LabProgress, IsNotWiderThanTheTerminal) {
  EXPECT_EQ(progress_line(0.5, 9, 20, 4, 20), "[###############----");
}

TEST(LabProgress, SpeedIsPerSecondOfWallTime) {
  EXPECT_EQ(speed_line(20, 10'000'000, 16'000'000, 2.0004),
            "20 runs in 2.000 s: 5.00 million events/s, 8.00 million hops/s");
  EXPECT_EQ(speed_line(1, 1'000'000, 2'345'678, 1),
            "1 run in 1.000 s: 1.00 million events/s, 2.35 million hops/s");
}

TEST(LabProgress, ARunOfNoTimeHasNoInfiniteSpeed) {
  EXPECT_EQ(speed_line(0, 0, 0, 0), "0 runs in 0.000 s: 0.00 million events/s, 0.00 million hops/s");
}

TEST(LabStopwatch, GoesForward) {
  const Stopwatch watch;
  const double first = watch.elapsed_s();
  EXPECT_GE(first, 0);
  EXPECT_GE(watch.elapsed_s(), first);
}

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// A terminal of 60 columns, and what was written to it.
class Terminal {
 public:
  Terminal() {
    winsize size{};
    size.ws_col = 60;
    int slave = -1;
    EXPECT_EQ(openpty(&master_, &slave, nullptr, nullptr, &size), 0);
    file_.reset(fdopen(slave, "w"));
  }
  ~Terminal() { close(master_); }
  std::FILE* file() const { return file_.get(); }
  // To be called at the end: only a terminal that was closed is known to have passed everything on.
  std::string shown() {
    file_.reset();
    std::string all;
    char text[4096];
    for (ssize_t n; (n = read(master_, text, sizeof text)) > 0;)
      all.append(text, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int master_ = -1;
  File file_;
};

constexpr const char* kErase = "\r\033[K";

TEST(LabProgressBar, IsDrawnOverItselfAndErased) {
  Terminal terminal;
  ProgressBar bar(terminal.file(), 2);
  bar.run_done();
  bar.advance(0.5);
  bar.clear();
  EXPECT_EQ(terminal.shown(), std::string(kErase) + progress_line(0.5, 1, 2, 0, 59) + kErase);
}

TEST(LabProgressBar, IsNotDrawnAgainAtOnce) {
  Terminal terminal;
  ProgressBar bar(terminal.file(), 1);
  for (int i = 0; i < 1000; ++i) bar.advance(i * 1e-3);
  bar.clear();
  EXPECT_LT(terminal.shown().size(), 10u * 60);
}

TEST(LabProgressBar, ErasesNothingThatItHasNotDrawn) {
  Terminal terminal;
  {
    ProgressBar bar(terminal.file(), 1);
    bar.advance(0);
    bar.clear();
    bar.clear();
  }
  EXPECT_EQ(terminal.shown(), std::string(kErase) + progress_line(0, 0, 1, 0, 59) + kErase);
}

TEST(LabProgressBar, IsForTerminalsOnly) {
  const File file(std::tmpfile());
  {
    ProgressBar bar(file.get(), 1);
    bar.advance(0.5);
    bar.clear();
  }
  EXPECT_EQ(std::ftell(file.get()), 0);
}

}  // namespace
}  // namespace surety::lab
