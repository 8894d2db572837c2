// SPDX-License-Identifier: BSD-3-Clause
// The lab against the DPDK worker: what a run of the lab sends into a router is captured, and fed to the
// product's worker by pcap ports at the same times. It must send the same frames, at the same times, and drop
// as many for each reason.
#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include <filesystem>
#include <functional>
#include <map>

#include "router/daemon/workers/worker.h"
#include "tests/lab/simulation/network.h"
#include "tests/lab/simulation/pcapng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::lab {
namespace {

using namespace literals;

// One router with every kind of flow. What comes out of it meets no line that could hold its ports
// back: its own shaper decides.
constexpr const char* kScenario = R"(
version: 1
name: equivalence
duration: 4 s
routers:
  edge:
    router: {role: border}
    ports:
      c1: {trust: customer}
      c2: {trust: customer}
      c3: {trust: customer}
      c4: {trust: customer}
      up: {trust: core, shape: 6 Mbit/s, queues: q}
    queues:
      q:
        - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s, limit: 20 packets}
        - name: assured
          dscp: {in: [AF11], out: [AF12, AF13, BE]}
          limit: 50 packets
          count: packets
          rio: {average: 0.02, in: {min: 20, max: 40, pmax: 0.02}, out: {min: 4, max: 12, pmax: 0.1}}
    services:
      csa: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 6 kB, out_bucket: 1500 B, buffer: 12 packets,
            alpha: {min: 0.04, max: 0.4, step: 0.02, t1: 30 ms, t2: 90 ms}, mark: {in: AF11, out: BE}}
      marked: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF13}}
      voice: {conditioner: police, rate: 800 kbit/s, bucket: 4 kB, mark: {in: EF}}
    aggregates:
      all: {port: up, queue: assured, marker: ard, rate: 4 Mbit/s, bucket: 30 kB, threshold: 15 kB, drop: 0.05,
            interval: 400 ms}
    classify:
      - {match: {port: c1}, service: csa, per: flow}
      - {match: {port: c2}, service: csa, per: flow}
      - {match: {port: c3}, service: marked, per: rule}
      - {match: {port: c4}, service: voice, per: rule}
hosts: [h1, h2, h3, h4, sink]
links:
  - {between: [h1, edge.c1], delay: 3 ms, forth: {rate: 20 Mbit/s}}
  - {between: [h2, edge.c2], delay: 11 ms, forth: {rate: 20 Mbit/s}}
  - {between: [h3, edge.c3], delay: 7 ms, forth: {rate: 10 Mbit/s}}
  - {between: [h4, edge.c4], delay: 1 ms, forth: {rate: 10 Mbit/s}}
  - {between: [edge.up, sink], delay: 10 ms, back: {rate: 50 Mbit/s}}
senders:
  - {name: reno, host: h1, to: sink, protocol: reno, packet: 1000 B, start: 0 s - 100 ms}
  - {name: newreno, host: h2, to: sink, protocol: newreno, packet: 576 B, flows: 2, start: 0 s - 100 ms}
  - {name: gtfrc, host: h3, to: sink, protocol: gtfrc, target: 1 Mbit/s, packet: 1500 B, start: 0 s - 100 ms}
  - {name: voice, host: h4, to: sink, protocol: udp, rate: 1 Mbit/s, packet: 200 B, start: 0 s - 100 ms}
)";
constexpr Time kZero = Network::kZero, kEnd = kZero + 4s;

struct Frame {
  Time at;
  test::Octets bytes;
};
using Frames = std::vector<Frame>;
using Drops = std::array<std::uint64_t, kDropReasons>;

// What one link of the router carried: `in` at the time at which it came to the router.
struct PortTraffic {
  Frames in, out;
};
struct LabRun {
  std::vector<PortTraffic> ports;
  Drops drops{};
  std::uint64_t router_seed = 0;
};

class Tap : public LinkTap {
 public:
  Tap(Network& network, std::size_t link, int inwards)
      : network_(network),
        inwards_(inwards),
        line_(*network.plan().lines()[2 * link + static_cast<std::size_t>(inwards)].parameters, 1, kZero) {
    network.tap(this, link);
  }
  void on_frame(std::size_t, int direction, std::span<const std::uint8_t> frame, Time) override {
    const Time now = network_.now();
    const test::Octets bytes(frame.begin(), frame.end());
    if (direction != inwards_) return traffic_.out.push_back({now, bytes});
    line_.send(nullptr, static_cast<std::uint32_t>(bytes.size() - 14), now);
    const Time arrival = line_.next_arrival();
    line_.take();
    if (arrival <= kEnd) traffic_.in.push_back({arrival, bytes});
  }
  PortTraffic take() { return std::move(traffic_); }

 private:
  Network& network_;
  int inwards_;
  Line line_;  // a line of its own tells when the frame arrives
  PortTraffic traffic_;
};

// A run per link, since one is tapped at a time: a run is a function of its seed.
LabRun run_lab(const Plan& plan, PacketPool& pool, std::uint64_t seed) {
  LabRun result;
  result.ports.resize(plan.routers()[0].macs.size());
  for (std::size_t link = 0; link < result.ports.size(); ++link) {
    const int inwards = plan.lines()[2 * link].to.router ? 0 : 1;
    const NodePort& port = plan.lines()[2 * link + static_cast<std::size_t>(inwards)].to;
    Network network(plan, pool, seed);
    Tap tap(network, link, inwards);
    network.run_to(kEnd);
    result.ports[port.port] = tap.take();
    result.router_seed = network.router(0).seed();
    result.drops = {};
    for (std::size_t p = 0; p < result.ports.size(); ++p)
      for (std::size_t r = 0; r < kDropReasons; ++r)
        result.drops[r] += network.router(0).counters(p).drops[r];
  }
  return result;
}

// The device of a router's port: reads the frames from a file, writes into another.
std::unique_ptr<DpdkPort> open_pcap(const std::filesystem::path& file, std::size_t index,
                                    const MacAddress& mac, const Frames& in) {
  PcapngWriter writer(file, "in");
  for (const Frame& f : in) writer.on_frame(0, 1, f.bytes, f.at);
  writer.close();
  config::Port config;
  config.name = "p" + std::to_string(index);
  config.device.kind = config::Device::Kind::pcap;
  config.device.rx_file = file;
  config.device.tx_file = file.string() + ".out";
  config.mac = MacAddress{mac};
  auto port = std::make_unique<DpdkPort>(config, index, test::packet_pool());
  port->start();
  return port;
}

struct Turn {
  Time now = kZero;
  std::size_t room = 0;  // packets that may still come in
};

// Makes a pcap port keep virtual time: frames come when their time has come, and when each leaves is noted.
// The driver's time stamps are too coarse, so that the captured times are kept here.
class PortTime {
 public:
  PortTime(std::uint16_t port, const Frames& in, Turn& turn)
      : in_(in),
        turn_(turn),
        port_(port),
        receive_(rte_eth_add_rx_callback(port, 0, &PortTime::on_receive, this)),
        transmit_(rte_eth_add_tx_callback(port, 0, &PortTime::on_transmit, this)) {}
  ~PortTime() {
    rte_eth_remove_rx_callback(port_, 0, receive_);
    rte_eth_remove_tx_callback(port_, 0, transmit_);
  }
  PortTime(const PortTime&) = delete;
  PortTime& operator=(const PortTime&) = delete;

  Time due() const { return given_ < in_.size() ? in_[given_].at : kNever; }
  Frames take() { return std::move(sent_); }

 private:
  static std::uint16_t on_receive(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                  std::uint16_t room, void* user) {
    auto& self = *static_cast<PortTime*>(user);
    self.read_ += n;
    for (std::uint16_t i = 0; i < n; ++i) rte_pktmbuf_free(packets[i]);
    const std::size_t most = std::min<std::size_t>(room, self.turn_.room);
    std::uint16_t given = 0;
    for (; given < most && self.given_ < self.read_ && self.due() <= self.turn_.now; ++given, ++self.given_) {
      packets[given] = test::to_mbuf(self.in_[self.given_].bytes);
      packets[given]->port = self.port_;
    }
    self.turn_.room -= given;
    return given;
  }
  static std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                   void* user) {
    auto& self = *static_cast<PortTime*>(user);
    for (std::uint16_t i = 0; i < n; ++i) {
      const auto* p = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
      self.sent_.push_back({self.turn_.now, {p, p + packets[i]->data_len}});
    }
    return n;
  }

  const Frames& in_;
  Turn& turn_;
  std::uint16_t port_;
  std::size_t given_ = 0, read_ = 0;  // the driver reads ahead: what has come too early is made again
  Frames sent_;
  const rte_eth_rxtx_callback *receive_, *transmit_;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "suretyXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct WorkerRun {
  std::vector<Frames> sent;  // by port
  Drops drops{};
};

// How a worker is driven: when it has its next turn, if arrivals, timers and queues ask for one at `asked`;
// and how many packets it is given in one.
struct Drive {
  std::function<Time(Time now, Time asked)> next_turn;
  std::size_t packets;
};

// With the lab's snapshot, seed and routes.
WorkerRun run_worker(const Plan& plan, const LabRun& lab, const Drive& drive) {
  const PlannedRouter& router = plan.routers()[0];
  NextHopTable next_hops(router.ids);
  for (const auto& [id, entry] : router.next_hops) next_hops.set(id, entry);
  const TemporaryDirectory directory;
  Turn turn;
  std::vector<std::unique_ptr<DpdkPort>> devices;
  std::vector<std::unique_ptr<PortTime>> times;
  for (std::size_t p = 0; p < lab.ports.size(); ++p) {
    const Frames& in = lab.ports[p].in;
    devices.push_back(open_pcap(directory.path() / ("p" + std::to_string(p)), p, router.macs[p], in));
    times.push_back(std::make_unique<PortTime>(devices[p]->id(), in, turn));
  }
  WorkerOptions options;
  options.seed = lab.router_seed;
  options.start = kZero;
  Worker worker(WorkerEnvironment{*router.snapshot, devices, plan.fib(), next_hops}, options);
  for (;;) {
    Time asked = worker.next_event(turn.now);
    for (const auto& t : times) asked = std::min(asked, t->due());
    const Time next = drive.next_turn(turn.now, std::max(turn.now, asked));
    if (next > kEnd) break;
    turn = {next, drive.packets};
    worker.turn(turn.now);
  }
  WorkerRun result;
  for (auto& t : times) result.sent.push_back(t->take());
  for (std::size_t r = 0; r < kDropReasons; ++r) result.drops[r] = worker.drops(static_cast<DropReason>(r));
  return result;
}

std::shared_ptr<const Plan> plan_scenario() {
  auto parsed = parse_scenario(kScenario, "equivalence.yaml");
  for (const auto& d : parsed.diagnostics) ADD_FAILURE() << d.format();
  return make_plan(std::move(parsed.scenario.value()));
}

constexpr std::uint64_t kSeeds = 5;

// Or there would be nothing to compare.
TEST(LabEquivalenceScenario, MeetsEveryVerdict) {
  PacketPool pool{8000};
  const auto plan = plan_scenario();
  Drops drops{};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const LabRun lab = run_lab(*plan, pool, seed);
    for (std::size_t r = 0; r < kDropReasons; ++r) drops[r] += lab.drops[r];
    EXPECT_GT(lab.ports[4].out.size(), 2000u) << "seed " << seed;
  }
  for (const DropReason r :
       {DropReason::police, DropReason::buffer, DropReason::ard, DropReason::early, DropReason::forced})
    EXPECT_GT(drops[static_cast<std::size_t>(r)], 0u) << info(r).name;
}

class LabEquivalence : public testing::TestWithParam<std::uint64_t> {
 protected:
  PacketPool pool{8000};
  std::shared_ptr<const Plan> plan = plan_scenario();
  LabRun lab = run_lab(*plan, pool, GetParam());
};

// Packet by packet, also where several come at one time by different ports: in the order of the lab's links.
TEST_P(LabEquivalence, AWorkerTurnedWhenSomethingIsDueSendsTheSameFramesAtTheSameTimes) {
  const WorkerRun worker = run_worker(*plan, lab, {[](Time, Time asked) { return asked; }, 1});
  EXPECT_EQ(worker.drops, lab.drops);
  for (std::size_t p = 0; p < lab.ports.size(); ++p) {
    const Frames &theirs = worker.sent[p], &ours = lab.ports[p].out;
    ASSERT_EQ(theirs.size(), ours.size()) << "port " << p;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(theirs[i].at, ours[i].at) << "port " << p << ", frame " << i;
      ASSERT_EQ(theirs[i].bytes, ours[i].bytes) << "port " << p << ", frame " << i;
    }
  }
}

std::map<int, double> packets_by_dscp(const Frames& frames) {
  std::map<int, double> n;
  for (const Frame& f : frames) ++n[test::dscp_of(f.bytes)];
  return n;
}

// As in production: a turn each microsecond, in bursts. What crosses within a turn may come in another order,
// which moves RIO's draws; what the classes and precedences get stays as it is.
TEST_P(LabEquivalence, AWorkerThatPollsGivesEveryDscpAsMuch) {
  const WorkerRun worker = run_worker(
      *plan, lab,
      {[](Time now, Time asked) { return now + std::max<std::int64_t>((asked - now) / 1us + 1, 1) * 1us; },
       kBurst});
  for (std::size_t p = 0; p < lab.ports.size(); ++p) {
    const double whole = static_cast<double>(lab.ports[p].out.size());
    const auto theirs = packets_by_dscp(worker.sent[p]);
    for (const auto& [dscp, n] : packets_by_dscp(lab.ports[p].out)) {
      ASSERT_TRUE(theirs.contains(dscp)) << "port " << p << ", DSCP " << dscp;
      EXPECT_NEAR(theirs.at(dscp), n, 0.01 * whole) << "port " << p << ", DSCP " << dscp;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LabEquivalence, testing::Range<std::uint64_t>(1, kSeeds + 1));

}  // namespace
}  // namespace surety::lab
