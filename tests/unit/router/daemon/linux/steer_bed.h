// SPDX-License-Identifier: BSD-3-Clause
// The XDP program of af_xdp ports, attached to one end of a wire, and frames for it.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/socket.h>

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "router/daemon/linux/steer.h"
#include "tests/unit/router/daemon/linux/netlink_text.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety::steer_bed {

using Octets = std::vector<std::uint8_t>;

inline Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Octets bytes_of(const char* text) {
  const IpAddress a = address(text);
  return {a.data(), a.data() + a.size()};
}

inline const Octets kUnicast{2, 0, 0, 0, 0, 0x0a};
inline const Octets kTag{0x81, 0x00, 0x00, 0x64}, kOuterTag{0x88, 0xa8, 0x00, 0xc8};

inline Octets frame(const Octets& type_and_payload, const Octets& destination = kUnicast) {
  Octets f = destination + Octets{2, 0, 0, 0, 0, 0x0b} + type_and_payload;
  f.resize(std::max<std::size_t>(f.size(), 60));
  return f;
}
inline Octets ipv4(const char* destination, std::uint8_t ttl = 64) {
  return Octets{0x08, 0x00, 0x45, 0, 0, 28, 0, 1, 0, 0, ttl, 17, 0, 0} + bytes_of("10.1.0.1") +
         bytes_of(destination) + Octets(8);
}
inline Octets ipv6(const char* source, const char* destination, std::uint8_t next_header = 17,
                   std::uint8_t icmp_type = 0) {
  return Octets{0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, next_header, 64} + bytes_of(source) + bytes_of(destination) +
         Octets{icmp_type, 0, 0, 0, 0, 0, 0, 0};
}
inline Octets ipv6(const char* destination) {
  return ipv6("2001:db8::1", destination);
}

// An IPv4 packet as ipv4() makes it, of another protocol, and the ports that begin it.
inline Octets carrying(Octets packet, std::uint8_t protocol, std::uint16_t from = 1000,
                       std::uint16_t to = 1000) {
  packet[2 + 9] = protocol;
  const Octets port_numbers{static_cast<std::uint8_t>(from >> 8), static_cast<std::uint8_t>(from),
                            static_cast<std::uint8_t>(to >> 8), static_cast<std::uint8_t>(to)};
  std::ranges::copy(port_numbers, packet.begin() + 2 + (packet[2] & 15) * 4);
  return packet;
}

// An answer of DHCP to the client of that MAC address, with a checksum of its header.
inline Octets offer(const char* destination, const Octets& client, std::uint16_t from = 67,
                    std::uint16_t to = 68, std::uint8_t fragment = 0) {
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

}  // namespace surety::steer_bed
