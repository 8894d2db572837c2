// SPDX-License-Identifier: BSD-3-Clause
// Cycles to write a congestion signal, and to judge one: believed, forged (what a flood without the key
// costs), beyond its source's limit, and from ever other addresses.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include "router/pipeline/signals/signal_gate.h"
#include "router/pipeline/signals/signal_sender.h"
#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace signals;

constexpr std::size_t kRing = 1024;
constexpr std::uint32_t kUnlimited = 400'000'000;  // a second: never reached

const SignalKeys kKeys{{key(1)}};

config::Signalling limit(std::uint32_t per_second) {
  config::Signalling s;
  s.source_limit = s.queue_limit = per_second;
  return s;
}

// `burst` does kRing things and returns how many went as expected; `prepare` is not counted.
template <class P, class B>
void measure(benchmark::State& state, P prepare, B burst) {
  std::uint64_t cycles = 0, as_expected = 0;
  for (auto _ : state) {
    prepare();
    const std::uint64_t start = __rdtsc();
    as_expected += burst();
    cycles += __rdtsc() - start;
  }
  const auto packets = static_cast<double>(state.iterations()) * static_cast<double>(kRing);
  if (static_cast<double>(as_expected) != packets) state.SkipWithError("not the expected result");
  state.counters["cycles/packet"] = static_cast<double>(cycles) / packets;
}

// Judges a ring of packets again and again, `step` apart.
template <class P>
void judge_ring(benchmark::State& state, SignalGate& gate, const std::vector<Octets>& ring,
                SignalResult result, P prepare, Duration step = std::chrono::microseconds(1)) {
  CongestionSignal out;
  Time now{};
  measure(state, prepare, [&] {
    std::uint64_t as_expected = 0;
    for (const Octets& ip : ring) as_expected += gate.judge(ip, now += step, kWall, out) == result;
    return as_expected;
  });
}

std::vector<Octets> ring_of(const SignalKey& k, bool ipv6, bool many_sources = false) {
  std::vector<Octets> ring;
  for (std::size_t i = 0; i < kRing; ++i) {
    SignalMessage m = message(ipv6);
    if (many_sources) m.from.data()[ipv6 ? 14 : 2] = static_cast<std::uint8_t>(i >> 8);
    if (many_sources) m.from.data()[ipv6 ? 15 : 3] = static_cast<std::uint8_t>(i);
    ring.push_back(packet(m, k));
  }
  return ring;
}

void nothing() {}

void accepted(benchmark::State& state, bool ipv6) {
  SignalGate gate(limit(kUnlimited), 0, kKeys);
  std::vector<Octets> ring = ring_of(key(1), ipv6);
  SignalMessage m = message(ipv6);
  judge_ring(state, gate, ring, SignalResult::applied, [&] {
    for (Octets& ip : ring) {
      ++m.sequence;
      write_signal(m, key(1), ip);
    }
  });
}
void forged(benchmark::State& state, bool ipv6) {
  SignalGate gate(limit(kUnlimited), 0, kKeys);
  judge_ring(state, gate, ring_of(key(1, 9), ipv6), SignalResult::forged, nothing);
}
void forged_from_many(benchmark::State& state, bool ipv6) {
  SignalGate gate(limit(kUnlimited), 0, kKeys);
  judge_ring(state, gate, ring_of(key(1, 9), ipv6, true), SignalResult::forged, nothing);
}
void replayed(benchmark::State& state, bool ipv6) {
  SignalGate gate(limit(kUnlimited), 0, kKeys);
  const std::vector<Octets> ring = ring_of(key(1), ipv6);
  CongestionSignal out;
  gate.judge(ring[0], Time{}, kWall, out);
  judge_ring(state, gate, ring, SignalResult::replayed, nothing);
}
void limited(benchmark::State& state, bool ipv6) {
  SignalGate gate(limit(1), 0, kKeys);
  const std::vector<Octets> ring = ring_of(key(1, 9), ipv6);
  CongestionSignal out;
  for (int i = 0; i < 8; ++i) gate.judge(ring[0], Time{}, kWall, out);
  judge_ring(state, gate, ring, SignalResult::limited, nothing, Duration{});
}

void write(benchmark::State& state, bool ipv6) {
  config::Config c;
  c.ports.resize(1);
  c.ports[0].name = "port";
  c.ports[0].addresses = {{message(ipv6).from, 24}};
  c.signalling = limit(kUnlimited);
  SignalSender sender(c, kKeys, Time{}, kWall);
  const Octets tcp = frames::tcp(1, 2, 1000);
  const CongestionSignal signal = signal_about(ipv6 ? frames::ip6(6, tcp) : frames::ip4(6, tcp));
  std::array<std::uint8_t, kMaxSignalBytes> room;
  Time now{};
  measure(state, nothing, [&] {
    std::uint64_t sent = 0;
    for (std::size_t i = 0; i < kRing; ++i) {
      sent += sender.write(signal, now += std::chrono::microseconds(1), kWall, room) != 0;
      benchmark::DoNotOptimize(room);
    }
    return sent;
  });
}

BENCHMARK_CAPTURE(write, v4, false);
BENCHMARK_CAPTURE(write, v6, true);
BENCHMARK_CAPTURE(accepted, v4, false);
BENCHMARK_CAPTURE(accepted, v6, true);
BENCHMARK_CAPTURE(forged, v4, false);
BENCHMARK_CAPTURE(forged, v6, true);
BENCHMARK_CAPTURE(forged_from_many, v4, false);
BENCHMARK_CAPTURE(replayed, v4, false);
BENCHMARK_CAPTURE(limited, v4, false);
BENCHMARK_CAPTURE(limited, v6, true);

}  // namespace
}  // namespace surety
