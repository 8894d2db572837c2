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

#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
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

// An IPv4 packet as ipv4() makes it, of another protocol, and the ports that begin it.
Octets carrying(Octets packet, std::uint8_t protocol, std::uint16_t from = 1000, std::uint16_t to = 1000) {
  packet[2 + 9] = protocol;
  const Octets port_numbers{static_cast<std::uint8_t>(from >> 8), static_cast<std::uint8_t>(from),
                            static_cast<std::uint8_t>(to >> 8), static_cast<std::uint8_t>(to)};
  std::ranges::copy(port_numbers, packet.begin() + 2 + (packet[2] & 15) * 4);
  return packet;
}

// An answer of DHCP to the client of that MAC address, with a checksum of its header.
Octets offer(const char* destination, const Octets& client, std::uint16_t from = 67, std::uint16_t to = 68,
             std::uint8_t fragment = 0) {
  Octets packet = carrying(ipv4(destination), 17, from, to);
  packet[2 + 6] = fragment;
  packet[2 + 26] = 0x12;  // some UDP checksum
  packet.resize(2 + 28 + 28);
  packet = packet + client + Octets(202);
  std::uint32_t sum = 0;
  for (std::size_t i = 2; i < 22; i += 2) sum += static_cast<std::uint32_t>(packet[i] << 8 | packet[i + 1]);
  sum = ~((sum & 0xffff) + (sum >> 16));
  packet[2 + 10] = static_cast<std::uint8_t>(sum >> 8);
  packet[2 + 11] = static_cast<std::uint8_t>(sum);
  return packet;
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
    run("ip link set b0 down");  // the kernel at its other end would speak of groups and routers
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
  std::string decision(const Octets& f, int interface = 0) {
    const SteerStats before = steer_->stats();
    bpf_test_run_opts run{};
    run.sz = sizeof(run);
    xdp_md context{};
    context.data_end = static_cast<__u32>(f.size());
    context.ingress_ifindex = static_cast<__u32>(interface);
    if (interface != 0) {
      run.ctx_in = &context;
      run.ctx_size_in = sizeof(context);
    }
    run.data_in = f.data();
    run.data_size_in = static_cast<std::uint32_t>(f.size());
    run.repeat = 1;
    out_.assign(f.size() + 256, 0);
    run.data_out = out_.data();
    run.data_size_out = static_cast<std::uint32_t>(out_.size());
    EXPECT_EQ(bpf_prog_test_run_opts(program_, &run), 0);
    out_.resize(run.data_size_out);
    const SteerStats after = steer_->stats();
    std::string counted;
    for (std::size_t i = 0; i < after.size(); ++i)
      for (auto n = before[i]; n < after[i]; ++n) counted += words(i);
    EXPECT_EQ(run.retval, static_cast<unsigned>(counted == "transit"                     ? XDP_REDIRECT
                                                : counted.find(' ') == std::string::npos ? XDP_PASS
                                                                                         : XDP_DROP));
    return counted;
  }
  // "transit", and the class of what is passed to the kernel; of what is dropped, why.
  static std::string words(std::size_t decision) {
    const SteerDecisionInfo& info = kSteerDecisionInfo[decision];
    const std::string name(info.frame_class);
    return decision == STEER_TRANSIT || info.result == "passed" ? name
                                                                : name + " " + std::string(info.result);
  }
  // How many of so many go to the kernel, one after the other at once.
  std::uint64_t passed(const Octets& f, int count) {
    const auto sum = [](const SteerStats& s) {
      return std::accumulate(s.begin() + STEER_PASSED, s.begin() + STEER_LIMITED, std::uint64_t{0});
    };
    const auto all = [](const SteerStats& s) {
      return std::accumulate(s.begin(), s.end(), std::uint64_t{0});
    };
    const SteerStats before = steer_->stats();
    bpf_test_run_opts run{};
    run.sz = sizeof(run);
    run.data_in = f.data();
    run.data_size_in = static_cast<std::uint32_t>(f.size());
    run.repeat = count;
    EXPECT_EQ(bpf_prog_test_run_opts(program_, &run), 0);
    const SteerStats after = steer_->stats();
    EXPECT_EQ(all(after) - all(before), static_cast<std::uint64_t>(count)) << "each is counted once";
    return sum(after) - sum(before);
  }

  std::unique_ptr<bpf_object, CloseObject> object_;
  Octets out_;  // the frame as the program left it
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

TEST_F(SteerTest, RoutingProtocolsAreAClassOfTheirOwn) {
  const Octets to_us = ipv4("10.1.0.254");
  constexpr std::uint8_t tcp = 6, udp = 17;
  for (const Octets& packet :
       {carrying(to_us, 89), carrying(to_us, tcp, 179), carrying(to_us, tcp, 9000, 179),
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
      ThrowsMessage<std::runtime_error>("cannot leave an address to the kernel: Argument list too long"));
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

// --- limits ---

constexpr int kArp = 2000, kIcmp = 1000, kRouting = 10'000;  // a second

Octets arp_of(std::uint8_t sender) {
  Octets f = frame({0x08, 0x06}, Octets(6, 0xff));
  f[11] = sender;
  return f;
}

class SteerLimitTest : public SteerTest {
 protected:
  using Clock = std::chrono::steady_clock;
  void SetUp() override {
    SteerTest::SetUp();
    if (IsSkipped()) return;
    const std::uint32_t only = 0, secret = 1;  // the same parts in every run
    ASSERT_EQ(bpf_map_update_elem(bpf_object__find_map_fd_by_name(object_.get(), ".bss"), &only, &secret, 0),
              0);
  }
  void exhaust(const Octets& f) {
    exhausted_ = Clock::now();
    passed(f, 20'000);
  }
  // What has come back since.
  double more(int rate) const {
    return rate * std::chrono::duration<double>(Clock::now() - exhausted_).count() + 1;
  }
  Clock::time_point exhausted_;
};

TEST_F(SteerLimitTest, WhoIsAloneMayUseHalfABucketAtOnceAndThenTheRate) {
  exhausted_ = Clock::now();
  const auto n = static_cast<double>(passed(arp_of(1), 20'000));
  EXPECT_GE(n, kArp / 8);
  EXPECT_LE(n, kArp / 8 + more(kArp));
}

TEST_F(SteerLimitTest, WhoAsksForLittleGetsItBesideWhoAsksForAll) {
  exhaust(arp_of(1));
  for (std::uint8_t sender = 2; sender < 6; ++sender) {
    EXPECT_EQ(passed(arp_of(sender), 20), 20u) << int{sender};
    EXPECT_LE(static_cast<double>(passed(arp_of(1), 100)), more(kArp));
  }
}

TEST_F(SteerLimitTest, EachClassHasItsOwn) {
  exhaust(arp_of(1));
  EXPECT_EQ(passed(frame(carrying(ipv4("10.1.0.254"), 89)), 1000), 1000u);
  EXPECT_EQ(passed(frame(carrying(ipv4("10.1.0.254"), 1)), 100), 100u);
  EXPECT_EQ(passed(frame(ipv4("10.1.0.254")), 2000), 2000u);
}

// Whoever has a thousand addresses has all the parts; but not those of neighbours that are known.
TEST_F(SteerLimitTest, NeighborsThatAreKnownHaveRoom) {
  steer_->add_neighbor({2, 0, 0, 0, 0, 77});
  exhausted_ = Clock::now();
  std::uint64_t others = 0;
  for (int i = 0; i < 1500; ++i) {
    Octets f = arp_of(1);
    f[9] = static_cast<std::uint8_t>(i >> 8), f[10] = static_cast<std::uint8_t>(i);
    others += passed(f, 1);
  }
  EXPECT_GE(others, kArp / 4u);
  EXPECT_LE(static_cast<double>(others), kArp / 4 + more(kArp));
  EXPECT_EQ(passed(arp_of(77), 100), 100u);
}

TEST_F(SteerLimitTest, APartIsANetworkOfSenders) {
  const Octets echo = frame(carrying(ipv4("10.1.0.254"), 1));
  Octets beside = echo, elsewhere = echo;
  beside[29] ^= 1, elsewhere[28] ^= 1;  // of the same /24 and of another
  exhaust(echo);
  EXPECT_LE(static_cast<double>(passed(beside, 100)), more(kIcmp));
  EXPECT_EQ(passed(elsewhere, 12), 12u);
}

TEST_F(SteerLimitTest, APartIsANetworkOfSendersIpv6) {
  const Octets echo = frame(ipv6("2001:db8:1:100::1", "2001:db8::fe", 58, 128));
  Octets beside = echo, elsewhere = echo;
  beside[14 + 8 + 7] ^= 1, elsewhere[14 + 8 + 6] ^= 1;  // of the same /56 and of another
  exhaust(echo);
  EXPECT_LE(static_cast<double>(passed(beside, 100)), more(kIcmp));
  EXPECT_EQ(passed(elsewhere, 12), 12u);
}

// Which stations of the Internet send BGP to us comes with the MAC address of a peer.
TEST_F(SteerLimitTest, WhatComesThroughARoutingPeerIsNotThePeers) {
  const Octets four = frame(carrying(ipv4("10.1.0.254"), 6, 9000, 179));
  Octets six = frame(ipv6("2001:db8:1:100::1", "2001:db8::fe", 6));
  six[14 + 40 + 3] = 179;
  for (const auto& [peer, network] : {std::pair{four, 14 + 12 + 2}, std::pair{six, 14 + 8 + 6}}) {
    Octets beyond = peer, beside = peer;
    beyond[static_cast<std::size_t>(network)] ^= 1, beside[11] ^= 1;
    exhaust(beyond);
    EXPECT_LE(static_cast<double>(passed(beyond, 1000)), more(kRouting));
    EXPECT_EQ(passed(peer, 100), 100u);
    EXPECT_EQ(passed(beside, 100), 100u);
  }
}

// Interfaces are the data plane's, whatever comes by them; VLAN 0 is a priority and no tag.
TEST_F(SteerTest, BehindTagsAllIsTransit) {
  const Octets priority{0x81, 0x00, 0xa0, 0x00};
  for (const Octets& tags : {kTag, kServiceTag, kServiceTag + kTag, kTag + kTag, priority + kTag})
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
