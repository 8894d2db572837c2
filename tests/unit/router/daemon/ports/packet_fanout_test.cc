// SPDX-License-Identifier: BSD-3-Clause
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "router/daemon/ports/port.h"
#include "router/process/fd.h"
#include "tests/unit/router/daemon/ports/namespace_and_back.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

constexpr unsigned kDefragment = unsigned{PACKET_FANOUT_FLAG_DEFRAG} << 16;

// Type and flags of the socket's group, as setsockopt() takes them.
unsigned fanout_of(int socket) {
  unsigned mode = 0;
  socklen_t size = sizeof mode;
  EXPECT_EQ(::getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &mode, &size), 0);
  return mode;
}

class PacketFanoutTest : public InNamespaceAndBack {};

TEST_F(PacketFanoutTest, LeavesFragmentsAsTheyAre) {
  make_wire();
  const Fd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_ALL);
  where.sll_ifindex = static_cast<int>(if_nametoindex("a0"));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
  const unsigned mode = 7 | PACKET_FANOUT_HASH << 16 | PACKET_FANOUT_FLAG_ROLLOVER << 16 | kDefragment;
  ASSERT_EQ(::setsockopt(socket.get(), SOL_PACKET, PACKET_FANOUT, &mode, sizeof mode), 0);
  EXPECT_EQ(fanout_of(socket.get()), mode & ~kDefragment);
}

TEST_F(PacketFanoutTest, OtherOptionsAreTheKernels) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
  EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, 1), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(PacketFanoutTest, HoldsForTheDriverOfAPort) {
  make_wire();
  config::Port config;
  config.name = "p0";
  config.device.kind = config::Device::Kind::af_packet;
  config.device.name = "a0";
  DpdkPort port(config, 0, test::packet_pool());
  port.start();
  ASSERT_FALSE(port.wake_fds(0).empty());
  for (const int socket : port.wake_fds(0)) EXPECT_EQ(fanout_of(socket) & kDefragment, 0u);
}

}  // namespace
}  // namespace surety
