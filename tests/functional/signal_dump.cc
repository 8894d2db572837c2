// SPDX-License-Identifier: BSD-3-Clause
// signal_dump FILE: writes congestion signals as a pcap file (raw IP), for test_signal_golden.py: of a TCP
// packet in IPv4 and of a UDP packet in IPv6, each to its source; and one of which only addresses and DSCP
// are known, to a border. Everything in them is fixed, so is every byte.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <span>

#include "router/pipeline/signals/signal_sender.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace {

using namespace surety;
using namespace surety::frames;

constexpr UnixTime kWall(std::chrono::milliseconds(1'700'000'000'123));

class Pcap {
 public:
  explicit Pcap(const char* path) : out_(path, std::ios::binary) {
    for (const std::uint32_t word : {0xa1b2'c3d4u, 0x0004'0002u, 0u, 0u, 65535u, 101u}) put(word);
  }
  void write(std::span<const std::uint8_t> ip) {
    const auto length = static_cast<std::uint32_t>(ip.size());
    for (const std::uint32_t word : {1'700'000'000u, 123'000u, length, length}) put(word);
    out_.write(reinterpret_cast<const char*>(ip.data()), length);
  }
  bool good() const { return out_.good(); }

 private:
  void put(std::uint32_t word) { out_.write(reinterpret_cast<const char*>(&word), sizeof word); }
  std::ofstream out_;
};

Prefix prefix4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint8_t length) {
  return {IpAddress::v4(a, b, c, d), length};
}

// Router 10.9.0.1, key 7 is 00 01 .. 0f; what comes from 10.5.0.0/16 has its border at 10.9.0.5.
config::Config configuration() {
  config::Config c;
  c.router.id = 0x0a090001;
  config::Port port;
  port.trust = config::Port::Trust::core;
  port.addresses = {prefix4(10, 9, 0, 1, 24), *parse_prefix("2001:db8:9::1/64")};
  c.ports = {port};
  c.signalling.borders = {{prefix4(10, 5, 0, 0, 16), prefix4(10, 9, 0, 5, 32).address}};
  return c;
}

SignalKeys keys() {
  HiddenKey::Plain secret;
  std::iota(secret.begin(), secret.end(), std::uint8_t{0});
  return {{{.id = 7, .secret = HiddenKey(secret)}}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: signal_dump FILE\n", stderr);
    return 2;
  }
  Pcap pcap(argv[1]);
  const auto c = configuration();
  const auto k = keys();
  SignalSender sender(c, k, Time{}, kWall);
  const auto write = [&](const CongestionSignal& signal) {
    std::array<std::uint8_t, kMaxSignalBytes> room;
    pcap.write(std::span(room).first(sender.write(signal, Time{}, kWall, room)));
  };
  // Not larger than what is quoted: tshark 4.0 gives up before the extension if the quoted packet was.
  write(signal_about(ip4(6, tcp(40000, 5001, 60), {.tos = 12 << 2})));
  write(signal_about(ip6(17, udp(40001, 5002, 60), {.traffic_class = 20 << 2})));
  CongestionSignal bare;
  bare.source = prefix4(10, 5, 1, 2, 32).address;
  bare.destination = prefix4(10, 6, 3, 4, 32).address;
  bare.dscp = 14;
  write(bare);
  return pcap.good() ? 0 : 1;
}
