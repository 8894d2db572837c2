// SPDX-License-Identifier: BSD-3-Clause
// Workers that go on by another configuration while packets are under way.
#include "router/daemon/workers/worker.h"

#include <atomic>
#include <thread>

#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;

std::string yaml(const std::string& services, const std::string& rules, const std::string& limit = "500") {
  return R"(
version: 1
router: {name: reloads, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: customer, receive: {dispatch: on}}
  up: {device: null, addresses: [10.2.0.254/16], trust: core, queues: uplink}
  down: {device: null, addresses: [10.3.0.254/16], trust: core, queues: uplink}
queues:
  uplink:
    - {name: af, dscp: {in: [AF11], out: [BE]}, limit: )" +
         limit + R"( packets}
services:
)" + services +
         "classify:\n" + rules + "flow_table: {capacity: 4096}\n";
}

const std::string kSilver =
    "  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 1 packets, out_bucket: 1 "
    "packets, buffer: 20 "
    "packets, "
    "mark: {in: AF11, out: BE}}\n";
const std::string kPolice =
    "  police: {conditioner: police, rate: 8 kbit/s, bucket: 1 kB, mark: {in: AF11}}\n";
const std::string kSilverForAll = "  - {match: {port: lan}, service: silver, per: flow}\n";

struct WorkerUpdateTest : WorkersBed {
  WorkerUpdateTest() : WorkersBed(2, yaml(kSilver, kSilverForAll).c_str()) {}

  void reload(const std::string& text) {
    snapshots_.push_back(std::make_unique<Snapshot>(configured(text.c_str()), current()));
    std::vector<std::unique_ptr<WorkerUpdate>> updates;
    for (auto& w : workers_) updates.push_back(w->prepare(*snapshots_.back()));
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w]->update(*updates[w]);
      EXPECT_FALSE(workers_[w]->updated());
      now_ += std::chrono::microseconds(10);
      workers_[w]->turn(now_);  // one before the other
      EXPECT_TRUE(workers_[w]->updated());
      EXPECT_GT(updates[w]->cycles, 0u);
    }
  }
  const Snapshot& current() const { return snapshots_.empty() ? router_.snapshot : *snapshots_.back(); }
  void bring(std::uint32_t first, std::uint32_t packets, std::uint16_t flows) {
    for (std::uint32_t n = first; n < first + packets; ++n)
      for (std::uint16_t f = 0; f < flows; ++f) taps_[0]->in.push_back(numbered(f, n));
  }
  std::size_t out() const { return taps_[1]->out.size() + taps_[2]->out.size(); }
  ServiceReading service(const std::string& name) {
    Reading all = reading();
    settle_retired(all);
    for (auto& s : all.services)
      if (s.name == name) return s;
    return {};
  }
  void pass(Duration d) {
    for (const Time until = now_ + d; now_ < until;) {
      now_ += std::chrono::microseconds(500);
      for (auto& w : workers_) w->turn(now_);
    }
  }

  std::vector<std::unique_ptr<Snapshot>> snapshots_;
};

TEST_F(WorkerUpdateTest, NothingIsLostAndNothingOvertakes) {
  std::uint32_t sent = 0;
  const std::vector<std::string> texts{
      yaml(kSilver, kSilverForAll), yaml(kSilver + kPolice, kSilverForAll),
      yaml(kSilver, kSilverForAll, "900"),
      yaml("  gold: {conditioner: csa, alpha: {max: 0.4}, rate: 20 Mbit/s, in_bucket: 9 "
           "packets, out_bucket: 1 packets, mark: {in: AF11, out: BE}}\n",
           "  - {match: {port: lan}, service: gold, per: flow}\n")};
  for (int round = 0; round < 12; ++round) {
    bring(sent, 3, 40);
    sent += 3;
    for (auto& w : workers_) w->turn(now_ += std::chrono::microseconds(10));
    reload(texts[static_cast<std::size_t>(round) % texts.size()]);
    expect_law();
    pass(std::chrono::milliseconds(100));
  }
  pass(std::chrono::seconds(2));
  expect_law();
  EXPECT_EQ(out(), sent * 40u);
  std::array<std::uint32_t, 40> next{};
  for (std::size_t port : {1u, 2u})
    for (const Octets& frame : taps_[port]->out) {
      const std::uint16_t flow = static_cast<std::uint16_t>(frame[34] << 8 | frame[35]);
      std::uint32_t number;
      std::memcpy(&number, frame.data() + 14 + 28, 4);
      ASSERT_LT(flow, 40);
      EXPECT_EQ(number, next[flow]++) << "flow " << flow;
    }
}

TEST_F(WorkerUpdateTest, FlowsMoveToTheServiceOfTheirNewRule) {
  bring(0, 1, 40);
  run();
  EXPECT_EQ(service("silver").counters.flows, 40u);
  reload(yaml(kSilver + kPolice, "  - {match: {port: lan}, service: police, per: flow}\n"));
  pass(std::chrono::milliseconds(50));
  bring(1, 1, 40);
  run();
  EXPECT_EQ(service("silver").counters.flows, 0u);
  EXPECT_EQ(service("police").counters.flows, 40u);
  EXPECT_EQ(service("police").counters.contracts, 40u);
  expect_law();
}

TEST_F(WorkerUpdateTest, CountersGoOn) {
  bring(0, 1, 40);
  run();
  reload(yaml(kSilver, kSilverForAll));
  bring(1, 1, 40);
  run();
  pass(std::chrono::seconds(1));
  const ServiceCounters c = service("silver").counters;
  EXPECT_EQ(c.packets[0] + c.packets[1], 80u);
  EXPECT_EQ(out(), 80u);
  expect_law();
}

TEST_F(WorkerUpdateTest, WhatAnotherWorkerIsGivenByTheOldOneGoesOut) {
  bring(0, 2, 40);
  now_ += std::chrono::microseconds(10);
  workers_[0]->turn(now_);  // has dispatched and handed over, nobody has taken it yet
  reload(yaml(kSilver, kSilverForAll, "100"));
  run();
  pass(std::chrono::seconds(1));
  EXPECT_EQ(out(), 80u);
  expect_law();
}

// Threads that run, as in the product, and a control thread that reloads beside them.
struct ReloadedWorkers : WorkersBed {
  ReloadedWorkers() : WorkersBed(2, yaml(kSilver, kSilverForAll).c_str(), std::nullopt) {}
};

TEST_F(ReloadedWorkers, TakeOverSnapshotsOfAnotherThread) {
  std::vector<std::thread> threads;
  for (auto& w : workers_) threads.emplace_back([&w] { w->run(std::chrono::seconds(1)); });
  std::vector<std::unique_ptr<Snapshot>> snapshots;
  for (int i = 0; i < 12; ++i) {
    const Snapshot& before = snapshots.empty() ? router_.snapshot : *snapshots.back();
    const std::string text =
        i % 2 == 0 ? yaml(kSilver + kPolice, kSilverForAll) : yaml(kSilver, kSilverForAll);
    auto next = std::make_unique<Snapshot>(configured(text.c_str()), before);
    std::vector<std::unique_ptr<WorkerUpdate>> updates;
    for (auto& w : workers_) updates.push_back(w->prepare(*next));
    for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->update(*updates[w]);
    for (auto& w : workers_)
      while (!w->updated()) std::this_thread::yield();
    updates.clear();                                                // with nothing but updated() to go by
    if (snapshots.size() == 2) snapshots.erase(snapshots.begin());  // nobody goes by it any more
    snapshots.push_back(std::move(next));
    for (auto& w : workers_) EXPECT_TRUE(w->read().has_value());
  }
  for (auto& w : workers_) w->stop();
  for (auto& t : threads) t.join();
  EXPECT_EQ(workers_[0]->read_here().services.size(), snapshots.back()->services.size());
}

}  // namespace
}  // namespace surety
