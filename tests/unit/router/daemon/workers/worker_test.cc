// SPDX-License-Identifier: BSD-3-Clause
// One worker: its loop from start to end, and what other threads see of it.
#include "router/daemon/workers/worker.h"

#include <rte_malloc.h>
#include <rte_mempool.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct WorkerBed : WorkersBed {
  explicit WorkerBed(const char* rate = "1 Mbit/s", std::optional<Time> start = kStart)
      : WorkersBed(1, holding(rate).c_str(), start) {}
  Worker& worker() { return *workers_[0]; }
  // Packets of 1000 bytes for port 1.
  void bring(std::size_t packets) {
    for (; packets > 0; --packets) taps_[0]->in.push_back(udp_frame({}, 1000));
  }
  std::size_t out() const { return taps_[1]->out.size(); }
  WorkerCounters counters() { return worker().read_here().workers[0].counters; }
};

TEST_F(WorkerBed, ATurnReturnsHowManyItSent) {
  EXPECT_EQ(worker().turn(now_), 0u);
  bring(18);
  const std::size_t sent = worker().turn(now_);
  EXPECT_GT(sent, 0u);
  EXPECT_EQ(sent, out());
  EXPECT_EQ(sent + worker().ingress().held(), 18u);
}

// 1 Mbit/s are 8 ms for each packet.
TEST_F(WorkerBed, TurnsAtTheNextEventSendInTimeWhatItHolds) {
  bring(18);
  worker().turn(now_);
  const Time end = now_ + worker().ingress().held() * 8ms + 1ms;
  for (int turns = 0; out() < 18; ++turns) {
    ASSERT_LT(turns, 10'000);
    now_ = std::max(now_ + 1ns, worker().next_event(now_));
    worker().turn(now_);
  }
  EXPECT_LE(now_, end);
}

TEST_F(WorkerBed, WhileADeviceTakesNothingEachTurnIsDue) {
  bool takes = false;
  router_.taps[1] = std::make_unique<PortTap>(*router_.ports[1]);
  router_.taps[1]->on_transmit([](std::uint16_t, std::uint16_t, rte_mbuf**, std::uint16_t n,
                                  void* user) -> std::uint16_t { return *static_cast<bool*>(user) ? n : 0; },
                               &takes);
  bring(1);
  EXPECT_EQ(worker().turn(now_), 0u);
  EXPECT_EQ(worker().next_event(now_), now_);
  takes = true;
  EXPECT_EQ(worker().turn(now_), 1u);
  EXPECT_GT(worker().next_event(now_), now_);
}

// What a turn turns out to be is known at its end.
TEST_F(WorkerBed, TheTimeSinceATurnIsOfItsKind) {
  worker().turn(now_);
  bring(1);
  worker().turn(now_);
  EXPECT_EQ(counters().turns, 2u);
  EXPECT_EQ(counters().busy_cycles, 0u);
  const std::uint64_t idle = counters().idle_cycles;
  worker().turn(now_);
  EXPECT_GT(counters().busy_cycles, 0u);
  EXPECT_EQ(counters().idle_cycles, idle);
}

TEST_F(WorkerBed, EachTurnIsSeen) {
  worker().turn(now_);
  const std::uint64_t before = worker().last_turn();
  worker().turn(now_);
  EXPECT_NE(worker().last_turn(), before);
}

// Packets in all places that a worker keeps them: held, queued, and given to a device that does not take
// them.
TEST(WorkerEnd, FreesAllItsPackets) {
  const auto free = [] { return rte_mempool_avail_count(packet_pool()); };
  Frames lan;
  const std::string text = holding("1 Mbit/s");
  const unsigned before = free();
  {
    WorkerOptions options;
    options.start = kStart;
    NullRouter router(text.c_str(), 1, options, 1);
    router.taps[0]->on_receive(Frames::on_receive, &lan);
    router.taps[1]->on_transmit(
        [](std::uint16_t, std::uint16_t, rte_mbuf**, std::uint16_t, void*) -> std::uint16_t { return 0; },
        nullptr);
    lan.in.assign(18, udp_frame({}, 1000));
    router.workers[0]->turn(kStart);
    ASSERT_GT(router.workers[0]->ingress().held(), 0u);
    EXPECT_LE(free() + 18, before);
  }
  EXPECT_EQ(free(), before);
}

// --- run() ---

struct RunningWorker : WorkerBed {
  explicit RunningWorker(const char* rate = "1 Mbit/s") : WorkerBed(rate, std::nullopt) {}
  // It holds most of ten packets, and receives no more.
  void hold() {
    bring(10);
    while (!taps_[0]->in.empty()) worker().turn();
    worker().stop();
    ASSERT_GT(worker().ingress().held(), 0u);
  }
};

TEST_F(RunningWorker, SendsAtItsEndWhatItHolds) {
  hold();
  worker().run(1h);
  EXPECT_EQ(worker().ingress().held(), 0u);
  EXPECT_EQ(out(), 10u);
}

// A packet takes a second.
struct SlowWorker : RunningWorker {
  SlowWorker() : RunningWorker("8 kbit/s") {}
};
TEST_F(SlowWorker, DrainsNoLongerThanRunSays) {
  hold();
  worker().run(Duration{});
  EXPECT_GT(worker().ingress().held(), 0u);
}
TEST_F(SlowWorker, DrainsNoLongerThanStopSays) {
  hold();
  worker().stop(Duration{});
  worker().run(1h);
  EXPECT_GT(worker().ingress().held(), 0u);
}

// A route's old entry is freed when each worker has ended a turn, or does not run.
TEST_F(RunningWorker, AfterATurnItReadsNoEntryOfBefore) {
  const std::unique_ptr<void, void (*)(void*)> memory(
      rte_zmalloc(nullptr, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE), rte_free);
  auto* const rcu = static_cast<rte_rcu_qsbr*>(memory.get());
  ASSERT_EQ(rte_rcu_qsbr_init(rcu, 1), 0);
  worker().report_to(rcu);
  rte_rcu_qsbr_thread_online(rcu, 0);
  const std::uint64_t change = rte_rcu_qsbr_start(rcu);
  EXPECT_EQ(rte_rcu_qsbr_check(rcu, change, false), 0);
  worker().turn();
  EXPECT_EQ(rte_rcu_qsbr_check(rcu, change, false), 1);
  worker().stop();
  worker().run(Duration{});
  EXPECT_EQ(rte_rcu_qsbr_check(rcu, rte_rcu_qsbr_start(rcu), false), 1);
}

TEST_F(RunningWorker, RunsWhatOthersWantOnItsThread) {
  EXPECT_EQ(worker().thread_id(), 0);
  std::thread runs([&] { worker().run(Duration{}); });
  while (worker().thread_id() == 0) std::this_thread::yield();
  pid_t ran = 0;
  // false: not within a second, as on a busy machine.
  while (!worker().between_turns([&] { ran = ::gettid(); }))
    ;
  EXPECT_EQ(ran, worker().thread_id());
  EXPECT_NE(ran, ::gettid());
  worker().stop();
  runs.join();
  EXPECT_EQ(worker().thread_id(), 0);
}

}  // namespace
}  // namespace surety
