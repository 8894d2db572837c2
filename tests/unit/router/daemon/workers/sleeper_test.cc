// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/sleeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace surety {
namespace {

using namespace std::chrono_literals;

// Sleeps in these tests end by a wake-up; the limit is there for a lost one to be seen, not to be waited for.
constexpr Duration kLimit = 60s;
// Of sleeps that nothing ends: longer than a call takes that returns at once.
constexpr Duration kShort = 5ms;

bool slept_out(Sleeper& s, Duration limit = kLimit) {
  const auto begin = std::chrono::steady_clock::now();
  s.sleep(limit);
  return std::chrono::steady_clock::now() - begin >= limit;
}

TEST(Sleeper, IsWokenByAReadableDescriptor) {
  Sleeper s;
  const Fd source(eventfd(1, EFD_CLOEXEC));
  s.watch(source.get());
  s.prepare();
  EXPECT_FALSE(slept_out(s));
}

TEST(Sleeper, WatchesADescriptorOnceHoweverOftenItIsTold) {
  Sleeper s;
  const Fd source(eventfd(1, EFD_CLOEXEC));
  s.watch(source.get());
  s.watch(source.get());
  s.unwatch(source.get());
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

TEST(Sleeper, RefusesWhatCannotBeWatched) {
  Sleeper s;
  EXPECT_FALSE(s.watch(-1));
}

TEST(Sleeper, NoLongerHeedsWhatItDoesNotWatch) {
  Sleeper s;
  const Fd source(eventfd(1, EFD_CLOEXEC));
  s.watch(source.get());
  s.unwatch(source.get());
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

// As an af_packet port whose interface goes down says it once, and stays a port.
TEST(Sleeper, IsWokenByAnErrorOnce) {
  Sleeper s;
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in nobody{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof nobody;
  {
    const Fd gone(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(gone.get(), reinterpret_cast<const sockaddr*>(&nobody), size), 0);
    ASSERT_EQ(::getsockname(gone.get(), reinterpret_cast<sockaddr*>(&nobody), &size), 0);
  }
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&nobody), size), 0);
  s.watch(socket.get());
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::send(socket.get(), "", 1, 0), 1);
    s.prepare();
    EXPECT_FALSE(slept_out(s)) << "refused";
    s.prepare();
    EXPECT_TRUE(slept_out(s, kShort)) << "told before";
  }
}

TEST(Sleeper, NoLongerHeedsAnErrorThatStays) {
  Sleeper s;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reads(ends[0]);
  s.watch(reads.get());
  ::close(ends[1]);
  s.prepare();
  EXPECT_FALSE(slept_out(s));
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

TEST(Sleeper, IsWokenByAWakeBetweenPrepareAndSleep) {
  Sleeper s;
  s.prepare();
  s.wake();
  EXPECT_FALSE(slept_out(s));
}

TEST(Sleeper, IsNotWokenByAWakeBeforePrepare) {
  Sleeper s;
  s.wake();  // its work is seen by the look that prepare() asks for
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

TEST(Sleeper, IsNotWokenByAWakeAfterCancel) {
  Sleeper s;
  s.prepare();
  s.cancel();
  s.wake();
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

TEST(Sleeper, ASleepTakesItsWakesAway) {
  Sleeper s;
  for (int i = 0; i < 3; ++i) {
    s.prepare();
    s.wake();
    s.wake();
    EXPECT_FALSE(slept_out(s)) << i;
    s.prepare();
    EXPECT_TRUE(slept_out(s, kShort)) << i;
  }
}

TEST(Sleeper, ZeroIsNoSleep) {
  Sleeper s;
  s.prepare();
  s.sleep(Duration{0});
  s.wake();  // it is awake
  s.prepare();
  EXPECT_TRUE(slept_out(s, kShort));
}

// One thread gives work to another that sleeps whenever it sees none: a single lost wake-up hangs for kLimit.
// Each sleep is timed by itself: how long all of them take is the machine's affair.
TEST(Sleeper, LosesNoWakeUp) {
  constexpr int kItems = 20000;
  Sleeper s;
  std::atomic<int> given{0};
  std::atomic<int> taken{0};
  std::atomic<bool> lost{false};
  std::jthread worker([&] {
    int seen = 0;
    while (seen < kItems) {
      s.prepare();
      if (given.load(std::memory_order_acquire) != seen)
        s.cancel();
      else
        lost = lost || slept_out(s);
      seen = given.load(std::memory_order_acquire);
      taken.store(seen, std::memory_order_release);
    }
  });
  for (int i = 1; i <= kItems; ++i) {
    given.store(i, std::memory_order_release);
    s.wake();
    while (i % 2 == 0 && taken.load(std::memory_order_acquire) != i) std::this_thread::yield();
  }
  worker.join();
  EXPECT_FALSE(lost);
}

}  // namespace
}  // namespace surety
