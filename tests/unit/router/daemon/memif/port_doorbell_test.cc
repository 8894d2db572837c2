// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace surety::memif {
namespace {

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

TEST(MemifDoorbell, AddsToAnEventfd) {
  Doorbell bell;
  ASSERT_TRUE(bell.able());
  const Fd event(::eventfd(0, EFD_NONBLOCK));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(bell.ring(event.get())) << i;
  eventfd_t count = 0;
  EXPECT_EQ(::eventfd_read(event.get(), &count), 0);
  EXPECT_EQ(count, 1000u);
}

TEST(MemifDoorbell, DoesNotWaitForOneThatIsFull) {
  Doorbell bell;
  const Fd event(::eventfd(0, 0));
  ASSERT_EQ(::eventfd_write(event.get(), 0xFFFFFFFFFFFFFFFE), 0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bell.ring(event.get()));
}

TEST(MemifDoorbell, RingsNothingElse) {
  Doorbell bell;
  const Fd null(::open("/dev/null", O_RDWR));
  EXPECT_FALSE(bell.ring(null.get()));
  EXPECT_FALSE(bell.ring(-1));
}

TEST(MemifWake, TellsOfEachRingOnce) {
  Doorbell bell;
  Wake wake;
  const Fd event(::eventfd(0, 0));
  wake.follow(event.get());
  EXPECT_FALSE(readable(wake.fd()));
  for (int i = 0; i < 3; ++i) {
    bell.ring(event.get());
    EXPECT_TRUE(readable(wake.fd()));
    wake.calm();
    EXPECT_FALSE(readable(wake.fd()));
  }
  wake.ring();
  EXPECT_TRUE(readable(wake.fd()));
  wake.calm();
  wake.leave(event.get());
  bell.ring(event.get());
  EXPECT_FALSE(readable(wake.fd()));
}

}  // namespace
}  // namespace surety::memif
