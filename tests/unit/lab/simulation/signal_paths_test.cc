// SPDX-License-Identifier: BSD-3-Clause
// Which flows congestion signals hold back, and how well those hear that send little
// (router/pipeline/signals/README.md).
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/lab/simulation/network.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;
using test::run_once;

std::string two_ways() {
  std::ostringstream text;
  text << std::ifstream(SURETY_SOURCE_DIR "/tests/unit/lab/simulation/two_ways.yaml").rdbuf();
  return text.str();
}

double mean_rate(const RunResult& r, char first) {
  double sum = 0;
  int n = 0;
  for (const FlowResult& f : r.flows)
    if (f.name[0] == first) sum += f.throughput_bps, ++n;
  return sum / n;
}

TEST(LabSignalPaths, FlowsPastACongestedPortAreLeftAlone) {
  const RunResult r = run_once(two_ways());
  EXPECT_NEAR(mean_rate(r, 'f'), 720e3, 0.03 * 720e3);
  EXPECT_GT(mean_rate(r, 'n'), 400e3);
  EXPECT_LT(mean_rate(r, 'n'), 470e3);
}

// 500-byte packets by three edges, of which 1, 10 and 100 a second go beyond the contract: OUT, whatever
// alpha is. A flood that nobody holds back congests the way out.
std::string borders(const std::string& flood) {
  std::string routers, ports, links, senders;
  const auto edge = [&](const std::string& name, int kbps) {
    routers +=
        "  " + name + R"(:
    router: {role: border}
    ports: {lan: {trust: customer}, up: {trust: core}}
    services: {a: {conditioner: csa, rate: )" +
        std::to_string(kbps) +
        R"( kbit/s, in_bucket: 2 packets, out_bucket: 10 packets, buffer: 20 packets, alpha: {control: paper}, mark: {in: AF11, out: BE}}}
    classify: [{match: {port: lan}, service: a, per: flow}]
)";
    ports += name + ": {trust: core}, ";
    links += "  - {between: [h" + name + ", " + name + ".lan], delay: 1 ms}\n  - {between: [" + name +
             ".up, core." + name + "], delay: 5 ms}\n";
  };
  for (const int n : {1, 10, 100}) {
    const std::string name = "e" + std::to_string(n);
    edge(name, 100 * n);
    senders += "  - {name: " + name + ", host: h" + name +
               ", to: d, protocol: udp, packet: 500 B, rate: " + std::to_string(104 * n) +
               " kbit/s, start: 0 s - 1 s}\n";
  }
  return R"(
version: 1
duration: 80 s
measure: 30 s - 80 s
hosts: [he1, he10, he100, flood, d]
routers:
)" + routers +
         R"(  core:
    router: {role: core}
    ports: {)" +
         ports + R"(flood: {trust: core}, out: {trust: core, queues: q}}
    queues:
      q:
        - name: assured
          dscp: {in: [AF11], out: [BE]}
          limit: 400 packets
          count: packets
          rio: {in: {min: 70, max: 120, pmax: 0.02}, out: {min: 10, max: 60, pmax: 0.2}}
links:
)" + links +
         R"(  - {between: [flood, core.flood], delay: 1 ms}
  - {between: [core.out, d], rate: 16 Mbit/s, delay: 5 ms}
senders:
)" + senders +
         "  - {name: flood, host: flood, to: d, protocol: udp, rate: 8 Mbit/s, packet: 500 B, start: 2 s" +
         flood + "}\n";
}
constexpr const char *kThroughout = "", *kAtTimes = ", on: 400 ms, off: 1600 ms";

// Mean alpha towards `d` at an edge, in the measured interval.
double alpha(const RunResult& r, const std::string& edge) {
  for (const DomainResult& d : r.domains)
    if (d.at == edge && d.queue.ends_with("towards d")) return d.alpha_mean;
  return 0.4;  // nothing was ever heard
}

TEST(LabSignalPaths, ABorderThatSendsLittleIsHeldBackLikeOneThatSendsMuch) {
  for (const char* flood : {kThroughout, kAtTimes}) {
    const RunResult r = run_once(borders(flood));
    const double much = alpha(r, "e100");
    EXPECT_LT(much, flood == kThroughout ? 0.041 : 0.35);
    EXPECT_GT(much, flood == kThroughout ? 0.039 : 0.2);
    EXPECT_NEAR(alpha(r, "e10"), much, 0.1 * much) << flood;
    EXPECT_NEAR(alpha(r, "e1"), much, 0.1 * much) << flood;
  }
}

// A core that may send so few signals that it reminds nobody, and that drops many of them. Alpha falls with
// each that comes, and does not climb meanwhile as it would by a step each T2.
TEST(LabSignalPaths, WhoIsNotRemindedTakesNoSilenceForAnAnswer) {
  const RunResult r = run_once(borders(kThroughout), 1, {{"routers.core.signalling", "{queue_limit: 62}"}});
  EXPECT_LT(alpha(r, "e10"), 0.25);
  EXPECT_LT(alpha(r, "e100"), 0.05);
}

}  // namespace
}  // namespace surety::lab
