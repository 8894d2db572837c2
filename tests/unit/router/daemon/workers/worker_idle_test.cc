// SPDX-License-Identifier: BSD-3-Clause
// A worker that has nothing to do leaves its core to others, whatever the reason.
#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr const char* kYaml = R"(
version: 1
router: {name: rests, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: core}
  up: {device: null, addresses: [10.2.0.254/16], trust: core}
  down: {device: null, addresses: [10.3.0.254/16], trust: core}
)";

// A port that takes packets or does not, as one whose link is down.
struct Link {
  std::atomic<bool> up{false};
  std::atomic<int> tried{0}, sent{0};

  static std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf**, std::uint16_t n, void* user) {
    auto& self = *static_cast<Link*>(user);
    ++self.tried;
    if (!self.up) return 0;
    self.sent += n;
    return n;
  }
};

struct WorkerIdle : testing::Test {
  static WorkerOptions options() {
    WorkerOptions o;
    o.sleep = true;
    return o;
  }
  WorkerIdle() {
    router_.taps[0]->on_receive(Frames::on_receive, &lan_);
    router_.taps[1]->on_transmit(Link::on_transmit, &link_);
    lan_.in.push_back(numbered(2, 1));  // by port 1
    runs_ = std::thread([this] { worker().run(Duration{}); });
  }
  ~WorkerIdle() override {
    worker().stop();
    runs_.join();
  }
  Worker& worker() { return *router_.workers[0]; }
  // How many times its thread has left its core by itself.
  std::uint64_t sleeps() {
    std::ifstream status("/proc/self/task/" + std::to_string(worker().thread_id()) + "/status");
    std::uint64_t n = 0;
    for (std::string word; status >> word;)
      if (word == "voluntary_ctxt_switches:") status >> n;
    return n;
  }
  // Waits for what comes at once where nothing else runs; a machine that is busy has a minute.
  template <class Condition>
  static bool comes(Condition condition) {
    for (const auto until = std::chrono::steady_clock::now() + 1min; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(1ms))
      if (condition()) return true;
    return condition();
  }

  Frames lan_;
  Link link_;
  NullRouter router_{kYaml, 1, options(), 1};
  std::thread runs_;
};

// Found by a router that took all of its core for as long as its neighbour was away.
TEST_F(WorkerIdle, SleepsWhileADeviceTakesNoPackets) {
  ASSERT_TRUE(comes([&] { return link_.tried > 100; }));
  const auto slept = sleeps();
  const int before = link_.tried;
  ASSERT_TRUE(comes([&] { return link_.tried >= before + 2000; }));
  const auto turns = static_cast<std::uint64_t>(link_.tried - before);
  // Each turn tries once and then sleeps, but for timers. Whoever loses its core on its way to sleep, as on a
  // busy machine, may find the time over and goes on.
  EXPECT_GE(sleeps() - slept, turns / 2);
  EXPECT_EQ(link_.sent, 0);
  link_.up = true;
  EXPECT_TRUE(comes([&] { return link_.sent == 1; }));
}

}  // namespace
}  // namespace surety
