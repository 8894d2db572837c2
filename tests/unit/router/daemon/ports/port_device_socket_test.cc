// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port_device.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "router/process/fd.h"

namespace surety {
namespace {

class SocketFileTest : public testing::Test {
 protected:
  SocketFileTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "suretyXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    path_ = directory_ / "a.sock";
  }
  ~SocketFileTest() override { std::filesystem::remove_all(directory_); }

  Fd serve(int type) {
    Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd.get(), 0), 0);
    return fd;
  }
  SocketFile look(int type = SOCK_SEQPACKET) const { return look_at_socket(path_, type); }

  std::filesystem::path directory_, path_;
};

TEST_F(SocketFileTest, Absent) {
  EXPECT_EQ(look(), SocketFile::absent);
}

TEST_F(SocketFileTest, LiveWhileSomebodyListens) {
  const Fd server = serve(SOCK_SEQPACKET);
  EXPECT_EQ(look(), SocketFile::live);
}

TEST_F(SocketFileTest, LiveWhenItsQueueIsFull) {
  const Fd server = serve(SOCK_SEQPACKET);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look(), SocketFile::live) << i;
}

TEST_F(SocketFileTest, LiveWhenOfAnotherType) {
  const Fd server = serve(SOCK_STREAM);
  EXPECT_EQ(look(SOCK_SEQPACKET), SocketFile::live);
  EXPECT_EQ(look(SOCK_STREAM), SocketFile::live);
}

TEST_F(SocketFileTest, StaleWhenItsServerHasGone) {
  { const Fd server = serve(SOCK_SEQPACKET); }
  EXPECT_EQ(look(), SocketFile::stale);
}

TEST_F(SocketFileTest, NoSocketIsNotOurs) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(look(), SocketFile::other);
}

TEST_F(SocketFileTest, AWayThatIsNoDirectoryIsNotOurs) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(look_at_socket(path_ / "b.sock", SOCK_SEQPACKET), SocketFile::other);
}

}  // namespace
}  // namespace surety
