// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/divert.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "router/daemon/linux/kernel_devices.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using frames::Octets, frames::operator+;

// A kernel that forwards between two TAP twins, customer and core.
class ForwardingGuardTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    run("ip link set lo up && sysctl -q net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
    customer_.emplace(TapMirrorSettings{.name = "customer", .mac = frames::kOurMac});
    core_.emplace(TapMirrorSettings{.name = "core", .mac = frames::kOurMac});
    for (TapMirror* const twin : {&*customer_, &*core_}) twin->set_carrier(true);
    // The carrier comes later.
    for (const char* const twin : {"customer", "core"})
      run(std::string("timeout 5 sh -c 'until ip link show ") + twin +
          " | grep -q \"state UP\"; do :; done'");
    run("sysctl -q net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.customer.rp_filter=0");
    run("ip address add 10.1.0.254/24 dev customer && ip address add 10.2.0.254/24 dev core");
    run("ip neighbor add 10.2.0.1 lladdr 02:00:00:00:00:99 dev core");
    run("ip neighbor add 10.1.0.1 lladdr 02:00:00:00:00:99 dev customer");
  }
  static int index_of(const char* name) { return static_cast<int>(::if_nametoindex(name)); }
  static Octets udp_to_core() {
    return frames::ethernet(frames::kIpv4) + frames::ip4(17, frames::udp(7, 7, 3));
  }
  static Octets ping_of_router() {
    Octets icmp{8, 0, 0, 0, 0, 1, 0, 1};
    const Octets sum = frames::be16(frames::checksum(icmp.data(), icmp.size()));
    icmp[2] = sum[0], icmp[3] = sum[1];
    return frames::ethernet(frames::kIpv4) + frames::ip4(1, icmp, {.destination = 0x0a0100fe});
  }
  // IPv4 packets of that protocol that the kernel sends by a twin within a while.
  static std::size_t sent(TapMirror& twin, std::uint8_t protocol, std::size_t wanted) {
    Octets room(2048);
    std::size_t n = 0;
    const auto until = std::chrono::steady_clock::now() + (wanted > 0 ? 5s : 100ms);
    while (n < std::max<std::size_t>(wanted, 1) && std::chrono::steady_clock::now() < until) {
      pollfd ready{twin.fd(), POLLIN, 0};
      ::poll(&ready, 1, 10);
      const auto f = twin.read(room);
      n += f.size() > 34 && f[12] == 8 && f[13] == 0 && f[23] == protocol ? 1u : 0u;
    }
    return n;
  }

  std::optional<TapMirror> customer_, core_;
};

TEST_F(ForwardingGuardTest, TheKernelWouldForward) {
  EXPECT_TRUE(customer_->write(udp_to_core()));
  EXPECT_EQ(sent(*core_, 17, 1), 1u) << "else the next tests show nothing";
}

TEST_F(ForwardingGuardTest, NothingOfATwinLeavesByAnother) {
  ForwardingGuard guard;
  const auto customer = guard.watch(index_of("customer")), core = guard.watch(index_of("core"));
  EXPECT_TRUE(customer_->write(udp_to_core()));
  EXPECT_EQ(sent(*core_, 17, 0), 0u);
  EXPECT_EQ(guard.refused(), 1u);
}

TEST_F(ForwardingGuardTest, NorByAPort) {
  ForwardingGuard guard;
  const auto mark = guard.mark(index_of("customer"));
  Divert divert(index_of("core"));
  EXPECT_TRUE(customer_->write(udp_to_core()));
  EXPECT_EQ(sent(*core_, 17, 0), 0u);
  EXPECT_EQ(divert.refused(), 1u);
}

TEST_F(ForwardingGuardTest, AnswersOfTheKernelPassWithoutAMark) {
  ForwardingGuard guard;
  const auto customer = guard.watch(index_of("customer"));
  run("sysctl -q net.ipv4.fwmark_reflect=1");  // the answer gets the mark of the question
  EXPECT_TRUE(customer_->write(ping_of_router()));
  EXPECT_EQ(sent(*customer_, 1, 1), 1u);
  EXPECT_EQ(guard.refused(), 0u);
}

TEST_F(ForwardingGuardTest, WhatComesByOtherInterfacesIsForwarded) {
  ForwardingGuard guard;
  const auto core = guard.watch(index_of("core"));
  EXPECT_TRUE(customer_->write(udp_to_core()));  // as a management network
  EXPECT_EQ(sent(*core_, 17, 1), 1u);
}

TEST_F(ForwardingGuardTest, ItsProgramsGoWithIt) {
  {
    ForwardingGuard guard;
    const auto customer = guard.watch(index_of("customer")), core = guard.watch(index_of("core"));
  }
  EXPECT_TRUE(customer_->write(udp_to_core()));
  EXPECT_EQ(sent(*core_, 17, 1), 1u);
}

}  // namespace
}  // namespace surety
