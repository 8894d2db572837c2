// SPDX-License-Identifier: BSD-3-Clause
// A bad network between two interfaces: delay, loss and a rate for each direction, for tests in namespaces
// (this kernel has no netem). `impair A B --delay 25ms --loss 1% --seed 1` bridges A and B until it is told
// to stop.
//
// The delay lines of the lab's live links (tests/lab/live/live_wire.h): neighbour discovery passes at once,
// so that it cannot fail a test by chance. A frame leaves when its delay is over, never early; lateness is
// what the scheduler adds (about 60 us). SIGTERM prints the counters as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "config/text/quantity.h"
#include "tests/lab/live/live_wire.h"

namespace surety {
namespace {

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::string json(const lab::DelayLine& line) {
  const auto& c = line.counters();
  return fmt::format(R"({{"received": {}, "lost": {}, "overflowed": {}, "held": {}}})", c.received, c.lost,
                     c.overflowed, line.in_flight());
}

template <class T>
T value_of(const config::Parsed<T>& parsed) {
  if (!parsed.value) throw CLI::ValidationError(parsed.error);
  return *parsed.value;
}

int run(int argc, char** argv) {
  CLI::App app("a network with delay, loss and a rate between two interfaces");
  std::string a, b, delay = "0 s", loss = "0 %", loss_back = "0 %", rate, rate_back;
  std::uint64_t seed = 1;
  std::uint32_t queue = 1000;
  app.add_option("A", a)->required();
  app.add_option("B", b)->required();
  app.add_option("--delay", delay, "each way");
  app.add_option("--loss", loss, "from A to B");
  app.add_option("--loss-back", loss_back, "from B to A");
  app.add_option("--rate", rate, "from A to B, of IP bytes");
  app.add_option("--rate-back", rate_back, "from B to A");
  app.add_option("--queue", queue, "frames that may wait for the rate");
  app.add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);

  const auto impairment = [&](const std::string& l, const std::string& r) {
    return lab::Impairment{value_of(config::parse_duration(delay)),
                           Probability(value_of(config::parse_fraction(l))),
                           r.empty() ? std::nullopt : std::optional(value_of(config::parse_rate(r))), queue};
  };
  lab::Wire wire;
  const std::size_t left = wire.add(a), right = wire.add(b);
  const std::size_t there = wire.connect(left, right, impairment(loss, rate), seed);
  const std::size_t back = wire.connect(right, left, impairment(loss_back, rate_back), seed + 1);
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { stopped = true; });
  fmt::print("ready\n");
  std::fflush(stdout);
  wire.run(stopped);
  fmt::print("{{\"there\": {}, \"back\": {}}}\n", json(wire.line(there)), json(wire.line(back)));
  return 0;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  try {
    return surety::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "impair: {}\n", e.what());
    return 2;
  }
}
