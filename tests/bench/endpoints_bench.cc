// SPDX-License-Identifier: BSD-3-Clause
// Cycles per packet of what every endpoint shares: checksum, directory, wheel, host and station. The engine
// is a trivial one, so that what is measured is the machinery around it.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <cstring>
#include <vector>

#include "conditioners/rng.h"
#include "endpoints/host/station.h"
#include "router/pipeline/wire/checksum.h"
#include "router/pipeline/wire/ip_writer.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using frames::operator+;

constexpr Time at(std::int64_t ns) {
  return Time(Duration(ns));
}
Tuple tuple_of(std::uint32_t i) {
  return {IpAddress::v4(10, 0, 0, 1),
          IpAddress::v4(10, 1, static_cast<std::uint8_t>(i >> 16), static_cast<std::uint8_t>(i >> 8)), 5001,
          static_cast<std::uint16_t>(1024 + (i & 255))};
}

void checksum(benchmark::State& state) {
  std::vector<std::uint8_t> data(static_cast<std::size_t>(state.range(0)), 7);
  std::uint64_t cycles = 0;
  for (auto _ : state) {
    const std::uint64_t start = __rdtsc();
    Sum s;
    s.add(data);
    benchmark::DoNotOptimize(s.folded());
    cycles += __rdtsc() - start;
  }
  state.counters["cycles"] = static_cast<double>(cycles) / static_cast<double>(state.iterations());
}
BENCHMARK(checksum)->Arg(20)->Arg(64)->Arg(512)->Arg(1480);

// Lookups in bursts of 64, in random order, the bucket fetched ahead.
void flow_map(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  FlowMap map(flows, 1);
  for (std::uint32_t i = 0; i < flows; ++i)
    map.insert(tuple_of(i), Transport::udp, map.hash(tuple_of(i), Transport::udp));
  Rng rng(1);
  std::vector<std::uint32_t> order(1 << 16);
  for (auto& o : order) o = rng.next() % flows;
  std::uint64_t cycles = 0, found = 0, turn = 0;
  for (auto _ : state) {
    std::uint64_t hashes[64];
    const std::uint32_t* const burst = &order[turn++ * 64 % order.size()];
    const std::uint64_t start = __rdtsc();
    for (int i = 0; i < 64; ++i) map.prefetch(hashes[i] = map.hash(tuple_of(burst[i]), Transport::udp));
    for (int i = 0; i < 64; ++i) map.candidate(hashes[i]);
    for (int i = 0; i < 64; ++i)
      found += map.find(tuple_of(burst[i]), Transport::udp, hashes[i]) != kNoFlowIndex;
    cycles += __rdtsc() - start;
  }
  const auto n = static_cast<double>(state.iterations() * 64);
  if (static_cast<double>(found) != n) state.SkipWithError("a flow was not found");
  state.counters["cycles/packet"] = static_cast<double>(cycles) / n;
}
BENCHMARK(flow_map)->Arg(1000)->Arg(100'000);

// Every key is woken once a millisecond (1,000 keys) or ten (100,000), at its own time.
void timer_wheel(benchmark::State& state) {
  const auto keys = static_cast<std::uint32_t>(state.range(0));
  const std::int64_t period = state.range(1);
  TimerWheel wheel(keys, 256ns, at(0));
  Rng rng(1);
  for (std::uint32_t k = 1; k <= keys; ++k) wheel.insert(k, at(rng.next() % period));
  std::uint64_t cycles = 0, woken = 0;
  std::int64_t now = 0;
  std::uint32_t due[64];
  for (auto _ : state) {
    now += period * 32 / keys;
    const std::uint64_t start = __rdtsc();
    while (const std::size_t n = wheel.expire(at(now), due)) {
      for (std::size_t i = 0; i < n; ++i) wheel.insert(due[i], at(now + period + due[i] % 1024));
      woken += n;
    }
    cycles += __rdtsc() - start;
  }
  state.counters["cycles/key"] = static_cast<double>(cycles) / static_cast<double>(woken);
}
BENCHMARK(timer_wheel)->Args({1000, 1'000'000})->Args({100'000, 10'000'000})->Args({100'000, 100'000'000});

// Sends one packet per period, counts what it gets.
class Metronome final : public Engine {
 public:
  Metronome(const Tuple& tuple, Duration period, Time start)
      : next_(start), period_(period), ip_(tuple, 17) {}

  Refusal receive(const IpPacket& packet, Time) override {
    received_ += packet.length;
    return Refusal::none;
  }
  std::size_t poll(Room room, Time now) override {
    std::size_t n = 0;
    for (; n < room.size() && next_ <= now; ++n, next_ += period_) {
      std::memcpy(room[n].data, header_, sizeof header_);
      room[n].length = sizeof header_;
    }
    return n;
  }
  Time next_wakeup() const override { return next_; }
  void close(Time) override {}
  FlowState state() const override { return FlowState::open; }
  void read(FlowReading&) const override {}

 private:
  Time next_;
  Duration period_;
  std::uint64_t received_ = 0;
  IpWriter ip_;
  // Of a packet from 10.0.0.1 to 10.1.0.1.
  std::uint8_t header_[28] = {0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 1, 0, 1};
};

struct Frames {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(64 * 2048);
  std::vector<Slot> room() {
    std::vector<Slot> slots(64);
    for (std::size_t i = 0; i < 64; ++i) slots[i] = {&bytes[i * 2048], 2048, 0};
    return slots;
  }
};

// Each flow sends 1,000 packets a second (1,000 flows) or 10 (100,000): a million in all.
template <class Box>
void send(benchmark::State& state, Box& box, Host& host) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const Duration period = 1us * flows;
  Rng rng(1);
  for (std::uint32_t i = 0; i < flows; ++i)
    host.add<Metronome>(Transport::udp, tuple_of(i), tuple_of(i), period, at(rng.next() % period.count()));
  Frames frames;
  std::vector<Slot> room = frames.room();
  std::int64_t now = 0;
  std::uint64_t cycles = 0, sent = 0;
  for (auto _ : state) {
    now += 32'000;
    const std::uint64_t start = __rdtsc();
    while (const std::size_t n = box.poll(room, at(now))) sent += n;
    cycles += __rdtsc() - start;
  }
  state.counters["cycles/packet"] = static_cast<double>(cycles) / static_cast<double>(sent);
  state.counters["bytes/flow"] = static_cast<double>(host.memory_bytes()) / flows;
}

void host_poll(benchmark::State& state) {
  Host host({.max_flows = static_cast<std::uint32_t>(state.range(0))}, at(0));
  send(state, host, host);
}
BENCHMARK(host_poll)->Arg(1000)->Arg(100'000);

constexpr MacAddress kGatewayMac{2, 0, 0, 0, 0, 0x99};

// Its gateway is known.
Station station(std::uint32_t flows) {
  StationParams p;
  p.mac = frames::kOurMac;
  p.addresses = {{IpAddress::v4(10, 0, 0, 1), 24}};
  p.gateways = {IpAddress::v4(10, 0, 0, 254)};
  return Station(p, {.max_flows = flows}, at(0));
}
void introduce_gateway(Station& s) {
  std::vector<std::uint8_t> frame(arp::kFrame);
  arp::write(frame.data(), frames::kOurMac,
             {arp::Operation::reply, kGatewayMac, frames::kOurMac, IpAddress::v4(10, 0, 0, 254),
              IpAddress::v4(10, 0, 0, 1)});
  const std::span<const std::uint8_t> one[] = {frame};
  s.receive(one, at(0));
}

void station_poll(benchmark::State& state) {
  Station s = station(static_cast<std::uint32_t>(state.range(0)));
  introduce_gateway(s);
  send(state, s, s.host());
  if (s.drops()[static_cast<std::size_t>(DropReason::neighbor_unresolved)] != 0)
    state.SkipWithError("the gateway was forgotten");
}
BENCHMARK(station_poll)->Arg(1000)->Arg(100'000);

// Frames of random flows, in bursts of 32, from a ring of 8192.
void station_receive(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  Station s = station(flows);
  for (std::uint32_t i = 0; i < flows; ++i)
    s.host().add<Metronome>(Transport::udp, tuple_of(i), tuple_of(i), 1s, at(1));
  Rng rng(1);
  std::vector<frames::Octets> ring(8192);
  std::vector<std::span<const std::uint8_t>> views;
  for (auto& f : ring) {
    const Tuple t = tuple_of(rng.next() % flows);
    f = frames::pad(
        frames::ethernet(frames::kIpv4) +
            frames::ip4(17, frames::udp(t.remote_port, t.local_port, 18),
                        {.source = __builtin_bswap32(t.remote.v4_as_loaded()), .destination = 0x0a000001}),
        60);
    views.push_back(f);
  }
  std::uint64_t cycles = 0, turn = 0;
  for (auto _ : state) {
    const auto burst = std::span(views).subspan(turn++ * 32 % views.size(), 32);
    const std::uint64_t start = __rdtsc();
    s.receive(burst, at(1000));
    cycles += __rdtsc() - start;
  }
  if (s.counters().to_host != turn * 32) state.SkipWithError("a frame was refused");
  state.counters["cycles/packet"] = static_cast<double>(cycles) / static_cast<double>(turn * 32);
}
BENCHMARK(station_receive)->Arg(1000)->Arg(100'000);

}  // namespace
}  // namespace surety::endpoints
