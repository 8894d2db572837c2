// SPDX-License-Identifier: BSD-3-Clause
// Poisson arrivals and packets of one length: the mean waiting time of M/D/1,
// at the lab's links and at a port's shaper.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aqm/class_scheduler.h"
#include "conditioners/rng.h"
#include "tests/lab/simulation/line.h"

namespace surety {
namespace {

using namespace literals;

// Packets of 1000 bytes at 8 Mbit/s: D = 1 ms.
constexpr Rate kRate = 8_Mbps;
constexpr std::uint16_t kLength = 1000;
constexpr double kD = 1e6;  // ns

class Poisson {
 public:
  Poisson(double load, std::uint64_t seed) : gap_(kD / load), rng_(seed) {}
  Time next() {
    time_ -= gap_ * std::log(1 - rng_.uniform());
    return Time(Duration(static_cast<std::int64_t>(time_)));
  }

 private:
  double gap_, time_ = 0;
  Rng rng_;
};

// Long enough for a standard error of 0.3 to 0.4 %.
struct Load {
  double load;
  int packets;
};
constexpr Load kLoads[] = {{0.5, 1'000'000}, {0.8, 4'000'000}, {0.9, 12'000'000}};

double mean_wait(double load) {
  return load * kD / (2 * (1 - load));
}

TEST(AnalyticMd1, ALineKeepsPacketsWaitingAsLongAsMd1) {
  for (const auto& [load, packets] : kLoads) {
    lab::LinkDirection direction;
    direction.rate = kRate;
    direction.delay = 3ms;
    lab::Line line(direction, 1, Time{});
    Poisson arrivals(load, 1);
    double waited = 0;
    for (int i = 0; i < packets; ++i) {
      const Time now = arrivals.next();
      while (line.next_arrival() <= now) line.take();
      ASSERT_TRUE(line.send(nullptr, kLength, now));
      waited += static_cast<double>((line.free_at() - now).count()) - kD;
    }
    while (line.in_flight() > 0) line.take();
    EXPECT_NEAR(waited / packets / mean_wait(load), 1, 0.01) << load;
  }
}

// A port's queue and shaper as an egress drives them: at each arrival, and when the shaper says. Handles are
// the packets' numbers; `left` learns of each departure.
template <class Left>
SojournHistogram drive(Poisson arrivals, int packets, Bytes burst, Left left) {
  ClassParams all;
  all.queue.limit = 100'000;
  ClassScheduler scheduler({all}, {}, Time{}, 1);
  PortShaper shaper({kRate, burst, {}}, Time{});
  std::array<Packet, 32> out;
  Time arrival = arrivals.next();
  for (std::uintptr_t arrived = 0; arrival != kNever || scheduler.depth() > 0;) {
    const Time departure = scheduler.depth() > 0 ? shaper.next_event(Time{}) : kNever;
    const Time now = std::min(arrival, departure);
    if (now == arrival) {
      Packet p;
      p.handle = reinterpret_cast<void*>(arrived);
      p.length = kLength;
      scheduler.enqueue(0, p, false, now);
      arrival = static_cast<int>(++arrived) < packets ? arrivals.next() : kNever;
    }
    shaper.advance(now);
    const std::size_t n = scheduler.dequeue(now, shaper, out);
    for (std::size_t i = 0; i < n; ++i) left(reinterpret_cast<std::uintptr_t>(out[i].handle), now);
  }
  return scheduler.queue(0).sojourn();
}

TEST(AnalyticMd1, AShaperWithoutBurstKeepsPacketsWaitingAsLongAsMd1) {
  for (const auto& [load, packets] : kLoads) {
    const SojournHistogram sojourn = drive(Poisson(load, 2), packets, Bytes(1), [](std::uintptr_t, Time) {});
    EXPECT_NEAR(static_cast<double>(sojourn.sum_ns) / packets / mean_wait(load), 1, 0.01) << load;
  }
}

// Packet by packet: with V the work that it finds (Lindley's recursion), it leaves in the first nanosecond in
// which less than the burst of it is left, at once where that is so.
TEST(AnalyticMd1, ABurstSavesEachPacketTheTimeThatItTakes) {
  constexpr int kPackets = 200'000;
  constexpr std::int64_t kLengthNs = 1'000'000;
  for (const std::int64_t burst : {1, 1500, 3000, 10'000}) {
    std::vector<Time> expected;
    Poisson arrivals(0.9, 3);
    std::int64_t work = 0;  // ns
    Time last{};
    for (int i = 0; i < kPackets; ++i) {
      const Time now = arrivals.next();
      work = std::max<std::int64_t>(work - (now - last).count(), 0);
      const std::int64_t beyond = work - burst * 1000;
      expected.push_back(now + Duration(beyond < 0 ? 0 : beyond + 1));
      work += kLengthNs;
      last = now;
    }
    std::uintptr_t next = 0;
    drive(Poisson(0.9, 3), kPackets, Bytes(static_cast<std::uint64_t>(burst)),
          [&](std::uintptr_t number, Time now) {
            ASSERT_EQ(number, next) << "in order";
            ASSERT_EQ(now, expected[next++]) << "packet " << number << ", burst " << burst;
          });
    EXPECT_EQ(next, static_cast<std::uintptr_t>(kPackets));
  }
}

}  // namespace
}  // namespace surety
