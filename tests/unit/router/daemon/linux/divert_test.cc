// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/divert.h"

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using Octets = std::vector<std::uint8_t>;
constexpr std::uint16_t kType = 0x88b5;  // for experiments (IEEE 802): nobody else's

class DivertTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    near_ = packet_socket("a0");
    far_ = packet_socket("b0");
    divert_.emplace(static_cast<int>(::if_nametoindex("a0")));
  }
  static Fd packet_socket(const char* interface) {
    Fd fd(::socket(AF_PACKET, SOCK_RAW, 0));
    sockaddr_ll where{};
    where.sll_family = AF_PACKET;
    where.sll_protocol = htons(kType);
    where.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
    return fd;
  }
  bool send(std::uint8_t number, std::size_t size = 60) {
    Octets f{2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a, kType >> 8, kType & 0xff, number};
    f.resize(size);
    return ::send(near_.get(), f.data(), f.size(), 0) == static_cast<ssize_t>(f.size());
  }
  // The numbers of the frames that arrived, in their order.
  Octets on_the_wire() {
    Octets numbers, room(2048);
    while (::recv(far_.get(), room.data(), room.size(), MSG_DONTWAIT) > 0) numbers.push_back(room[14]);
    return numbers;
  }
  Octets with_us() {
    Octets numbers, room(2048);
    while (true) {
      const auto f = divert_->read(room);
      if (f.empty()) return numbers;
      if (f[12] == kType >> 8 && f[13] == (kType & 0xff)) numbers.push_back(f[14]);
    }
  }
  void keep(std::chrono::nanoseconds more) { divert_->keep(std::chrono::steady_clock::now() + more); }
  static std::string output(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }

  Fd near_, far_;
  std::optional<Divert> divert_;
};

TEST_F(DivertTest, WhatTheKernelSendsComesToUsInItsOrder) {
  keep(1h);
  for (std::uint8_t i = 1; i <= 100; ++i) EXPECT_TRUE(send(i));
  Octets all;
  for (std::uint8_t i = 1; i <= 100; ++i) all.push_back(i);
  EXPECT_EQ(with_us(), all);
  EXPECT_EQ(on_the_wire(), Octets{});
}

TEST_F(DivertTest, FramesOfTheLargestMtuComeWhole) {
  run("ip link set a0 mtu 9000");
  keep(1h);
  EXPECT_TRUE(send(1, 9014));
  Octets room(10'000);
  std::size_t size = 0;
  for (pollfd fd{divert_->fd(), POLLIN, 0}; size == 0 && ::poll(&fd, 1, 3000) > 0;)
    if (const auto f = divert_->read(room); f[12] == kType >> 8 && f[13] == (kType & 0xff)) size = f.size();
  EXPECT_EQ(size, 9014u);
}

// As DPDK's af_packet sends; AF_XDP has no other way.
TEST_F(DivertTest, WhatTheDataPlaneTransmitsIsNotTheKernels) {
  keep(1h);
  const int on = 1;
  ASSERT_EQ(::setsockopt(near_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)), 0);
  EXPECT_TRUE(send(1));
  EXPECT_EQ(on_the_wire(), Octets{1});
  EXPECT_EQ(with_us(), Octets{});
}

TEST_F(DivertTest, WhereNobodyKeepsItTheKernelSendsAsWithoutUs) {
  EXPECT_TRUE(send(1));
  keep(1h);
  EXPECT_TRUE(send(2));
  keep(0s);
  EXPECT_TRUE(send(3));
  EXPECT_EQ(on_the_wire(), (Octets{1, 3}));
  EXPECT_EQ(with_us(), Octets{2});
}

// As it does with the process, while the program stays.
TEST_F(DivertTest, WhereTheDeviceIsGoneTheKernelSendsAsWithoutUs) {
  keep(1h);
  run("ip link del surety-out" + std::to_string(::if_nametoindex("a0")));
  EXPECT_TRUE(send(1));
  EXPECT_EQ(on_the_wire(), Octets{1});
}

TEST_F(DivertTest, WhatFindsNoRoomIsDroppedAndNothingGoesPast) {
  keep(1h);
  constexpr std::size_t kSent = 10'000;
  for (std::size_t i = 0; i < kSent; ++i) send(1);
  const std::size_t held = with_us().size();
  EXPECT_GE(held, 500u);
  EXPECT_LT(held, kSent);
  EXPECT_EQ(on_the_wire(), Octets{});
  EXPECT_TRUE(send(2));
  EXPECT_EQ(with_us(), Octets{2});
}

TEST_F(DivertTest, NothingStaysBehind) {
  EXPECT_NE(output("tc filter show dev a0 egress").find("surety_divert"), std::string::npos);
  divert_.reset();
  EXPECT_EQ(output("tc filter show dev a0 egress"), "");
  EXPECT_EQ(output("tc qdisc show dev a0").find("clsact"), std::string::npos);
  EXPECT_EQ(output("ip -o link").find("surety-out"), std::string::npos);
  EXPECT_TRUE(send(1));
  EXPECT_EQ(on_the_wire(), Octets{1});
}

// The kernel has nothing to say by the device itself: all that comes by it is the port's.
TEST_F(DivertTest, TheDeviceIsSilentByItself) {
  pollfd fd{divert_->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 1500), 0);
}

}  // namespace
}  // namespace surety
