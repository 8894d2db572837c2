// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/steer.h"

#include <filesystem>
#include <stdexcept>

#include "tests/unit/router/daemon/linux/steer_bed.h"

namespace surety {
namespace {

using namespace steer_bed;
using ::testing::ThrowsMessage;

TEST_F(SteerTest, TransitGoesToTheDataPlane) {
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1"))), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1"))), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8:1::1", 58, 128))), "transit");  // an echo request
}

TEST_F(SteerTest, WhatTheDataPlaneRefusesByNameGoesThere) {
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1", 1))), "transit");
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1", 0))), "transit");
  Octets cut = frame(kTag + kOuterTag + ipv6("2001:db8:1::1"));
  cut.resize(14 + 8 + 39);
  EXPECT_EQ(decision(cut), "transit");
}

TEST_F(SteerTest, OwnAddressesAreTheKernels) {
  EXPECT_EQ(decision(frame(ipv4("10.1.0.254"))), "local");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::fe"))), "local");
}

TEST_F(SteerTest, RoutingProtocolsAreAClassOfTheirOwn) {
  const Octets to_us = ipv4("10.1.0.254");
  constexpr std::uint8_t tcp = 6, udp = 17;
  for (const Octets& packet :
       {carrying(to_us, 89), carrying(to_us, 112), carrying(to_us, tcp, 179), carrying(to_us, tcp, 9000, 179),
        carrying(to_us, udp, 9000, 3784), carrying(to_us, udp, 9000, 4784)})
    EXPECT_EQ(decision(frame(packet)), "routing");
  for (const Octets& packet : {carrying(to_us, tcp, 9000, 22), carrying(to_us, udp, 9000, 179)})
    EXPECT_EQ(decision(frame(packet)), "local");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "fe80::2", 89))), "routing");
  EXPECT_EQ(decision(frame(carrying(ipv4("10.2.0.1"), tcp, 179))), "transit");
  // Not where other bytes stand in the place of ports.
  Octets fragment = carrying(to_us, tcp, 179, 179);
  fragment[2 + 7] = 1;
  EXPECT_EQ(decision(frame(fragment)), "local");
  Octets options = to_us;
  options[2] = 0x47;
  options.insert(options.end(), 8, 0);
  EXPECT_EQ(decision(frame(carrying(options, tcp, 179))), "routing");
  EXPECT_EQ(decision(frame(options)), "local");
}

// The data plane judges congestion signals, for whomever they are; other ICMP to us is the kernel's.
TEST_F(SteerTest, CongestionSignalsAreNotTheKernels) {
  Octets signal = ipv4("10.1.0.254");
  signal[2 + 9] = 1;  // ICMP
  EXPECT_EQ(decision(frame(signal)), "icmp");
  signal[2 + 20] = 253;
  EXPECT_EQ(decision(frame(signal)), "transit");
  EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8::fe", 58, 128))), "icmp");
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
      ThrowsMessage<std::runtime_error>("cannot assign an address to the kernel: Argument list too long"));
}

TEST_F(SteerTest, ArpAndOtherEtherTypes) {
  EXPECT_EQ(decision(frame({0x08, 0x06})), "arp");
  EXPECT_EQ(decision(frame({0x88, 0xcc})), "other");                   // LLDP
  EXPECT_EQ(decision(frame({0x00, 0x26, 0x42, 0x42, 3})), "other");    // IEEE 802.3: spanning tree
  EXPECT_EQ(decision(frame({0x00, 0x26, 0xfe, 0xfe, 3})), "routing");  // IS-IS
}

TEST_F(SteerTest, MulticastAndBroadcastMacs) {
  const Octets broadcast(6, 0xff), ospf{0x01, 0x00, 0x5e, 0, 0, 5};
  EXPECT_EQ(decision(frame({0x08, 0x06}, broadcast)), "arp");
  EXPECT_EQ(decision(frame(ipv4("224.0.0.5"), ospf)), "group");
  EXPECT_EQ(decision(frame(ipv4("255.255.255.255"), broadcast)), "group");
  for (const char* one : {"10.2.0.1", "10.1.0.254"})
    for (const Octets& to : {broadcast, ospf}) EXPECT_EQ(decision(frame(ipv4(one), to)), "transit") << one;
  for (const char* one : {"2001:db8:1::1", "2001:db8::fe", "fe80::1"})
    EXPECT_EQ(decision(frame(ipv6(one), {0x33, 0x33, 0, 0, 0, 1})), "transit") << one;
  EXPECT_EQ(decision(frame(carrying(ipv4("224.0.0.5"), 89), ospf)), "routing");
  EXPECT_EQ(decision(frame(carrying(ipv4("224.0.0.18"), 112), {0x01, 0x00, 0x5e, 0, 0, 18})), "routing");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "ff02::12", 112), {0x33, 0x33, 0, 0, 0, 18})), "routing");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "ff02::1", 58, 135), {0x33, 0x33, 0, 0, 0, 1})), "nd");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "ff02::1", 58, 128), {0x33, 0x33, 0, 0, 0, 1})), "group");
  Octets cut = frame(ipv6("fe80::1", "ff02::1"), {0x33, 0x33, 0, 0, 0, 1});
  cut.resize(14 + 39);
  EXPECT_EQ(decision(cut), "group");
}

TEST_F(SteerTest, DhcpIsAClassOfItsOwn) {
  const Octets broadcast(6, 0xff), agents{0x33, 0x33, 0, 1, 0, 2};
  for (const auto port : std::initializer_list<std::uint16_t>{67, 68}) {
    EXPECT_EQ(decision(frame(carrying(ipv4("255.255.255.255"), 17, 68, port), broadcast)), "dhcp") << port;
    EXPECT_EQ(decision(frame(carrying(ipv4("10.1.0.254"), 17, 67, port))), "dhcp") << port;
    EXPECT_EQ(decision(frame(carrying(ipv4("10.2.0.1"), 17, 67, port))), "transit") << port;
  }
  EXPECT_EQ(decision(frame(carrying(ipv4("255.255.255.255"), 17, 68, 69), broadcast)), "group");
  const auto six = [](const char* to, std::uint8_t port) {
    Octets packet = ipv6("fe80::1", to);
    packet[2 + 40 + 2] = 2;
    packet[2 + 40 + 3] = port;
    return packet;
  };
  EXPECT_EQ(decision(frame(six("ff02::1:2", 547 - 512), agents)), "dhcp");
  EXPECT_EQ(decision(frame(six("fe80::2", 546 - 512))), "dhcp");
  EXPECT_EQ(decision(frame(six("2001:db8:1::1", 547 - 512))), "transit");
}

// A kernel that asks for an address does not have it: it takes the answer as a broadcast, and cannot forward
// it.
TEST_F(SteerTest, AnOfferToTheRouterIsABroadcastForTheKernel) {
  const Octets in = frame(offer("10.77.0.5", kUnicast));
  EXPECT_EQ(decision(in), "dhcp");
  EXPECT_EQ(out_, frame([&] {
              Octets as_broadcast = offer("255.255.255.255", kUnicast);
              as_broadcast[2 + 26] = 0;
              return as_broadcast;
            }()));
}

TEST_F(SteerTest, WhatIsNoOfferToTheRouterIsUnchanged) {
  const Octets other{2, 0, 0, 0, 0, 0x0c};
  Octets cut = frame(offer("10.77.0.5", kUnicast));
  cut.resize(14 + 28 + 28 + 5);
  Octets with_options = frame(offer("10.77.0.5", kUnicast));
  with_options[14] = 0x46;
  for (const Octets& in :
       {frame(offer("10.77.0.5", other)), frame(offer("10.77.0.5", kUnicast, 68, 67)),
        frame(offer("10.77.0.5", kUnicast, 67, 69)), frame(offer("10.77.0.5", kUnicast, 67, 68, 0x20)),
        frame(offer("10.77.0.5", kUnicast), Octets(6, 0xff)), cut, with_options}) {
    EXPECT_EQ(decision(in), "transit");
    EXPECT_EQ(out_, in);
  }
  const Octets own = frame(offer("10.1.0.254", kUnicast));
  EXPECT_EQ(decision(own), "dhcp");
  EXPECT_EQ(out_, own) << "the router has that address";
}

TEST_F(SteerTest, Ipv6LinkLocalScope) {
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "fe80::2"))), "local");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "febf::1"))), "local");  // fe80::/10
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "2001:db8::fe"))), "local");
  EXPECT_EQ(decision(frame(ipv6("fe80::1", "2001:db8:1::1"))), "transit") << "not for this router";
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1", "fe80::1"))), "transit") << "from beyond the link";
  EXPECT_EQ(decision(frame(ipv6("2001:db8:1::1", "fec0::1"))), "transit");
}

// For the kernel only where it is for the router: else it would be a way past the data plane.
TEST_F(SteerTest, NeighborDiscoveryOfOthersIsTransit) {
  for (const auto type : std::initializer_list<std::uint8_t>{133, 134, 135, 136, 137}) {
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8:1::1", 58, type))), "transit") << int{type};
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "2001:db8::fe", 58, type))), "nd") << int{type};
    EXPECT_EQ(decision(frame(ipv6("2001:db8::1", "fe80::1", 58, type))), "nd") << int{type};
  }
}

// The kernel's routes decide. A packet whose source has no route back goes to the data plane, which refuses
// it.
TEST_F(SteerTest, SourcesOfPacketsForTheRouterAreChecked) {
  run("ip link add asks type veth peer name asked && ip link set asks up && ip link set asked up");
  run("sysctl -q net.ipv4.conf.asks.forwarding=1 net.ipv6.conf.asks.forwarding=1");
  run("ip link set b0 up && ip address add 10.1.0.254/24 dev a0 && ip -6 address add 2001:db8::fe/64 dev a0 "
      "nodad");
  run("ip route add 10.9.0.0/16 dev asks && ip -6 route add 2001:db8:9::/64 dev asks");
  const auto from = [&](const Octets& source, const char* to) {
    Octets packet = source.size() == 4 ? ipv4(to) : ipv6(to);
    std::ranges::copy(source, packet.begin() + 2 + (source.size() == 4 ? 12 : 8));
    return decision(frame(packet), a0_);
  };
  const auto four = [&](const char* source) { return from(bytes_of(source), "10.1.0.254"); };
  const auto six = [&](const char* source) { return from(bytes_of(source), "2001:db8::fe"); };
  const int asker = static_cast<int>(::if_nametoindex("asks"));
  struct Case {
    steer_sources sources;
    const char *own, *other, *none;
  };
  for (const auto& [sources, own, other, none] :
       {Case{STEER_SOURCES_ANY, "local", "local", "local"},
        Case{STEER_SOURCES_LOOSE, "local", "local", "transit"},
        Case{STEER_SOURCES_STRICT, "local", "transit", "transit"}}) {
    steer_->check_sources(sources, asker);
    EXPECT_EQ(four("10.1.0.7") + " " + six("2001:db8::7"), std::string(own) + " " + own) << sources;
    EXPECT_EQ(four("10.9.0.7") + " " + six("2001:db8:9::7"), std::string(other) + " " + other) << sources;
    EXPECT_EQ(four("192.0.2.7") + " " + six("2001:db8:ffff::7"), std::string(none) + " " + none) << sources;
    EXPECT_EQ(four("10.1.0.254"), sources == STEER_SOURCES_ANY ? "local" : "transit") << "our own";
    Octets dhcp = carrying(ipv4("10.1.0.254"), 17, 68, 67);
    std::ranges::copy(bytes_of("192.0.2.7"), dhcp.begin() + 2 + 12);
    EXPECT_EQ(decision(frame(dhcp), a0_), sources == STEER_SOURCES_ANY ? "dhcp" : "transit");
  }
  EXPECT_EQ(decision(frame(carrying(ipv4("10.1.0.254"), 89)), a0_), "routing") << "has limits of its own";
  run("sysctl -q net.ipv4.conf.asks.forwarding=0");
  EXPECT_EQ(four("192.0.2.7"), "local") << "nobody can say";
}

// Interfaces are the data plane's, whatever comes by them; VLAN 0 is a priority and no tag.
TEST_F(SteerTest, BehindTagsAllIsTransit) {
  const Octets priority{0x81, 0x00, 0xa0, 0x00};
  const Octets old{0x91, 0x00, 0x00, 0x64}, older{0x92, 0x00, 0x00, 0x64};
  for (const Octets& tags :
       {kTag, kOuterTag, kOuterTag + kTag, kTag + kTag, priority + kTag, old, old + kTag, older})
    for (const Octets& rest :
         {ipv4("10.2.0.1"), ipv4("10.1.0.254"), ipv6("2001:db8::fe"), Octets{0x08, 0x06}})
      EXPECT_EQ(decision(frame(tags + rest)), "transit");
  EXPECT_EQ(decision(frame(kTag + kTag + kTag + ipv4("10.2.0.1"))), "transit");
  EXPECT_EQ(decision(frame(priority + ipv4("10.1.0.254"))), "local");
  EXPECT_EQ(decision(frame(priority + Octets{0x08, 0x06})), "arp");
  EXPECT_EQ(decision(frame(priority + priority + ipv4("10.1.0.254"))), "local");
  for (const Octets& rest : {ipv4("10.2.0.1"), ipv4("10.1.0.254"), ipv6("2001:db8::fe"), Octets{0x08, 0x06}})
    EXPECT_EQ(decision(frame(priority + priority + priority + rest)), "transit");
}

TEST_F(SteerTest, EveryLengthOfAFrameIsDecided) {
  const Octets whole = frame(Octets{0x81, 0x00, 0xa0, 0x00} + ipv6("2001:db8::1", "2001:db8::fe", 58, 135));
  for (std::size_t n = ETH_HLEN; n < whole.size();
       ++n) {  // the kernel runs no program on less than an Ethernet header
    const std::string expected = n < 18 ? "other" : n < 18 + 40 ? "transit" : n < 18 + 40 + 4 ? "icmp" : "nd";
    EXPECT_EQ(decision({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}), expected) << n;
  }
}

// The kernel would forward it past every conditioner and queue.
TEST_F(SteerTest, WithoutASocketTransitIsDropped) {
  const std::uint32_t queue = 0;
  ASSERT_EQ(bpf_map_delete_elem(bpf_object__find_map_fd_by_name(object_.get(), "xsks_map"), &queue), 0);
  EXPECT_EQ(decision(frame(ipv4("10.2.0.1"))), "transit no_socket");
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
  EXPECT_THAT([b0] { Steer{b0}; },
              ThrowsMessage<std::runtime_error>("the XDP program of interface " + std::to_string(b0) +
                                                " (foreign) is not Surety's, or its maps cannot be opened"));
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
