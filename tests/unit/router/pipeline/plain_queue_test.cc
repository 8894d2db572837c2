// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/plain_queue.h"

#include <deque>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::kStart;
using test::packet_pool;
using namespace literals;

// Frames of 14 + 100 bytes, the n-th known by its address; each is in the queue or back in the pool.
class PlainQueueTest : public testing::Test {
 protected:
  ~PlainQueueTest() override {
    shaper = PortShaper({}, kStart);
    while (!dequeue(64, kStart).empty()) {
    }
    EXPECT_EQ(rte_mempool_avail_count(packet_pool()), free);
  }
  static std::vector<rte_mbuf*> frames(std::size_t n) {
    std::vector<rte_mbuf*> burst(n);
    for (auto& m : burst) m = test::to_mbuf(frames::zeros(114));
    return burst;
  }
  // Offers a burst; what is not admitted is freed, as the caller must.
  std::vector<rte_mbuf*> enqueue(std::size_t n, Time now) {
    auto burst = frames(n);
    const std::size_t admitted = queue.enqueue(burst, now);
    for (std::size_t i = admitted; i < n; ++i) rte_pktmbuf_free(burst[i]);
    burst.resize(admitted);
    return burst;
  }
  std::vector<rte_mbuf*> dequeue(std::size_t room, Time now) {
    std::vector<rte_mbuf*> out(room);
    shaper.advance(now);
    out.resize(queue.dequeue(out, shaper, now));
    for (rte_mbuf* m : out) rte_pktmbuf_free(m);
    return out;
  }
  std::uint64_t sojourns() const {
    std::uint64_t n = 0;
    for (const auto c : queue.sojourn().counts) n += c;
    return n;
  }

  unsigned free = rte_mempool_avail_count(packet_pool());
  PlainQueue queue{100};
  PortShaper shaper{{}, kStart};
};

TEST_F(PlainQueueTest, FirstInFirstOut) {
  const auto in = enqueue(10, kStart);
  EXPECT_EQ(dequeue(4, kStart), std::vector<rte_mbuf*>(in.begin(), in.begin() + 4));
  EXPECT_EQ(dequeue(64, kStart), std::vector<rte_mbuf*>(in.begin() + 4, in.end()));
  EXPECT_TRUE(dequeue(64, kStart).empty());
  EXPECT_EQ(queue.counters().departures, 10u);
  EXPECT_EQ(queue.counters().departed_bytes, 1000u) << "bytes of the IP packet";
}

TEST_F(PlainQueueTest, ASmallerLimitKeepsWhatWaits) {
  const auto in = enqueue(90, kStart);
  queue.adopt(PlainQueue(50));
  EXPECT_EQ(enqueue(5, kStart).size(), 0u);
  EXPECT_EQ(dequeue(60, kStart), std::vector<rte_mbuf*>(in.begin(), in.begin() + 60));
  EXPECT_EQ(enqueue(30, kStart).size(), 20u);
  queue.adopt(PlainQueue(1000));
  EXPECT_EQ(enqueue(960, kStart).size(), 950u);
}

TEST_F(PlainQueueTest, TakesWhatThereIsRoomFor) {
  EXPECT_EQ(enqueue(90, kStart).size(), 90u);
  EXPECT_EQ(enqueue(30, kStart).size(), 10u);
  EXPECT_EQ(enqueue(5, kStart).size(), 0u);
  EXPECT_EQ(queue.depth(), 100u);
  EXPECT_EQ(queue.counters().arrivals, 125u);
  EXPECT_EQ(queue.counters().overflow_drops, 25u);
}

TEST_F(PlainQueueTest, TheShaperIsAskedAndChargedPerPacket) {
  shaper = PortShaper({8_Mbps, Bytes(250), {}}, kStart);
  enqueue(10, kStart);
  EXPECT_EQ(dequeue(64, kStart).size(), 3u) << "the third overdraws 250 bytes by 50";
  EXPECT_EQ(dequeue(64, kStart + 50us).size(), 0u);
  EXPECT_EQ(dequeue(64, kStart + 51us).size(), 1u);
}

// 1 ms is in bucket 9 (up to 1 ms), 3 ms in bucket 11 (up to 5 ms).
TEST_F(PlainQueueTest, EachPacketsSojournIsItsBursts) {
  enqueue(5, kStart);
  enqueue(2, kStart + 2ms);
  dequeue(3, kStart + 1ms);
  EXPECT_EQ(queue.sojourn().counts[9], 3u);
  dequeue(3, kStart + 3ms);
  EXPECT_EQ(queue.sojourn().counts[11], 2u);
  EXPECT_EQ(queue.sojourn().counts[9], 4u);
  dequeue(3, kStart + 3ms);
  EXPECT_EQ(queue.sojourn().counts[9], 5u);
  EXPECT_EQ(queue.sojourn().sum_ns, 3u * 1'000'000 + 2u * 3'000'000 + 2u * 1'000'000);
}

TEST_F(PlainQueueTest, AgreesWithASimpleQueueHoweverItIsUsed) {
  std::deque<std::pair<rte_mbuf*, Time>> model;
  std::uint64_t sum = 0, left = 0;
  Rng rng(1);
  Time now = kStart;
  for (int step = 0; step < 5000; ++step) {
    now += Duration(rng.next() % 1'000'000);
    for (rte_mbuf* m : enqueue(rng.next() % 40, now)) model.emplace_back(m, now);
    for (rte_mbuf* m : dequeue(rng.next() % 40, now)) {
      ASSERT_EQ(m, model.front().first);
      sum += static_cast<std::uint64_t>((now - model.front().second).count());
      ++left;
      model.pop_front();
    }
    ASSERT_EQ(queue.depth(), model.size());
    ASSERT_EQ(queue.sojourn().sum_ns, sum);
    ASSERT_EQ(sojourns(), left);
    const QueueCounters& c = queue.counters();
    ASSERT_EQ(c.arrivals, c.departures + c.overflow_drops + queue.depth());
  }
}

}  // namespace
}  // namespace surety
