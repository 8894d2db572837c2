// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/steer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/socket.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/router/linux/netlink_text.h"
#include "tests/unit/router/linux/network_namespace.h"

namespace surety {
namespace {

using ::testing::ThrowsMessage;
using Octets = std::vector<std::uint8_t>;

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Octets bytes_of(const char* text) {
  const IpAddress a = address(text);
  return {a.data(), a.data() + a.size()};
}

const Octets kUnicast{2, 0, 0, 0, 0, 0x0a};
const Octets kTag{0x81, 0x00, 0x00, 0x64}, kServiceTag{0x88, 0xa8, 0x00, 0xc8};

Octets frame(const Octets& type_and_payload, const Octets& destination = kUnicast) {
  Octets f = destination + Octets{2, 0, 0, 0, 0, 0x0b} + type_and_payload;
  f.resize(std::max<std::size_t>(f.size(), 60));
  return f;
}
Octets ipv4(const char* destination, std::uint8_t ttl = 64) {
  return Octets{0x08, 0x00, 0x45, 0, 0, 28, 0, 1, 0, 0, ttl, 17, 0, 0} + bytes_of("10.1.0.1") +
         bytes_of(destination) + Octets(8);
}
Octets ipv6(const char* source, const char* destination, std::uint8_t next_header = 17,
            std::uint8_t icmp_type = 0) {
  return Octets{0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, next_header, 64} + bytes_of(source) + bytes_of(destination) +
         Octets{icmp_type, 0, 0, 0, 0, 0, 0, 0};
}
Octets ipv6(const char* destination) {
  return ipv6("2001:db8::1", destination);
}

struct CloseObject {
  void operator()(bpf_object* o) const { bpf_object__close(o); }
};

// The program as net_af_xdp loads it: attached to a0, with a socket for receive queue 0.
class SteerTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    a0_ = static_cast<int>(::if_nametoindex("a0"));
    object_.reset(bpf_object__open_file(steer_object_path().c_str(), nullptr));
    ASSERT_NE(object_, nullptr) << "no object at \"" << steer_object_path() << "\"";
    ASSERT_EQ(bpf_object__load(object_.get()), 0);
    program_ = bpf_program__fd(bpf_object__next_program(object_.get(), nullptr));
    ASSERT_EQ(bpf_xdp_attach(a0_, program_, XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr), 0);
    socket_ = Fd(::socket(AF_XDP, SOCK_RAW, 0));
    const std::uint32_t queue = 0;
    const int fd = socket_.get();
    ASSERT_EQ(bpf_map_update_elem(bpf_object__find_map_fd_by_name(object_.get(), "xsks_map"), &queue, &fd, 0),
              0);
    steer_.emplace(a0_);
    steer_->add_local(address("10.1.0.254"));
    steer_->add_local(address("2001:db8::fe"));
  }
  // What the program does with the frame, in the words of its counters.
  std::string decision(const Octets& f) {
    const SteerStats before = steer_->stats();
    bpf_test_run_opts run{};
    run.sz = sizeof(run);
    run.data_in = f.data();
    run.data_size_in = static_cast<std::uint32_t>(f.size());
    run.repeat = 1;
    EXPECT_EQ(bpf_prog_test_run_opts(program_, &run), 0);
    const SteerStats after = steer_->stats();
    std::string counted;
    for (std::size_t i = 0; i < after.size(); ++i)
      for (auto n = before[i]; n < after[i]; ++n) counted += kSteerDecisionNames[i];
    EXPECT_EQ(run.retval, static_cast<unsigned>(counted == "transit"     ? XDP_REDIRECT
                                                : counted == "no_socket" ? XDP_DROP
                                                                         : XDP_PASS));
    return counted;
  }

  std::unique_ptr<bpf_object, CloseObject> object_;
  int program_ = -1, a0_ = 0;
  Fd socket_;
  std::optional<Steer> steer_;
};

TEST_F(SteerTest, TransitGoesToTheDataPlane) {
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1"))), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1"))), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8:1::1", 58, 128))), "transit");  // an echo request
}

TEST_F(SteerTest, WhatTheDataPlaneRefusesByNameGoesThere) {
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1", 1))), "transit");
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1", 0))), "transit");
  Octets cut = frame(kTag + kServiceTag + ipv6("2001:db8:1::1"));
  cut.resize(14 + 8 + 39);
  EXPECT_EQ(decision(cut), "transit");
}

TEST_F(SteerTest, OwnAddressesAreTheKernels) {
  EXPECT_EQ(decision(frame(ipv4("10.1.0.254"))), "local");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::fe"))), "local");
}

// The data plane judges congestion signals, for whomever they are; other ICMP to us is the kernel's.
TEST_F(SteerTest, CongestionSignalsAreNotTheKernels) {
  Octets signal = ipv4("10.1.0.254");
  signal[2 + 9] = 1;  // ICMP
  EXPECT_EQ(decision(frame(signal)), "local");
  signal[2 + 20] = 253;
  EXPECT_EQ(decision(frame(signal)), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8::fe", 58, 128))), "local");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8::fe", 58, 100))), "transit");
}

TEST_F(SteerTest, AddressesComeAndGo) {
  steer_->add_local(address("10.1.0.254"));  // once more
  steer_->remove_local(address("10.1.0.254"));
  steer_->remove_local(address("10.1.0.254"));  // no longer there
  EXPECT_EQ(decision(frame(ipv4("10.1.0.254"))), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::fe"))), "local");
  steer_->remove_local(address("2001:db8::fe"));
  EXPECT_EQ(decision(frame(ipv6("2001:db8::fe"))), "transit");
}

TEST_F(SteerTest, AddressesHaveARoomAndItsEndIsToldNotFatal) {
  for (int i = 1; i < 1024; ++i) {  // one is in already
    IpAddress a = address("10.3.0.0");
    a.data()[2] = static_cast<std::uint8_t>(i >> 8);
    a.data()[3] = static_cast<std::uint8_t>(i);
    steer_->add_local(a);
  }
  EXPECT_THAT(
      [this] { steer_->add_local(address("10.4.0.1")); },
      ThrowsMessage<std::runtime_error>("cannot leave an address to the kernel: Argument list too long"));
}

TEST_F(SteerTest, ArpAndOtherEtherTypes) {
  EXPECT_EQ(decision(frame({0x08, 0x06})), "arp");
  EXPECT_EQ(decision(frame({0x88, 0xcc})), "non_ip");  // LLDP
  EXPECT_EQ(decision(frame({0x00, 0x26})), "non_ip");  // an IEEE 802.3 length: IS-IS, spanning tree
}

TEST_F(SteerTest, MulticastAndBroadcastMacs) {
  const Octets broadcast(6, 0xff), ospf{0x01, 0x00, 0x5e, 0, 0, 5};
  EXPECT_EQ(decision(frame({0x08, 0x06}, broadcast)), "multicast");
  EXPECT_EQ(decision(frame(ipv4("224.0.0.5"), ospf)), "multicast");
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1"), {0x33, 0x33, 0, 0, 0, 1})), "multicast");
}

TEST_F(SteerTest, Ipv6LinkLocalScope) {
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "2001:db8:1::1"))), "link_local");
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1", "fe80::1"))), "link_local");
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1", "febf::1"))), "link_local");  // fe80::/10
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1", "fec0::1"))), "transit");
}

// For the kernel only where it is for the router: else it would be a way past the data plane.
TEST_F(SteerTest, NeighborDiscoveryOfOthersIsTransit) {
  for (const auto type : std::initializer_list<std::uint8_t>{133, 134, 135, 136, 137}) {
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8:1::1", 58, type))), "transit") << int{type};
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8::fe", 58, type))), "local") << int{type};
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "fe80::1", 58, type))), "link_local") << int{type};
  }
}

TEST_F(SteerTest, BehindOneOrTwoTags) {
  for (const Octets& tags : {kTag, kServiceTag, kServiceTag + kTag, kTag + kTag}) {
    EXPECT_EQ(decision(frame(tags + ipv4("10.2.0.1"))), "transit");
    EXPECT_EQ(decision(frame(tags + ipv4("10.1.0.254"))), "local");
    EXPECT_EQ(decision(frame(tags + ipv6("2001:db8:1::1"))), "transit");
    EXPECT_EQ(decision(frame(tags + ipv6("2001:db8::fe"))), "local");
    EXPECT_EQ(decision(frame(tags + Octets{0x08, 0x06})), "arp");
  }
  EXPECT_EQ(decision(frame(kTag + kTag + kTag + ipv4("10.2.0.1"))), "non_ip");
}

TEST_F(SteerTest, EveryLengthOfAFrameIsDecided) {
  const Octets whole = frame(kServiceTag + kTag + ipv6("2001:db8::1", "2001:db8::fe", 58, 135));
  for (std::size_t n = ETH_HLEN; n < whole.size();
       ++n) {  // the kernel runs no program on less than an Ethernet header
    const std::string expected = n < 22 ? "non_ip" : n < 22 + 40 ? "transit" : "local";
    EXPECT_EQ(decision({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}), expected) << n;
  }
}

// The kernel would forward it past every conditioner and queue.
TEST_F(SteerTest, WithoutASocketTransitIsDropped) {
  const std::uint32_t queue = 0;
  ASSERT_EQ(bpf_map_delete_elem(bpf_object__find_map_fd_by_name(object_.get(), "xsks_map"), &queue), 0);
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1"))), "no_socket");
  EXPECT_EQ(decision(frame(ipv4("10.1.0.254"))), "local");
}

TEST_F(SteerTest, EachInterfaceHasItsOwnMaps) {
  const int b0 = static_cast<int>(::if_nametoindex("b0"));
  EXPECT_THAT([b0] { Steer{b0}; },
              ThrowsMessage<std::runtime_error>("interface " + std::to_string(b0) + " has no XDP program"));
  std::unique_ptr<bpf_object, CloseObject> second(
      bpf_object__open_file(steer_object_path().c_str(), nullptr));
  ASSERT_EQ(bpf_object__load(second.get()), 0);
  ASSERT_EQ(bpf_xdp_attach(b0, bpf_program__fd(bpf_object__next_program(second.get(), nullptr)), 0, nullptr),
            0);
  Steer(b0).add_local(address("10.2.0.1"));
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1"))), "transit");
}

TEST_F(SteerTest, ForeignProgramsAndMissingInterfacesAreNamed) {
  const bpf_insn pass[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
                           {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  const Fd foreign(bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", pass, 2, nullptr));
  ASSERT_TRUE(foreign);
  const int b0 = static_cast<int>(::if_nametoindex("b0"));
  ASSERT_EQ(bpf_xdp_attach(b0, foreign.get(), 0, nullptr), 0);
  EXPECT_THAT([b0] { Steer{b0}; }, ThrowsMessage<std::runtime_error>(
                                       "the XDP program of interface " + std::to_string(b0) +
                                       " (foreign) is not surety's, or maps of it cannot be opened"));
  EXPECT_THAT([] { Steer(9999); }, ThrowsMessage<std::runtime_error>("interface 9999 has no XDP program"));
}

TEST(SteerObjectPath, EnvironmentOverridesTheBuiltOne) {
  const std::string built = steer_object_path();
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "steer.bpf.o";
  EXPECT_EQ(built, beside.string());
  ::setenv("SURETY_STEER_OBJECT", "/elsewhere/steer.bpf.o", 1);
  EXPECT_EQ(steer_object_path(), "/elsewhere/steer.bpf.o");
  ::unsetenv("SURETY_STEER_OBJECT");
}

}  // namespace
}  // namespace surety
