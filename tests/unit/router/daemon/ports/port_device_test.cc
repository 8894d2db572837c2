// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/port_device.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "router/daemon/ports/interface.h"
#include "router/daemon/ports/port.h"
#include "router/process/fd.h"

namespace surety {
namespace {

using Kind = config::Device::Kind;

config::Port port_of(Kind kind, const std::string& name) {
  config::Port p;
  p.name = "p0";
  p.device.kind = kind;
  p.device.name = name;
  return p;
}

std::string arguments(const config::Port& p) {
  return device_arguments(p, 3, "steer.o");
}

std::string refusal(const config::Port& p) {
  try {
    check_device(p);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(DeviceArguments, AreWhatDpdkProbes) {
  EXPECT_EQ(arguments(port_of(Kind::pci, "0000:03:00.0")), "0000:03:00.0");
  EXPECT_EQ(arguments(port_of(Kind::af_xdp, "eth1")),
            "net_af_xdp3,iface=eth1,queue_count=1,xdp_prog=steer.o");
  EXPECT_EQ(arguments(port_of(Kind::af_packet, "eth1")), "net_af_packet3,iface=eth1,qpairs=1,qdisc_bypass=1");
  EXPECT_EQ(arguments(port_of(Kind::tap, "t0")), "net_tap3,iface=t0");
  EXPECT_EQ(arguments(port_of(Kind::vhost, "/run/v")), "net_vhost3,iface=/run/v,queues=1");
  EXPECT_EQ(arguments(port_of(Kind::null, "")), "net_null3,size=64,copy=0,no-rx=1");
  EXPECT_EQ(arguments(port_of(Kind::null, kFeedDevice)), "net_null3,size=64,copy=0,no-rx=0");
}

TEST(DeviceArguments, OfVirtioUserCarryTheAddress) {
  auto p = port_of(Kind::virtio_user, "/run/v");
  p.mac = MacAddress{{2, 0, 0, 0, 0, 0xa}};
  EXPECT_EQ(arguments(p), "net_virtio_user3,path=/run/v,queues=1,mac=02:00:00:00:00:0a");
}

TEST(DeviceArguments, NameTheQueuesThatAreAskedFor) {
  auto p = port_of(Kind::af_xdp, "eth1");
  p.rx_queues = 4;
  EXPECT_EQ(arguments(p), "net_af_xdp3,iface=eth1,queue_count=4,xdp_prog=steer.o");
  p.device.kind = Kind::af_packet;
  EXPECT_EQ(arguments(p), "net_af_packet3,iface=eth1,qpairs=4,qdisc_bypass=1");
  p.mtu = 9000;
  EXPECT_EQ(arguments(p),
            "net_af_packet3,iface=eth1,qpairs=4,qdisc_bypass=1,framesz=9088,blocksz=290816,framecnt=512");
  p.device.kind = Kind::vhost;
  EXPECT_EQ(arguments(p), "net_vhost3,iface=eth1,queues=4");
}

TEST(DeviceArguments, OfPcapNameTheFilesThereAre) {
  auto p = port_of(Kind::pcap, "");
  p.device.rx_file = "in.pcap";
  EXPECT_EQ(arguments(p), "net_pcap3,rx_pcap=in.pcap");
  p.device.tx_file = "out.pcap";
  EXPECT_EQ(arguments(p), "net_pcap3,rx_pcap=in.pcap,tx_pcap=out.pcap");
}

TEST(DeviceArguments, OfWhatIsNotSupportedAreRefused) {
  EXPECT_THROW(arguments(port_of(Kind::ring, "r")), std::runtime_error);
  EXPECT_THROW(arguments(port_of(Kind::none, "")), std::runtime_error);
  EXPECT_THROW(arguments(port_of(Kind::memif, "/run/a.sock")), std::runtime_error) << "no device of DPDK's";
}

class CheckDevice : public testing::Test {
 protected:
  CheckDevice() {
    std::string pattern = std::filesystem::temp_directory_path() / "suretyXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    socket_ = directory_ / "a.sock";
  }
  ~CheckDevice() override { std::filesystem::remove_all(directory_); }

  config::Port memif(bool server) const {
    auto p = port_of(Kind::memif, socket_);
    p.device.server = server;
    return p;
  }
  Fd serve() const {
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd.get(), 1), 0);
    return fd;
  }

  std::filesystem::path directory_, socket_;
};

TEST_F(CheckDevice, RefusesAnInterfaceThatIsNotThere) {
  const std::string said = refusal(port_of(Kind::af_packet, "nosuch0"));
  EXPECT_TRUE(said.starts_with("port p0: there is no interface `nosuch0` here; there are")) << said;
  EXPECT_EQ(missing_device(port_of(Kind::af_packet, "nosuch0")), said);
  EXPECT_FALSE(missing_device(port_of(Kind::af_packet, "lo")));
  EXPECT_TRUE(missing_device(port_of(Kind::pci, "ffff:ff:1f.7")));
}

TEST_F(CheckDevice, APciDeviceThatTheKernelUsesIsMissing) {
  const auto device = [&](const char* address, const char* driver, const char* interface) {
    std::filesystem::create_directories(directory_ / address / interface);
    std::filesystem::create_symlink(std::string("/sys/bus/pci/drivers/") + driver,
                                    directory_ / address / "driver");
    return missing_device(port_of(Kind::pci, address), directory_);
  };
  EXPECT_EQ(device("0000:03:00.0", "e1000e", "net/enp3s0"),
            "port p0: the kernel uses PCI device 0000:03:00.0 (driver e1000e); `surety setup` or "
            "`dpdk-devbind.py -b vfio-pci 0000:03:00.0` binds it to vfio-pci");
  EXPECT_TRUE(device("0000:04:00.0", "virtio-pci", "virtio3/net/enp4s0"));
  EXPECT_FALSE(device("0000:05:00.0", "mlx5_core", "net/enp5s0"));
  EXPECT_FALSE(device("0000:06:00.0", "vfio-pci", "."));
  EXPECT_FALSE(missing_device(port_of(Kind::pci, "05:00.0"), directory_));
}

TEST_F(CheckDevice, RefusesAFileThatIsNotThere) {
  auto p = port_of(Kind::pcap, "");
  p.device.rx_file = directory_ / "in.pcap";
  EXPECT_EQ(refusal(p), "port p0: no such file: " + p.device.rx_file);
}

TEST_F(CheckDevice, MakesTheDirectoryOfASocket) {
  socket_ = directory_ / "new/er/a.sock";
  EXPECT_EQ(refusal(memif(false)), "");
  EXPECT_TRUE(std::filesystem::is_directory(directory_ / "new/er"));
}

TEST_F(CheckDevice, RefusesASocketThatIsServedAlready) {
  const Fd other = serve();
  EXPECT_EQ(refusal(memif(true)), "port p0: another process serves " + socket_.string() +
                                      "; stop it, be its client, or use another socket");
  EXPECT_EQ(refusal(memif(false)), "");
  EXPECT_TRUE(std::filesystem::exists(socket_));
}

TEST_F(CheckDevice, ClearsAwayTheSocketOfAServerThatDied) {
  { const Fd dead = serve(); }
  ASSERT_TRUE(std::filesystem::exists(socket_));
  EXPECT_EQ(refusal(memif(false)), "");
  EXPECT_TRUE(std::filesystem::exists(socket_)) << "not a client's to clear";
  EXPECT_EQ(refusal(memif(true)), "");
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(CheckDevice, LeavesAFileThatIsNoSocket) {
  std::ofstream(socket_) << "precious";
  EXPECT_EQ(refusal(memif(true)),
            "port p0: " + socket_.string() +
                " exists, and is not a socket or not accessible; remove it, or use another");
  EXPECT_TRUE(std::filesystem::exists(socket_));
}

TEST_F(CheckDevice, RefusesPathsThatNoSocketCanHave) {
  EXPECT_NE(refusal(port_of(Kind::memif, "/" + std::string(kSocketPath - 1, 'x') + "y")).find("at most 107"),
            std::string::npos);
  EXPECT_NE(refusal(port_of(Kind::memif, "/a,b")).find("no comma"), std::string::npos);
  EXPECT_NE(refusal(port_of(Kind::memif, "a.sock")).find("absolute path"), std::string::npos);
}

TEST_F(CheckDevice, RefusesVirtioUserWithoutItsVhost) {
  EXPECT_EQ(refusal(port_of(Kind::virtio_user, socket_)),
            "port p0: no process serves " + socket_.string() + "; start the vhost side first");
}

TEST(Interface, LoopbackReceivesInOneQueue) {
  EXPECT_EQ(channels_of("lo").rx, 1u);
  EXPECT_FALSE(channels_of("lo").combined);
  EXPECT_EQ(channels_of("nosuch0").rx, 1u);
  EXPECT_FALSE(interface_up("nosuch0"));
}

}  // namespace
}  // namespace surety
