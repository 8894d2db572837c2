// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/receive_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "router/process/fd.h"

namespace surety {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Fd open_socket(int family) {
  return Fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

TEST(OpenSockets, AreThoseOfOneFamily) {
  const Fd unix_socket = open_socket(AF_UNIX), inet = open_socket(AF_INET);
  const Fd no_socket(eventfd(0, EFD_CLOEXEC));
  EXPECT_THAT(open_sockets(AF_UNIX), Contains(unix_socket.get()));
  EXPECT_THAT(open_sockets(AF_UNIX), Not(Contains(inet.get())));
  EXPECT_THAT(open_sockets(AF_INET), Contains(inet.get()));
  EXPECT_THAT(open_sockets(AF_UNIX), Not(Contains(no_socket.get())));
}

TEST(OpenSockets, OfNoFamilyAreNone) {
  const Fd no_socket(eventfd(0, EFD_CLOEXEC));
  EXPECT_THAT(open_sockets(-1), IsEmpty());
}

TEST(SocketWatch, NamesWhatHasAppearedSinceItLastLooked) {
  const Fd before = open_socket(AF_UNIX);
  SocketWatch watch(AF_UNIX);
  EXPECT_THAT(watch.appeared(), IsEmpty());
  const Fd first = open_socket(AF_UNIX), other = open_socket(AF_INET);
  EXPECT_THAT(watch.appeared(), ElementsAre(first.get()));
  const Fd second = open_socket(AF_UNIX);
  EXPECT_THAT(watch.appeared(), ElementsAre(second.get()));
  EXPECT_THAT(watch.appeared(), IsEmpty());
}

TEST(SocketWatch, ForgetsWhatWasClosed) {
  SocketWatch watch(AF_UNIX);
  int number = 0;
  {
    const Fd gone = open_socket(AF_UNIX);
    number = gone.get();
    EXPECT_THAT(watch.appeared(), ElementsAre(number));
  }
  EXPECT_THAT(watch.appeared(), IsEmpty());
  const Fd again = open_socket(AF_UNIX);
  ASSERT_EQ(again.get(), number) << "the kernel gives the lowest free number";
  EXPECT_THAT(watch.appeared(), ElementsAre(number));
}

TEST(WakeFds, StandByQueue) {
  WakeFds wakes;
  EXPECT_THAT(wakes.of(0), IsEmpty());
  wakes.add(1, 7);
  wakes.add(1, 8);
  EXPECT_THAT(wakes.of(0), IsEmpty());
  EXPECT_THAT(wakes.of(1), ElementsAre(7, 8));
  EXPECT_THAT(wakes.of(2), IsEmpty());
}

}  // namespace
}  // namespace surety
