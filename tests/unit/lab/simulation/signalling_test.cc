// SPDX-License-Identifier: BSD-3-Clause
// Congestion signals in the lab: the product's own packets, from a core router's queue to the border that
// holds the flows back.
#include <gmock/gmock.h>

#include "router/pipeline/signals/signal_message.h"
#include "tests/lab/results/result_json.h"
#include "tests/lab/simulation/network.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;
using test::run_once;

// Four contracts of 400 kbit/s, of which all is offered, and more: with alpha 0.4 2.24 Mbit/s, onto 2 Mbit/s
// behind an internal router. Data and signals share the link between the two but for `side`, which nothing
// takes unless a test sends it there.
constexpr std::string_view kCore = R"(
version: 1
duration: 20 s
measure: 5 s - 15 s
routers:
  edge:
    ports: {lan: {trust: customer}, up: {trust: core, queues: q}, side: {trust: core}}
    queues: &queues
      q:
        - name: assured
          dscp: {in: [AF11], out: [BE]}
          limit: 400 packets
          count: packets
          rio: {in: {min: 70, max: 120, pmax: 0.02}, out: {min: 10, max: 60, pmax: 0.2}}
    services:
      silver: {conditioner: csa, rate: 400 kbit/s, in_bucket: 10 kB, out_bucket: 1500 B, buffer: 20 packets, alpha: {control: paper}, mark: {in: AF11, out: BE}}
    classify:
      - {match: {port: lan}, service: silver, per: flow}
  core:
    router: {role: core}
    ports: {in: {trust: core}, side: {trust: core}, out: {trust: core, queues: q}}
    queues: *queues
hosts: [{name: h, times: 4}, d]
links:
  - {between: [h, edge.lan], rate: 10 Mbit/s, delay: 1 ms}
  - {between: [edge.up, core.in], rate: 10 Mbit/s, delay: 5 ms}
  - {between: [edge.side, core.side], rate: 10 Mbit/s, delay: 20 ms}
  - {between: [core.out, d], rate: 2 Mbit/s, delay: 5 ms}
senders:
  - {name: f, host: h, to: d, protocol: udp, rate: 800 kbit/s, packet: 250 B, stop: 15 s, start: 0 s - 100 ms}
)";
const Setting kCoreOff{"routers.core.signalling", "off"};
const Setting kEdgeOff{"routers.edge.signalling", "off"};
const Setting kEdgeObserves{"routers.edge.signalling", "{mode: observe}"};

std::uint64_t signals(const RunResult& r, const std::string& where, const std::string& what) {
  const auto router = r.signals.find(where);
  if (router == r.signals.end() || !router->second.contains(what)) return 0;
  return router->second.at(what);
}
const DomainResult* path_of(const RunResult& r) {
  for (const auto& d : r.domains)
    if (d.at == "edge" && d.queue == "assured towards d") return &d;
  return nullptr;
}
double out_rate(const RunResult& r) {
  double sum = 0;
  for (const auto& f : r.flows) sum += f.throughput_bps - f.in_throughput_bps;
  return sum;
}

TEST(LabSignalling, HoldsTheFlowsBackAtTheirBorder) {
  const RunResult on = run_once(kCore), off = run_once(kCore, 1, {kCoreOff});
  for (const auto& [where, counts] : off.signals) EXPECT_TRUE(counts.empty()) << where;
  EXPECT_EQ(path_of(off), nullptr);
  ASSERT_NE(path_of(on), nullptr);
  EXPECT_TRUE(path_of(on)->applied);
  // What the link has room for beside 4 x 400 kbit/s is 0.25 of them; the queue is congested off and on.
  EXPECT_GT(path_of(on)->alpha_mean, 0.15);
  EXPECT_LT(path_of(on)->alpha_mean, 0.30);
  const auto dropped = [](const RunResult& r) {
    std::uint64_t n = 0;
    for (const auto& f : r.flows) n += f.lost_packets - f.buffer_drops;
    return n;
  };
  EXPECT_LT(2 * dropped(on), dropped(off)) << "in the core, where their packets have come far already";
}

TEST(LabSignalling, AlphaComesBackWhenNobodySignals) {
  const RunResult r = run_once(kCore);
  ASSERT_NE(path_of(r), nullptr);
  EXPECT_LT(path_of(r)->alpha_min, 0.25);
  EXPECT_DOUBLE_EQ(path_of(r)->alpha_last, 0.4) << "5 s after the last packet";
}

TEST(LabSignalling, EverySignalIsAccountedFor) {
  for (const char* loss : {"0", "0.5", "1"}) {
    const RunResult r =
        run_once(kCore, 1, {{"links.edge.up~core.in.back", std::string("{loss: ") + loss + "}"}});
    const std::uint64_t sent = signals(r, "core", "sent");
    EXPECT_GT(sent, 100u);
    EXPECT_EQ(sent, signals(r, "edge", "applied") + signals(r, "links", "lost")) << loss;
    EXPECT_EQ(signals(r, "core", "unsent"), 0u);
    EXPECT_EQ(signals(r, "links", "lost") == 0, loss == std::string_view("0"));
    EXPECT_EQ(signals(r, "edge", "applied") == 0, loss == std::string_view("1"));
  }
}

// CONTRIBUTING.md rule 4, at any moment: received and made = transmitted, dropped, queued,
// held, punted and ended here.
TEST(LabSignalling, TheLawOfCountersHolds) {
  const auto plan = make_plan(test::scenario(kCore));
  Network network(*plan, test::pool(), 1);
  std::uint64_t originated = 0, ended = 0;
  for (const Duration at : {3s, 7s, 20s}) {
    network.run_to(Network::kZero + at);
    for (std::size_t r = 0; r < network.routers(); ++r) {
      const RouterDriver& router = network.router(r);
      std::uint64_t in = 0, out = 0;
      for (std::size_t p = 0; p < router.ports(); ++p) {
        const PortCounters& c = router.counters(p);
        in += c.rx_packets + c.originated;
        out += c.tx_packets + c.held + c.signals + router.egress(p).depth();
        for (const std::uint64_t n : c.drops) out += n;
        for (const std::uint64_t n : c.punted) out += n;
      }
      EXPECT_EQ(in, out) << "router " << r;
    }
  }
  for (std::size_t p = 0; p < 3; ++p) {
    originated += network.router(1).counters(p).originated;
    ended += network.router(0).counters(p).signals;
  }
  EXPECT_GT(originated, 100u);
  EXPECT_EQ(originated, ended);
}

TEST(LabSignalling, AQueuesLimitIsKept) {
  const RunResult r = run_once(kCore, 1, {{"routers.core.signalling", "{queue_limit: 1}"}});
  EXPECT_LE(signals(r, "core", "sent"), 8u + 15u) << "8 at once, then one a second";
  EXPECT_GT(signals(r, "core", "limited"), 100u);
  EXPECT_EQ(signals(r, "edge", "applied"), signals(r, "core", "sent"));
}

TEST(LabSignalling, ABorderWithoutSignallingLetsNoneThrough) {
  const RunResult r = run_once(kCore, 1, {kEdgeOff});
  EXPECT_GT(signals(r, "edge", "off"), 100u);
  EXPECT_EQ(signals(r, "edge", "off"), signals(r, "core", "sent"));
  EXPECT_EQ(signals(r, "links", "lost"), 0u) << "no host got one";
  EXPECT_EQ(r.drops.at("edge").at("signal"), signals(r, "edge", "off"));
  EXPECT_EQ(path_of(r), nullptr);
}

// Equal bytes in everything but what observing is about.
TEST(LabSignalling, ObservingChangesNothingAndPredictsAlpha) {
  const auto rest = [](const RunResult& r) {
    auto json = to_json(r);
    json.erase("signals");
    json.erase("events");  // timers of what is observed
    json["drops"].at("edge").erase("signal");
    auto& domains = json["domains"];
    for (std::size_t i = 0; i < domains.size();)
      if (domains[i].at("applied") == false)
        domains.erase(i);
      else
        ++i;
    return json.dump();
  };
  const RunResult off = run_once(kCore, 1, {kEdgeOff}), observe = run_once(kCore, 1, {kEdgeObserves});
  EXPECT_EQ(rest(observe), rest(off));
  EXPECT_EQ(signals(observe, "edge", "observed"), signals(off, "edge", "off"));
  ASSERT_NE(path_of(observe), nullptr);
  EXPECT_FALSE(path_of(observe)->applied);
  EXPECT_EQ(path_of(observe)->alpha_min, 0.04) << "as nobody obeys, the congestion stays";
}

TEST(LabSignalling, ACoreThatObservesCountsAndSendsNothing) {
  const RunResult off = run_once(kCore, 1, {kCoreOff});
  const RunResult observe = run_once(kCore, 1, {{"routers.core.signalling", "{mode: observe}"}});
  EXPECT_GT(signals(observe, "core", "sent"), 100u);
  EXPECT_EQ(signals(observe, "links", "lost"), 0u);
  EXPECT_TRUE(observe.signals.at("edge").empty());
  auto json = to_json(observe);
  auto expected = to_json(off);
  for (const char* own : {"signals", "events"}) expected[own] = json[own];  // and timers of what it observes
  EXPECT_EQ(json.dump(), expected.dump());
}

// Signals go to the border by a link of their own, which loses half of them: their sources' route is another.
TEST(LabSignalling, LosingHalfOfTheSignalsIsSafe) {
  const auto lossy = [](const char* loss) {
    return run_once(kCore, 1,
                    {{"routers.core.signalling", "{borders: [{source: 10.0.0.0/24, border: 198.18.0.1}]}"},
                     {"links.edge.side~core.side.delay", "1 ms"},
                     {"links.edge.side~core.side.back", std::string("{loss: ") + loss + "}"},
                     {"routes", "[{to: d, by: edge.up}, {to: h, by: core.in}]"}});
  };
  const RunResult all = lossy("0"), half = lossy("0.5"), none = lossy("1");
  EXPECT_EQ(signals(all, "edge", "applied"), signals(all, "core", "sent"));
  EXPECT_EQ(signals(none, "edge", "applied"), 0u);
  EXPECT_NEAR(static_cast<double>(signals(half, "edge", "applied")),
              static_cast<double>(signals(half, "core", "sent")) / 2,
              static_cast<double>(signals(half, "core", "sent")) / 10);
  // A second signal of the same congestion would have done nothing anyway for the time T1.
  EXPECT_GE(out_rate(none) * 1.001, out_rate(half));
  ASSERT_NE(path_of(half), nullptr);
  EXPECT_LT(path_of(half)->alpha_mean, 0.35);
  EXPECT_GE(path_of(half)->alpha_mean, path_of(all)->alpha_mean - 0.01);
  EXPECT_DOUBLE_EQ(path_of(half)->alpha_last, 0.4) << "T2 brings it back";
}

TEST(LabSignalling, IsTheSameEachTime) {
  EXPECT_EQ(to_json(run_once(kCore, 3)).dump(), to_json(run_once(kCore, 3)).dump());
}

TEST(LabSignalling, SpeaksIpv6ToIpv6Sources) {
  const RunResult r = run_once(
      kCore, 1,
      {{"hosts", "[{name: h, times: 4, address: \"2001:db8::1\"}, {name: d, address: \"2001:db8:1::1\"}]"}});
  EXPECT_GT(signals(r, "edge", "applied"), 100u);
  EXPECT_EQ(signals(r, "edge", "applied"), signals(r, "core", "sent"));
}

// A capture shows them as what they are.
TEST(LabSignalling, TapsSeePackets) {
  struct Count : LinkTap {
    std::uint64_t signals = 0;
    void on_frame(std::size_t, int direction, std::span<const std::uint8_t> frame, Time) override {
      const auto ip = frame.subspan(14);
      if (!may_be_signal(ip[9], ip.subspan(20))) return;
      EXPECT_EQ(direction, 1);
      EXPECT_EQ(ip[1] >> 2, kSignalDscp);
      EXPECT_TRUE(is_signal(ip.subspan(20), false));
      ++signals;
    }
  } tap;
  const auto plan = make_plan(test::scenario(kCore));
  RunOptions options;
  options.tap = &tap;
  options.tap_link = 4;  // edge.up core.in, behind the four of the hosts
  const RunResult r = run(*plan, test::pool(), options);
  EXPECT_EQ(tap.signals, signals(r, "core", "sent"));
}

TEST(LabSignalling, ItsBuffersComeBack) {
  const std::uint32_t before = test::pool().in_use();
  run_once(kCore);
  EXPECT_EQ(test::pool().in_use(), before);
}

}  // namespace
}  // namespace surety::lab
