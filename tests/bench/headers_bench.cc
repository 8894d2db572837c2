// SPDX-License-Identifier: BSD-3-Clause
// Cycles to parse, validate and key one packet: a ring of 1024 prepared frames with distinct flows.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <vector>

#include "router/pipeline/wire/headers.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

using namespace frames;

constexpr std::size_t kRing = 1024;

ParseContext context() {
  ParseContext c;
  c.mac = kOurMac;
  return c;
}

void parse_ring(benchmark::State& state, const std::vector<Octets>& distinct) {
  std::vector<Octets> ring;
  for (std::size_t i = 0; i < kRing; ++i) ring.push_back(distinct[i % distinct.size()]);
  const ParseContext c = context();
  ParsedPacket out;
  std::uint64_t cycles = 0, forwarded = 0;
  for (auto _ : state) {
    const std::uint64_t start = __rdtsc();
    for (const Octets& frame : ring) {
      forwarded += parse(frame, c, out).forwards();
      benchmark::DoNotOptimize(out);
    }
    cycles += __rdtsc() - start;
  }
  const auto packets = static_cast<double>(state.iterations()) * static_cast<double>(kRing);
  if (static_cast<double>(forwarded) != packets) state.SkipWithError("a frame was refused");
  state.counters["cycles/packet"] = static_cast<double>(cycles) / packets;
  state.SetItemsProcessed(static_cast<std::int64_t>(packets));
}

std::vector<Octets> per_flow(Octets (*make)(std::uint16_t source_port)) {
  std::vector<Octets> frames;
  for (std::size_t i = 0; i < kRing; ++i) frames.push_back(make(static_cast<std::uint16_t>(1024 + i)));
  return frames;
}

Octets v4_udp(std::uint16_t port) {
  return pad(ethernet(kIpv4) + ip4(17, udp(port, 9, 18)), 60);
}
Octets v4_tcp(std::uint16_t port) {
  return pad(ethernet(kIpv4) + ip4(6, tcp(port, 9, 0)), 60);
}
Octets v4_mixed(std::uint16_t port) {
  return (port * 0x9e3779b9u >> 20 & 1) != 0 ? v4_tcp(port) : v4_udp(port);
}
Octets v4_dccp(std::uint16_t port) {
  return pad(ethernet(kIpv4) + ip4(33, dccp(port, 9, 4, true)), 60);
}
Octets v4_qinq(std::uint16_t port) {
  return ethernet(0x88a8) + vlan(7, 0x8100) + vlan(port & 0xfff, kIpv4) + ip4(17, udp(port, 9, 10));
}
Octets v6_udp(std::uint16_t port) {
  return ethernet(kIpv6) + ip6(17, udp(port, 9, 0));
}
Octets v6_options(std::uint16_t port) {
  return ethernet(kIpv6) + ip6(60, Octets{17, 0, 1, 4, 0, 0, 0, 0} + udp(port, 9, 0));
}

void run(benchmark::State& state, Octets (*make)(std::uint16_t)) {
  parse_ring(state, per_flow(make));
}

BENCHMARK_CAPTURE(run, v4_udp, v4_udp);
BENCHMARK_CAPTURE(run, v4_tcp_and_udp_at_random, v4_mixed);
BENCHMARK_CAPTURE(run, v6_udp, v6_udp);
BENCHMARK_CAPTURE(run, v4_udp_qinq, v4_qinq);
BENCHMARK_CAPTURE(run, v4_dccp, v4_dccp);
BENCHMARK_CAPTURE(run, v6_destination_options, v6_options);

}  // namespace
}  // namespace surety
