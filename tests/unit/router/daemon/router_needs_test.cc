// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/router_needs.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/unit/router/operate/observe/fake_router.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
using Kind = config::Device::Kind;
using testing::Contains;
using testing::Not;
using Capabilities = std::set<int>;

// A router with one device, that opens no others.
config::Config with(Kind kind, const std::string& name = "") {
  config::Config c;
  c.router.new_ports = false;
  c.ports.resize(1);
  c.ports[0].name = "lan";
  c.ports[0].device.kind = kind;
  c.ports[0].device.name = name;
  return c;
}

TEST(RouterNeeds, CapabilitiesAreThoseOfTheDevices) {
  const auto of = [](Kind kind) { return needs_of(with(kind, "x"), "").capabilities; };
  EXPECT_EQ(of(Kind::null), Capabilities{});
  EXPECT_EQ(of(Kind::pcap), Capabilities{});
  EXPECT_EQ(of(Kind::memif), Capabilities{CAP_NET_ADMIN});
  EXPECT_EQ(of(Kind::af_packet), (Capabilities{CAP_NET_ADMIN, CAP_BPF}));
  EXPECT_EQ(of(Kind::af_xdp), (Capabilities{CAP_NET_ADMIN, CAP_BPF}));
  EXPECT_EQ(of(Kind::pci), (Capabilities{CAP_NET_ADMIN, CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_RAWIO}));
}

TEST(RouterNeeds, OnlyPortsThatMayComeNeedPacketSockets) {
  config::Config c = with(Kind::af_packet, "eth1");
  EXPECT_FALSE(needs_of(c, "").packet_sockets);
  c.router.new_ports = true;
  const Needs needs = needs_of(c, "");
  const bool root = ::geteuid() == 0;  // others could open none
  EXPECT_EQ(needs.packet_sockets, root);
  EXPECT_EQ(needs.capabilities.contains(CAP_NET_RAW), root);
}

TEST(RouterNeeds, SocketsOfPeersAreRemovedWhereTheyAre) {
  EXPECT_THAT(needs_of(with(Kind::memif, "/run/m/a.sock"), "").change, Contains("/run/m"));
  EXPECT_THAT(needs_of(with(Kind::vhost, "/run/v/a.sock"), "").change, Contains("/run/v"));
  EXPECT_THAT(needs_of(with(Kind::af_packet, "/run/x/eth1"), "").change, Not(Contains("/run/x")));
}

// An editor replaces a file by another one of its name.
TEST(RouterNeeds, TheDirectoriesOfAFileAndOfALinksTargetAreRead) {
  const test::RuntimeDirectory top;
  fs::create_directories(top.path() / "real");
  std::ofstream(top.path() / "real/router.yaml") << "version: 1\n";
  fs::create_symlink("real/router.yaml", top.path() / "router.yaml");
  const Needs needs = needs_of(with(Kind::null), top.path() / "router.yaml");
  EXPECT_THAT(needs.read, Contains(top.path().string()));
  EXPECT_THAT(needs.read, Contains((fs::canonical(top.path()) / "real").string()));
}

TEST(RouterNeeds, AFileThatItsModeHidesNeedsACapability) {
  const test::RuntimeDirectory top;
  const fs::path key = top.path() / "key";
  std::ofstream(key) << "secret";
  config::Config c = with(Kind::null);
  const auto of = [&](fs::perms mode) {
    fs::permissions(key, mode);
    return needs_of(c, "").capabilities;
  };
  for (std::string* const file : {&c.signalling.key_file, &c.metrics.password_file}) {
    *file = key;
    EXPECT_EQ(of(fs::perms(0600)), Capabilities{});
    EXPECT_EQ(of(fs::perms(0000)), Capabilities{CAP_DAC_READ_SEARCH});
    file->clear();
  }
  c.metrics.tls.emplace();
  for (std::string* const file : {&c.metrics.tls->cert_file, &c.metrics.tls->key_file}) {
    *file = key;
    EXPECT_EQ(of(fs::perms(0000)), Capabilities{CAP_DAC_READ_SEARCH});
    file->clear();
  }
}

}  // namespace
}  // namespace surety
