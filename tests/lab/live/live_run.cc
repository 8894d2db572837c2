// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "router/process/this_process.h"
#include "tests/lab/live/live_links.h"
#include "tests/lab/live/live_programs.h"
#include "tests/lab/live/live_spaces.h"

namespace surety::lab {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kStart = 120s, kEnd = 120s;  // at most, beside the scenario's duration

// Everything of one run, in the order in which it is made; the other way round it goes.
class LiveSession {
 public:
  LiveSession(const Plan& plan, const LiveRun& run)
      : plan_(plan),
        run_(run),
        layout_(live_layout(plan, fmt::format("lablive-{}-", getpid()))),
        spaces_(layout_, run.directory),
        links_(plan, layout_, run.seed) {}

  LiveOutcome run() {
    LiveOutcome outcome;
    outcome.interrupted = !start() || !measure() || !finish();
    if (outcome.interrupted) return outcome;
    outcome.flows = live_flows(endpoints_->report());
    for (std::size_t r = 0; r < routers_.size(); ++r) {
      for (auto& q : live_queues(routers_[r]->node(), last_[r], first_[r]))
        outcome.queues.push_back(std::move(q));
      outcome.missed_packets += routers_[r]->missed();
    }
    const Wire::Counters wire = links_.end();
    outcome.carried_packets = wire.carried;
    outcome.late_packets = wire.late;
    outcome.missed_packets += wire.missed;
    return outcome;
  }

 private:
  // All of these: false when the run is stopped; LiveError when something does not come in time.
  bool start() {
    write_key_file(run_.directory);
    const auto cores = usable_cores();
    for (std::size_t r = 0; r < plan_.routers().size(); ++r)
      routers_.push_back(
          std::make_unique<LiveRouter>(plan_, layout_, r, cores[(r + 1) % cores.size()], run_.directory));
    for (auto& router : routers_)
      if (!await([&] { return router->answers(); }, kStart, "a router does not answer")) return false;
    endpoints_ = std::make_unique<LiveEndpoints>(plan_, layout_, run_.seed, run_.directory);
    if (!await([&] { return endpoints_->started(); }, kStart, "the endpoints do not start")) return false;
    zero_ = steady_clock::now();
    return true;
  }

  bool measure() {
    const auto& measured = plan_.scenario().measure;
    return until(measured.from) && read_queues(first_) &&
           until(std::min(measured.to, plan_.scenario().duration)) && read_queues(last_);
  }

  bool finish() {
    return await([&] { return endpoints_->ended(); },
                 std::chrono::ceil<std::chrono::milliseconds>(plan_.scenario().duration) + kEnd,
                 "the endpoints do not end");
  }

  bool until(Duration t) {
    const auto over = [&] {
      for (auto& router : routers_) router->check();
      const Duration elapsed = steady_clock::now() - zero_;
      if (run_.progress) run_.progress(std::min(1.0, seconds(elapsed) / seconds(plan_.scenario().duration)));
      return elapsed >= t || endpoints_->ended();
    };
    return await(over, std::chrono::ceil<std::chrono::milliseconds>(t) + kEnd,
                 "the virtual time does not advance");
  }

  bool read_queues(std::vector<Json>& tables) {
    for (const auto& router : routers_) tables.push_back(router->table("queues"));
    return true;
  }

  bool await(const std::function<bool()>& done, std::chrono::milliseconds patience, const char* otherwise) {
    const auto stop = [this] { return run_.stop != nullptr && run_.stop->load(std::memory_order_relaxed); };
    if (wait_until(done, patience, stop)) return true;
    if (stop()) return false;
    throw LiveError(
        fmt::format("{} within {} s; `--keep DIR` keeps the logs", otherwise, patience.count() / 1000));
  }

  const Plan& plan_;
  const LiveRun& run_;
  LiveLayout layout_;
  LiveSpaces spaces_;
  LiveLinks links_;
  std::vector<std::unique_ptr<LiveRouter>> routers_;
  std::unique_ptr<LiveEndpoints> endpoints_;
  steady_clock::time_point zero_;
  std::vector<Json> first_, last_;  // queues of each router
};

}  // namespace

LiveOutcome run_live(const Plan& plan, const LiveRun& run) {
  if (geteuid() != 0)
    throw LiveError("a live run makes network namespaces: it needs root; run `sudo surety-lab live ...`");
  return LiveSession(plan, run).run();
}

}  // namespace surety::lab
