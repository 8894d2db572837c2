// SPDX-License-Identifier: BSD-3-Clause
// signal_storm [SECONDS [PACKETS_PER_SECOND]]: false congestion signals of every kind at a border router, in
// real time; none may move an alpha, every one must be counted. Prints what became of them and the cycles per
// packet; exit status 1 where one was believed.
//
// A border's real ingress, from frames to counters; the wire is this program. Kinds: random bytes behind the
// header of our object, forged MACs, single bits flipped in authentic ones (checksums repaired), cut and
// padded ones, replays, and authentic ones that are too old; half of them from the address of a router that
// signals, half from random ones.
#include <fmt/format.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"
#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace signals;
using test::DataPlane;

constexpr PortIndex kLan = 0, kWan = 1;
constexpr std::size_t kBurst = 32, kFrames = 4096;
constexpr std::string_view kBorder = R"(version: 1
router: {name: r, id: 192.0.2.1, role: border}
ports:
  lan: {addresses: [10.1.0.254/16], trust: customer}
  wan: {addresses: [10.9.0.5/16], trust: core, queues: up}
queues:
  up:
    - name: af
      dscp: {in: [AF11], out: [AF12, BE]}
      count: packets
      rio: {average: 1, in: {min: 20, max: 40, pmax: 0.1}, out: {min: 2, max: 30, pmax: 0.1}}
services:
  silver: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 10 packets, out_bucket: 1 packets, buffer: 20 packets,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms, control: paper},
           mark: {in: AF11, out: BE}}
classify: [{match: {port: lan}, service: silver, per: flow}]
signalling: {mode: act, key_file: k, max_age: 1 h}
)";

class Storm {
 public:
  Storm(const SignalKey& key, UnixTime wall) : key_(key), wall_(wall) {
    recorded_ = message();
    recorded_.dscp = 0;
    recorded_.sent = wall;
    recording_ = packet(recorded_, key);
  }
  const Octets& recording() const { return recording_; }

  Octets next() {
    switch (rng_.next() % 6) {
      case 0:
        return from_somewhere(noise());
      case 1:
        return from_somewhere(forged());
      case 2:
        return flipped();
      case 3:
        return cut();
      case 4:
        return recording_;
      default:
        return old();
    }
  }

 private:
  Octets noise() {
    Octets ip = recording_;
    for (std::size_t i = 20 + 1; i < ip.size(); ++i)
      if (i != 25 && i != 20 + 142 && i != 20 + 143) ip[i] = static_cast<std::uint8_t>(rng_.next());
    if (rng_.next() % 2 != 0) repair(ip);
    return ip;
  }
  Octets forged() {
    SignalMessage m = recorded_;
    m.sequence += rng_.next();
    HiddenKey::Plain wrong = key_.secret.reveal();
    wrong[rng_.next() % wrong.size()] ^= static_cast<std::uint8_t>(1 + rng_.next() % 255);
    return packet(m, {key_.id, HiddenKey(wrong)});
  }
  Octets flipped() {
    Octets ip = recording_;
    const std::size_t bit = 8 * 12 + rng_.next() % (8 * (ip.size() - 12));
    ip[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    // What makes it another kind of packet is not of this test.
    if (bit / 8 == 20 || bit / 8 == 25 || bit / 8 == 162 || bit / 8 == 163 || bit / 8 < 20) return recording_;
    repair(ip);
    return ip;
  }
  Octets cut() {
    Octets ip = recording_;
    ip.resize(20 + 144 + rng_.next() % 100);
    ip[3] = frames::low(ip.size());
    ip[2] = frames::high(ip.size());
    if (ip.size() == recording_.size()) return recording_;
    frames::fix_checksum(ip.data());
    return ip;
  }
  Octets old() {
    SignalMessage m = recorded_;
    m.sequence += 1 + rng_.next();
    m.sent = wall_ - std::chrono::hours(2);
    return packet(m, key_);
  }
  Octets from_somewhere(Octets ip) {
    if (rng_.next() % 2 != 0) return ip;
    store(&ip[12], 0x0a00'0000u | rng_.next() >> 8);
    ip[12] = 45;  // nothing that is reserved
    frames::fix_checksum(ip.data());
    return ip;
  }

  const SignalKey key_;
  const UnixTime wall_;
  Rng rng_{1};
  SignalMessage recorded_;
  Octets recording_;
};

int run(double seconds, double rate) {
  DataPlane d(kBorder);
  d.route("10.1.0.0/16", {test::ready(kLan)});
  d.route("10.2.0.0/16", {test::ready(kWan)});
  Storm storm(d.signal_keys.keys.front(), d.wall_clock.at(d.now));
  const auto frame = [&](const Octets& ip) {
    return frames::ethernet(frames::kIpv4, test::port_mac(kWan)) + ip;
  };
  const auto count = [&](SignalResult r) { return d.ingress->signals()[static_cast<std::size_t>(r)]; };
  const auto violated = [&] {
    return count(SignalResult::applied) != 1 || !d.ingress->remote_alphas().empty();
  };

  // The one that everybody can have recorded: believed, and over when alpha is back.
  d.receive({frame(storm.recording())}, kWan);
  d.run_until(d.now + std::chrono::seconds(60));
  if (violated()) return fmt::print("the authentic signal is not believed, or not forgotten\n"), 1;

  std::vector<Octets> frames;
  for (std::size_t i = 0; i < kFrames; ++i) frames.push_back(frame(storm.next()));
  const double hz = static_cast<double>(rte_get_tsc_hz());
  const Time start = d.now;
  const std::uint64_t tsc_start = rte_rdtsc();
  std::uint64_t packets = 0, cycles = 0, turns = 0;
  for (double at = 0; at < seconds; at = static_cast<double>(rte_rdtsc() - tsc_start) / hz) {
    if (static_cast<double>(packets) > at * rate) continue;
    std::array<rte_mbuf*, kBurst> burst;
    for (std::size_t i = 0; i < kBurst; ++i) {
      Octets& f = frames[(packets + i) % kFrames];
      burst[i] = test::to_mbuf(f);
      if ((packets + i) % 8 == 0) f = frame(storm.next());  // the ring is another one all the time
    }
    d.turn(start + Duration(static_cast<std::int64_t>(at * 1e9)));
    const std::uint64_t before = rte_rdtsc();
    d.ingress->receive(burst, kWan, d.now);
    cycles += rte_rdtsc() - before;
    packets += kBurst;
    if (++turns % 1024 == 0 && violated()) break;
  }
  const double took = static_cast<double>(rte_rdtsc() - tsc_start) / hz;
  fmt::print("{} signals in {:.1f} s ({:.2f} million a second), {:.0f} TSC cycles each\n", packets, took,
             static_cast<double>(packets) / took * 1e-6,
             static_cast<double>(cycles) / static_cast<double>(packets));
  std::uint64_t counted = 0;
  for (std::size_t r = 0; r < kSignalResults; ++r) {
    counted += d.ingress->signals()[r];
    if (d.ingress->signals()[r] != 0)
      fmt::print("{:14} {}\n", kSignalResultInfo[r].name, d.ingress->signals()[r]);
  }
  d.expect_law();
  const bool failed = violated() || counted != packets + 1 || testing::Test::HasFailure();
  fmt::print("{}\n",
             failed ? "FAILED: one was believed, or is missing" : "none was believed, alpha did not move");
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  std::array<std::string, 9> words{"storm", "--no-huge",      "--no-pci",     "--no-shconf",          "-m",
                                   "512",   "--no-telemetry", "--lcores=0@0", "--log-level=lib.eal:4"};
  std::array<char*, 9> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  const double seconds = argc > 1 ? std::stod(argv[1]) : 10, rate = argc > 2 ? std::stod(argv[2]) : 1e6;
  testing::InitGoogleTest();
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 2;
  const int status = surety::run(seconds, rate);
  rte_eal_cleanup();
  return status;
}
