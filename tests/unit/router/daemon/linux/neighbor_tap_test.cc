// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/neighbor_tap.h"

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <vector>

#include "tests/unit/router/daemon/linux/network_namespace.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace responder_frames;
using arp::Operation;

// The tap is at a0; frames come from b0.
class NeighborTapTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    run("ip link add a0 address 02:00:00:00:00:01 type veth peer name b0");
    run("ip link set a0 arp off up && ip link set b0 arp off up");
    run("timeout 5 sh -c 'until ip link show a0 | grep -q LOWER_UP; do :; done'");
    tap_.emplace(static_cast<int>(::if_nametoindex("a0")));
    wire_ = Fd(::socket(AF_PACKET, SOCK_RAW, 0));
  }
  void send(const Octets& frame) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(::if_nametoindex("b0"));
    ASSERT_EQ(
        ::sendto(wire_.get(), frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof(to)),
        static_cast<ssize_t>(frame.size()));
  }
  // What the tap has of these, all of them sent.
  std::vector<Octets> seen(const std::vector<Octets>& frames) {
    for (const Octets& f : frames) send(f);
    std::vector<Octets> all;
    std::array<std::uint8_t, 2048> room;
    for (auto f = tap_->read(room); !f.empty(); f = tap_->read(room)) all.emplace_back(f.begin(), f.end());
    return all;
  }
  std::optional<NeighborTap> tap_;
  Fd wire_;
};

TEST_F(NeighborTapTest, ArpAndNeighbourDiscoveryToThisStationOrToAll) {
  const std::vector<Octets> said{
      arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254"),
      arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"),
      solicitation(kPeer, "2001:db8:1::1", "ff02::1:ff00:fe", "2001:db8:1::fe"),
      advertisement(kOurs, "2001:db8:1::1", "2001:db8:1::fe", 0x60, "2001:db8:1::1", kPeer)};
  EXPECT_EQ(seen(said), said);
}

TEST_F(NeighborTapTest, NothingElse) {
  Octets tagged = arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254");
  for (const std::uint8_t byte : Octets{7, 0, 0, 0x81}) tagged.insert(tagged.begin() + 12, byte);
  EXPECT_EQ(seen({arp_frame(Operation::reply, kOther, kPeer, "10.1.0.1", kOther, "10.1.0.7"), tagged,
                  ping6(kPeer, "2001:db8:1::1", "2001:db8:1::fe"), ping(kPeer, "10.1.0.1", "10.1.0.254"),
                  Octets(14), Octets(60)}),
            std::vector<Octets>{});
}

}  // namespace
}  // namespace surety
