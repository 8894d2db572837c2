// SPDX-License-Identifier: BSD-3-Clause
// Workers whose ports come, go and change while packets are under way.
#include <map>
#include <random>
#include <set>

#include "config/reload.h"
#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;

// `lan` receives, `up` (10.2/16) stays, and of `a`, `b`, `c` (10.3/16) some are there.
struct What {
  std::set<std::string> there;
  bool queues = false, core = false, reordered = false;
};

std::string yaml(const What& what) {
  const std::string more =
      std::string(", trust: ") + (what.core ? "core" : "customer") + (what.queues ? ", queues: q" : "");
  std::string ports;
  for (const std::string& name : what.there)
    ports += "  " + name + ": {device: null, shape: 4 Mbit/s, burst: 3 kB" + more + "}\n";
  const std::string lan =
      "  lan: {device: null, trust: customer, source_check: off, receive: {dispatch: on}}\n"
      "  up: {device: null, trust: core}\n";
  return "version: 1\nrouter: {name: ports, id: 192.0.2.1}\nports:\n" +
         (what.reordered ? ports + lan : lan + ports) + R"(
queues:
  q: [{name: af, dscp: {in: [AF11], out: [BE]}, limit: 50 packets}]
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 100 kbit/s, in_bucket: 1 packets, out_bucket: 1 packets, buffer: 20 packets, mark: {in: AF11, out: BE}}
classify:
  - {match: {port: lan, destination: 10.3.0.0/16}, service: silver, per: flow}
flow_table: {capacity: 4096}
)";
}

class WorkerPorts : public testing::Test {
 protected:
  static constexpr std::uint32_t kUp = 10, kOther = 11;

  void begin(std::size_t count, const What& what) {
    snapshots_.push_back(std::make_unique<Snapshot>(places_.place(parsed(what))));
    devices_.resize(kMaxPorts);
    taps_.resize(kMaxPorts);
    for (auto& f : frames_) f = std::make_unique<Frames>();
    open();
    std::vector<unsigned> cores;
    for (unsigned w = 0; w < count; ++w) cores.push_back(w);
    plan_ = plan_work(now_config(), cores, std::vector<PortAbility>(kMaxPorts));
    fabric_ = std::make_unique<Fabric>("ports", plan_);
    WorkerOptions options;
    options.start = kStart;
    for (std::size_t w = 0; w < count; ++w)
      workers_.push_back(
          std::make_unique<Worker>(WorkerEnvironment{*snapshots_.back(), devices_, shared_fib(), next_hops_},
                                   plan_, w, fabric_.get(), options));
    for (auto& w : workers_) w->connect(workers_);
    for (const auto& [to, id] : {std::pair{"10.2.0.0/16", kUp}, {"10.3.0.0/16", kOther}}) {
      prefixes_.push_back(parse_prefix(to).value());
      ASSERT_TRUE(shared_fib().add(prefixes_.back(), target_of(prefixes_.back(), {id, 1}).encode()));
    }
    next_hops_.set(kUp, ready(static_cast<std::uint8_t>(place("up"))));
    point();
  }
  void TearDown() override {
    for (const auto& p : prefixes_) shared_fib().remove(p);
    workers_.clear();
    fabric_.reset();
    for (auto& t : taps_) t.reset();
    devices_.clear();
  }

  static config::Config parsed(const What& what) {
    config::Config c = configured(yaml(what).c_str());
    return c;
  }
  const config::Config& now_config() const { return snapshots_.back()->config; }
  std::size_t place(const std::string& name) const {
    const auto& ports = now_config().ports;
    return static_cast<std::size_t>(std::ranges::find(ports, name, &config::Port::name) - ports.begin());
  }
  void open() {
    for (std::size_t p = 0; p < kMaxPorts; ++p) {
      config::Port port = now_config().ports[p];
      if (!port.exists() || devices_[p] != nullptr) continue;
      port.device.name = kFeedDevice;
      port.mac = port_mac(p);
      devices_[p] = std::make_unique<DpdkPort>(port, p, packet_pool());
      devices_[p]->start();
      taps_[p] = std::make_unique<PortTap>(*devices_[p]);
      frames_[p] = std::make_unique<Frames>();
      taps_[p]->on_receive(Frames::on_receive, frames_[p].get());
      taps_[p]->on_transmit(Frames::on_transmit, frames_[p].get());
    }
  }
  // The route of 10.3/16 leads to the first of the others.
  void point() {
    for (const char* name : {"a", "b", "c"})
      if (place(name) < kMaxPorts)
        return next_hops_.set(kOther, ready(static_cast<std::uint8_t>(place(name))));
    next_hops_.set(kOther, not_ready(NextHopEntry::State::no_route));
  }
  // As the router does it. `withdrawn`: routes first took another way.
  void reload(const What& what, bool withdrawn = false) {
    auto config = places_.place(parsed(what));
    snapshots_.push_back(std::make_unique<Snapshot>(std::move(config), *snapshots_.back()));
    open();
    const WorkPlan next = plan_on(plan_, now_config(), std::vector<PortAbility>(kMaxPorts));
    ASSERT_TRUE(serves(next, now_config()));
    for (std::size_t p = 0; p < kMaxPorts; ++p)
      if (next.ports[p].exists() && !plan_.ports[p].exists()) fabric_->open(next, static_cast<PortIndex>(p));
    std::vector<std::unique_ptr<WorkerUpdate>> updates;
    for (auto& w : workers_) updates.push_back(w->prepare(*snapshots_.back(), &next));
    for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->connect(*updates[w], updates);
    if (withdrawn) next_hops_.set(kOther, not_ready(NextHopEntry::State::no_route));
    plan_ = next;
    for (std::size_t w = 0; w < workers_.size(); ++w) {  // one before the others, among packets
      workers_[w]->update(*updates[w]);
      bring(5);
      turn();
      EXPECT_TRUE(workers_[w]->updated());
    }
    point();
    for (std::size_t p = 0; p < kMaxPorts; ++p)
      if (devices_[p] != nullptr && !now_config().ports[p].exists()) {
        taps_[p].reset();
        devices_[p].reset();
      }
  }
  void turn() {
    now_ += std::chrono::microseconds(50);
    for (auto& w : workers_) w->turn(now_);
  }
  void bring(std::uint32_t packets) {
    for (std::uint32_t n = 0; n < packets; ++n)
      for (std::uint16_t flow = 0; flow < 6; ++flow) {
        frames_[place("lan")]->in.push_back(numbered(flow, number_));
        sent_up_ += flow % 2 == 0;
        ++sent_;
      }
    ++number_;
  }
  void drain() {
    for (int i = 0; i < 40'000; ++i) {
      turn();
      if (i % 100 == 99 && frames_[place("lan")]->in.empty() && left() == 0) break;
    }
  }
  Reading all() {
    Reading r = merged(workers_);
    settle_gone(r);
    return r;
  }
  std::uint64_t left() {
    std::uint64_t n = 0;
    for (const PortReading& p : all().ports) n += p.queued + p.counters.held;
    return n;
  }
  // The law of counters.h, of each port that is there, and of all that have gone together.
  void expect_law() {
    const Reading now = all();
    test::expect_law(now);
    std::uint64_t received = 0;
    for (const PortReading& p : now.ports) received += p.counters.rx_packets;
    EXPECT_EQ(received + frames_[place("lan")]->in.size(), sent_);
  }
  const PortCounters& row(const Reading& r, const std::string& name) const {
    return std::ranges::find(r.ports, name, &PortReading::name)->counters;
  }

  config::PortPlaces places_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
  NextHopTable next_hops_{64};
  std::array<std::unique_ptr<Frames>, kMaxPorts> frames_;
  std::vector<std::unique_ptr<DpdkPort>> devices_;
  std::vector<std::unique_ptr<PortTap>> taps_;
  WorkPlan plan_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Prefix> prefixes_;
  Time now_ = kStart;
  std::uint32_t number_ = 0;
  std::uint64_t sent_ = 0, sent_up_ = 0;
};

class WorkerPortsBy : public WorkerPorts, public testing::WithParamInterface<std::size_t> {};

TEST_P(WorkerPortsBy, APortComesAndForwards) {
  begin(GetParam(), {.there = {}});
  bring(10);
  drain();
  EXPECT_EQ(row(all(), "lan").drops[static_cast<std::size_t>(DropReason::no_route)], 30u);
  reload({.there = {"a"}, .queues = false, .core = true, .reordered = true});
  EXPECT_EQ(place("lan"), 0u);
  EXPECT_EQ(place("a"), 2u);
  drain();
  const auto before = frames_[2]->out.size();
  bring(10);
  drain();
  EXPECT_EQ(frames_[2]->out.size(), before + 30);
  expect_law();
}

TEST_P(WorkerPortsBy, WhatWaitsForAPortThatGoesIsDroppedByName) {
  begin(GetParam(), {.there = {"a"}, .queues = true});
  for (int i = 0; i < 30; ++i) bring(2), turn();
  const Reading before = all();
  const std::uint64_t queued = std::ranges::find(before.ports, "a", &PortReading::name)->queued;
  EXPECT_GT(queued, 0u);
  EXPECT_GT(row(before, "lan").held, 0u);
  reload({.there = {}});
  EXPECT_GT(row(all(), kGonePorts).drops[static_cast<std::size_t>(DropReason::port_gone)], queued / 2);
  expect_law();
  drain();
  EXPECT_EQ(left(), 0u);
  expect_law();
  EXPECT_EQ(frames_[1]->out.size(), sent_up_) << "who goes by another port has lost nothing";
}

// A worker counts for who has the place.
TEST_P(WorkerPortsBy, AnotherPortInThePlaceBeginsAtNothing) {
  begin(GetParam(), {.there = {"a"}});
  bring(10);
  drain();
  reload({.there = {}});
  const std::uint64_t of_a = frames_[2]->out.size();
  EXPECT_GT(of_a, 0u);
  reload({.there = {}});
  reload({.there = {"b"}, .queues = true});
  EXPECT_EQ(place("b"), 2u);
  drain();
  const Reading now = all();
  EXPECT_EQ(row(now, kGonePorts).tx_packets, of_a);
  EXPECT_EQ(row(now, "b").tx_packets, frames_[2]->out.size());
  expect_law();
}

TEST_P(WorkerPortsBy, RandomHistories) {
  const auto any = [](std::mt19937& random) {
    What what{
        .there = {}, .queues = random() % 2 == 0, .core = random() % 2 == 0, .reordered = random() % 2 == 0};
    for (const char* name : {"a", "b", "c"})
      if (random() % 2 == 0) what.there.insert(name);
    return what;
  };
  std::mt19937 random(11);
  begin(GetParam(), any(random));
  for (int step = 0; step < 150 && !HasFailure(); ++step) {
    bring(static_cast<std::uint32_t>(1 + random() % 6));
    for (auto turns = random() % 60; turns > 0; --turns) turn();
    reload(any(random), random() % 2 == 0);
    expect_law();
  }
  drain();
  expect_law();
  EXPECT_EQ(left(), 0u);
  EXPECT_EQ(frames_[1]->out.size(), sent_up_);
  const Reading end = all();
  std::uint64_t out = 0, dropped = 0;
  for (const PortReading& p : end.ports) {
    out += p.counters.tx_packets;
    for (const std::uint64_t n : p.counters.drops) dropped += n;
  }
  EXPECT_EQ(out + dropped, sent_);
  EXPECT_GT(row(end, kGonePorts).drops[static_cast<std::size_t>(DropReason::port_gone)], 0u);
}

INSTANTIATE_TEST_SUITE_P(Workers, WorkerPortsBy, testing::Values(1, 2, 3));

}  // namespace
}  // namespace surety
