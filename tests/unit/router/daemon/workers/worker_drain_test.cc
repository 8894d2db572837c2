// SPDX-License-Identifier: BSD-3-Clause
// Workers that stop: what they have on their way still leaves, whoever is done first.
#include "router/daemon/workers/worker.h"

#include <atomic>
#include <thread>

#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;

// --- when a worker may end ---

struct Side {
  bool in = false, out = false;  // there is something
  Drain drain;

  bool done() {
    return drain.done([this] { return !in; }, [this] { return !out; });
  }
};

struct DrainTest : testing::Test {
  DrainTest() {
    a.drain.connect(b.drain);
    b.drain.connect(a.drain);
  }
  Side a, b;
};

TEST_F(DrainTest, AloneItEndsWhenNothingIsLeft) {
  Side alone{.in = true, .out = true, .drain = {}};
  EXPECT_FALSE(alone.done());
  alone.in = false;
  EXPECT_FALSE(alone.done());
  alone.out = false;
  EXPECT_TRUE(alone.done());
}

TEST_F(DrainTest, NobodyEndsWhileAnotherReceives) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(a.done());
  EXPECT_FALSE(b.done()) << "the first has not said yet that it hands nothing over any more";
  EXPECT_TRUE(!a.done() || b.done());
  EXPECT_TRUE(a.done());
  EXPECT_TRUE(b.done());
}

TEST_F(DrainTest, NobodyEndsWhileAnotherMayHandSomethingOver) {
  a.in = true;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(b.done());
    EXPECT_FALSE(a.done());
  }
  a.in = false;
  a.done();
  EXPECT_TRUE(b.done());
  EXPECT_TRUE(a.done());
}

TEST_F(DrainTest, WhatIsToLeaveKeepsNobodyElse) {
  a.out = true;
  for (int i = 0; i < 3; ++i) {
    a.done();
    b.done();
  }
  EXPECT_TRUE(b.done());
  EXPECT_FALSE(a.done());
  a.out = false;
  EXPECT_TRUE(a.done());
}

// A ring that is empty before an announcement is read proves nothing.
TEST_F(DrainTest, LooksAtRingsAfterWhatOthersSay) {
  int looked = 0;
  const auto look = [&] { return ++looked > 0; };
  EXPECT_FALSE(a.drain.done(look, look));
  EXPECT_EQ(looked, 0) << "the other one may still dispatch";
  b.in = true;
  b.done();
  EXPECT_FALSE(a.drain.done(look, look));
  EXPECT_EQ(looked, 1) << "... and hand over";
  b.in = false;
  b.done();
  EXPECT_TRUE(a.drain.done(look, look));
  EXPECT_EQ(looked, 2);
}

// --- workers that drain ---

const std::string kYaml = holding("1 Mbit/s", ", receive: {dispatch: on}");

struct WorkerDrain : WorkersBed {
  WorkerDrain() : WorkersBed(2, kYaml.c_str()) {}
  void bring(std::uint32_t packets, std::uint16_t flows) {
    for (std::uint32_t n = 0; n < packets; ++n)
      for (std::uint16_t f = 0; f < flows; ++f) taps_[0]->in.push_back(numbered(f, n));
  }
  std::uint32_t held() const {
    std::uint32_t n = 0;
    for (const auto& w : workers_) n += w->ingress().held();
    return n;
  }
  std::size_t out() const { return taps_[1]->out.size() + taps_[2]->out.size(); }
  // Each takes turns until it is done; returns how many turns the one took that was done first.
  int drain() {
    std::vector<bool> done(workers_.size());
    for (auto& w : workers_) w->stop_receiving();
    int first = 0;
    for (int turns = 0; turns < 100'000 && std::count(done.begin(), done.end(), false) > 0; ++turns) {
      now_ += std::chrono::microseconds(100);
      for (std::size_t w = 0; w < done.size(); ++w) {
        if (done[w]) continue;
        workers_[w]->turn(now_);
        done[w] = workers_[w]->drained();
        if (done[w] && first == 0) first = turns + 1;
      }
    }
    EXPECT_EQ(std::count(done.begin(), done.end(), false), 0);
    return first;
  }
};

TEST_F(WorkerDrain, WhatOneHoldsLeavesByThePortOfTheOther) {
  bring(40, 16);
  run();
  ASSERT_GT(workers_[0]->ingress().held(), 0u);
  ASSERT_GT(workers_[1]->ingress().held(), 0u);
  drain();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(out(), 640u);
  expect_law();
}

// The reader of the port has dispatched its last burst when the others have nothing yet.
TEST_F(WorkerDrain, WhatIsBetweenWorkersArrives) {
  bring(1, 16);
  workers_[0]->turn(now_ += std::chrono::microseconds(10));
  for (auto& w : workers_) w->stop_receiving();
  EXPECT_FALSE(workers_[1]->drained()) << "the other one has not come to its end";
  drain();
  EXPECT_EQ(out(), 16u);
  expect_law();
}

TEST_F(WorkerDrain, WhoHasNothingIsDoneAtOnce) {
  EXPECT_LE(drain(), 3);
}

TEST_F(WorkerDrain, NothingMoreIsReceived) {
  bring(1, 1);
  drain();
  EXPECT_EQ(taps_[0]->in.size(), 1u);
}

struct RunningWorkers : WorkersBed {
  RunningWorkers() : WorkersBed(2, kYaml.c_str(), std::nullopt) {}
};
// From before it runs until after it has stopped.
TEST_F(RunningWorkers, ReadingsOfAWorkerThatComesAndGoes) {
  std::atomic<int> readings{0};
  std::atomic<bool> end{false};
  std::uint64_t back = 0;
  std::thread reader([&] {
    std::uint64_t turns = 0;
    while (!end.load()) {
      const auto r = workers_[0]->read();
      if (!r) continue;
      back += r->workers[0].counters.turns < turns;
      turns = r->workers[0].counters.turns;
      ++readings;
    }
  });
  const auto wait = [&] {
    for (const int until = readings.load() + 20; readings.load() < until;) std::this_thread::yield();
  };
  wait();
  std::thread runs([&] { workers_[0]->run(Duration{}); });
  wait();
  workers_[0]->stop();
  runs.join();
  wait();
  end = true;
  reader.join();
  EXPECT_EQ(back, 0u);
}

}  // namespace
}  // namespace surety
