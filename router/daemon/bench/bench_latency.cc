// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_latency.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "conditioners/huge_memory.h"
#include "router/daemon/bench/bench_subject.h"

namespace surety {

namespace {

constexpr std::uint64_t kPacketsPerRun = 2'000'000;
constexpr int kReloads = 20;
constexpr int kTurns = 7;  // alternations of router and loop: no divisor of a second
constexpr const char* kPath = "everything";

double greatest_rate(const BenchSubject& subject) {  // packets per cycle
  std::array<double, 5> cycles;
  for (double& c : cycles) c = subject.cycles_per_packet(kPacketsPerRun);
  std::sort(cycles.begin(), cycles.end());
  return 1 / cycles[cycles.size() / 2];
}

// Calls `turn` for so long and notes the time from each to the next.
template <class Turn>
void note_turns(double seconds, BenchHistogram& turns, Turn&& turn) {
  std::uint64_t last = rte_rdtsc();
  const std::uint64_t end =
      last + static_cast<std::uint64_t>(seconds * static_cast<double>(rte_get_tsc_hz()));
  while (last < end) {
    turn();
    const std::uint64_t now = rte_rdtsc();
    turns.add(now - last);
    last = now;
  }
}

// Touches as many random lines of memory as a burst has flows: interrupts then find the caches filled as by
// flows.
class MemoryWalk {
 public:
  explicit MemoryWalk(std::size_t lines) : memory_(lines * kLine), lines_(lines) {}

  void turn() {
    for (std::size_t i = 0; i < kBurst; ++i) {
      // A linear congruential generator (Knuth's MMIX); its high bits are the more random ones.
      state_ = state_ * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
      std::byte& line = memory_.data()[static_cast<std::size_t>((state_ >> 32) * lines_ >> 32) * kLine];
      line ^= std::byte{1};
    }
  }

 private:
  static constexpr std::size_t kLine = 64;
  HugeMemory memory_;
  std::size_t lines_;
  std::uint64_t state_ = 1;
};

// Counts stamped packets that a port transmits by age, as long as the object exists.
class AgeCounter {
 public:
  AgeCounter(std::uint16_t port, BenchHistogram& ages)
      : port_(port), callback_(rte_eth_add_tx_callback(port, 0, count, &ages)) {
    if (callback_ == nullptr) throw std::runtime_error("this DPDK has no transmit callbacks");
  }
  ~AgeCounter() { rte_eth_remove_tx_callback(port_, 0, callback_); }
  AgeCounter(const AgeCounter&) = delete;
  AgeCounter& operator=(const AgeCounter&) = delete;

 private:
  // rte_tx_callback_fn
  static std::uint16_t count(std::uint16_t, std::uint16_t, rte_mbuf** mbufs, std::uint16_t n, void* ages) {
    const std::uint64_t now = rte_rdtsc();
    for (std::uint16_t i = 0; i < n; ++i) {
      std::uint64_t came;
      std::memcpy(&came, rte_pktmbuf_mtod_offset(mbufs[i], const void*, BenchFeed::kStamp), sizeof came);
      static_cast<BenchHistogram*>(ages)->add(now - came);
    }
    return n;
  }

  std::uint16_t port_;
  const rte_eth_rxtx_callback* callback_;
};

// `rate`: packets per cycle.
LatencyAtLoad measure_load(const BenchBed& bed, const BenchSubject& subject, double load, double rate,
                           double seconds) {
  LatencyAtLoad r{.load = load, .packets_per_second = rate * static_cast<double>(rte_get_tsc_hz())};
  const auto forward = [&](BenchHistogram& ages, BenchHistogram& turns, auto&& turn) {
    const AgeCounter counter(bed.ports()[1]->id(), ages);
    subject.feed().pace(rate);
    note_turns(seconds / kTurns, turns, turn);
  };
  BenchHistogram of_the_loop;
  for (int i = 0; i < kTurns; ++i) {
    forward(r.added, r.turns, [&] { subject.turn(); });
    forward(r.forwarded, of_the_loop, [&] { feed_turn(bed); });
  }
  subject.feed().pace(0);
  return r;
}

}  // namespace

BenchLatency measure_latency(BenchBed& bed, std::uint32_t flows, std::span<const double> loads,
                             double seconds) {
  BenchLatency r;
  r.flows = flows;
  const auto feed = bed.make_feed(kPath, flows, false);
  {
    const BenchSubject subject(bed, *feed, kPath, {flows, false}, false);
    const double greatest = greatest_rate(subject);
    for (const double load : loads)
      r.loads.push_back(measure_load(bed, subject, load, load * greatest, seconds));
    subject.must_be_clean();
  }
  {
    const BenchSubject subject(bed, *feed, kPath, {flows, false}, false);
    feed->flood(true);
    note_turns(seconds, r.flood_turns, [&] { subject.turn(); });
  }
  {
    BenchSubject subject(bed, *feed, kPath, {flows, false}, false);
    feed->pace(r.loads.back().packets_per_second / static_cast<double>(rte_get_tsc_hz()));
    for (int i = 0; i < kReloads; ++i) {
      subject.reload();
      note_turns(seconds / kReloads, r.reload_turns, [&] { subject.turn(); });
    }
    feed->pace(0);
  }
  note_turns(seconds, r.machine, [] {});
  MemoryWalk walk(flows);
  note_turns(seconds, r.machine_walking, [&] { walk.turn(); });
  return r;
}

}  // namespace surety
