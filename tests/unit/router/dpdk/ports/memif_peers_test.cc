// SPDX-License-Identifier: BSD-3-Clause
// That sendmsg() of this process, which DPDK's memif driver calls, is ours.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "router/process/fd.h"

namespace surety {
namespace {

// Of a pair whose other end has been closed: sends 4 bytes as a library would that is loaded later.
ssize_t send_to_nobody(int type) {
  std::array<int, 2> pair;
  EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Fd end(pair[0]);
  { const Fd other(pair[1]); }
  const auto send = reinterpret_cast<decltype(&::sendmsg)>(dlsym(RTLD_DEFAULT, "sendmsg"));
  std::array<char, 4> bytes{};
  std::array<iovec, 2> parts{{{bytes.data(), 1}, {bytes.data(), 3}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return send(end.get(), &message, 0);
}

TEST(MemifPeers, WhatIsSentToOneThatHasGoneCountsAsSent) {
  EXPECT_EQ(send_to_nobody(SOCK_SEQPACKET), 4);
}

TEST(MemifPeers, OtherSocketsFailAsEver) {
  EXPECT_EQ(send_to_nobody(SOCK_STREAM), -1);  // and no SIGPIPE
  EXPECT_EQ(errno, EPIPE);
  msghdr message{};
  EXPECT_EQ(::sendmsg(-1, &message, 0), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(MemifPeers, MessagesArrive) {
  std::array<int, 2> pair;
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Fd a(pair[0]), b(pair[1]);
  char sent = 'x', got = 0;
  iovec part{&sent, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  EXPECT_EQ(::sendmsg(a.get(), &message, 0), 1);
  EXPECT_EQ(::recv(b.get(), &got, 1, MSG_DONTWAIT), 1);
  EXPECT_EQ(got, 'x');
}

}  // namespace
}  // namespace surety
