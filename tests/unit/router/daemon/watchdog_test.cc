// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/watchdog.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <atomic>
#include <thread>

namespace surety {
namespace {

using namespace std::chrono_literals;

class StallWatchTest : public testing::Test {
 protected:
  // Looks every `tick` for so long; whether it was ever said that he stands.
  bool looks(Duration length, std::function<std::uint64_t()> turns, Duration tick = 100ms) {
    bool said = false;
    for (const Time end = now_ + length; now_ < end;) said |= watch_.look(turns(), now_ += tick);
    return said;
  }
  std::function<std::uint64_t()> stands() {
    return [this] { return turns_; };
  }
  std::function<std::uint64_t()> works() {
    return [this] { return ++turns_; };
  }

  StallWatch watch_{1s, 100ms};
  Time now_{1h};
  std::uint64_t turns_ = 0;
  Duration ran_{0};
};

TEST_F(StallWatchTest, SaysNothingOfOneWhoWorks) {
  EXPECT_FALSE(looks(1h, works()));
}

TEST_F(StallWatchTest, SaysItAfterTheLimitNotBefore) {
  looks(100ms, works());
  EXPECT_FALSE(looks(900ms, stands()));
  EXPECT_TRUE(looks(100ms, stands()));
}

TEST_F(StallWatchTest, BeginsAnewWithEveryTurn) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(looks(900ms, stands()));
    EXPECT_FALSE(looks(100ms, works()));
  }
}

TEST_F(StallWatchTest, DoesNotBlameOthersForItsOwnAbsence) {
  looks(100ms, works());
  EXPECT_FALSE(looks(1h, stands(), 1h)) << "the machine was suspended";
  EXPECT_FALSE(looks(700ms, stands())) << "an hour counts for two ticks";
  EXPECT_TRUE(looks(100ms, stands()));
}

TEST_F(StallWatchTest, DoesNotBlameHimForACoreThatOthersHave) {
  const auto looks_at = [&](Duration length, Duration runs) {
    bool said = false;
    for (const Time end = now_ + length; now_ < end;) said |= watch_.look(0, now_ += 100ms, ran_ += runs);
    return said;
  };
  looks_at(200ms, 100ms);
  EXPECT_FALSE(looks_at(1h, 0ms));
  EXPECT_FALSE(looks_at(16s, 5ms)) << "0.1 s, and 160 times 5 ms";
  EXPECT_TRUE(looks_at(1s, 50ms)) << "whoever runs, and gets nowhere, stands";
}

TEST_F(StallWatchTest, CountsNothingOfATickInWhichHeWasKeptFromACoreAndThenSlept) {
  watch_.look(7, now_ += 100ms, 0ms);
  watch_.look(7, now_ += 100ms, 0ms);
  EXPECT_FALSE(watch_.look(7, now_ += 100ms));
  EXPECT_FALSE(looks(900ms, [] { return 7u; }));
  EXPECT_TRUE(looks(100ms, [] { return 7u; }));
}

TEST_F(StallWatchTest, CountsWhatItSawWhereItsOwnLooksComeLate) {
  looks(100ms, works());
  EXPECT_TRUE(looks(1s, stands(), 200ms));
}

TEST(Feeding, IsDueOnceInAWhileWhereAllHaveTurned) {
  Feeding feeding(2s);
  EXPECT_TRUE(feeding.due({1, 1}, Time(10s)));
  EXPECT_FALSE(feeding.due({2, 2}, Time(11s))) << "too early";
  EXPECT_TRUE(feeding.due({2, 2}, Time(12s)));
  EXPECT_FALSE(feeding.due({3, 2}, Time(14s))) << "one stands";
  EXPECT_FALSE(feeding.due({9, 2}, Time(60s)));
  EXPECT_TRUE(feeding.due({9, 3}, Time(61s))) << "at once, when he turns again";
}

TEST(Feeding, IsNotDueWhereNobodyRuns) {
  EXPECT_FALSE(Feeding(2s).due({}, Time(1h)));
}

TEST(Watchdog, NamesWhoStandsOnce) {
  std::vector<std::string> said;
  std::mutex mutex;
  std::atomic<std::uint64_t> turns = 0;  // of worker 0: one for each look of the watchdog
  std::atomic<bool> end = false;
  std::atomic<pid_t> spins = 0;
  std::thread spinning([&] {
    for (spins = ::gettid(); !end;) {
    }
  });
  {
    const Watchdog dog({{"worker 0 on core 1", 300ms, [&] { return turns++; }, ::gettid},
                        {"worker 1 on core 2", 300ms, [] { return 7u; }, [&] { return spins.load(); }},
                        {"worker 2 on core 3", 300ms, [] { return 7u; }, ::getpid},
                        {"worker 3, which does not run", 300ms, [] { return 7u; }, [] { return 0; }}},
                       [&](const std::string& message) {
                         const std::scoped_lock lock(mutex);
                         said.push_back(message);
                       });
    // A busy machine makes who spins stand later; then five looks more, in which nobody is named again.
    const auto waits = [&, until = std::chrono::steady_clock::now() + 1min](auto condition) {
      while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
    };
    waits([&] {
      const std::scoped_lock lock(mutex);
      return said.size() >= 2;
    });
    waits([&, last = turns + 5] { return turns >= last; });
  }
  end = true;
  spinning.join();
  EXPECT_THAT(said, testing::UnorderedElementsAre("worker 1 on core 2 has made no progress for 0.3 s",
                                                  "worker 2 on core 3 has made no progress for 0.3 s"));
}

TEST(WatchdogDeathTest, EndsTheProgram) {
  EXPECT_EXIT(Watchdog::end_program("worker 1 on core 2 has made no progress for 1 s"),
              testing::ExitedWithCode(Watchdog::kExitStatus),
              "error: worker 1 on core 2 has made no progress for 1 s; ");
}

}  // namespace
}  // namespace surety
