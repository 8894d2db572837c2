// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/reading_server.h"

#include <thread>

#include "router/daemon/workers/worker_reading.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;

std::string yaml(const std::string& service) {
  return "version: 1\nrouter: {name: r}\nports:\n  lan: {}\n  wan: {trust: core}\nservices:\n  " + service +
         ": {conditioner: police, rate: 8 kbit/s, bucket: 1 kB, mark: {in: AF11}}\n"
         "classify: [{match: {port: lan}, service: " +
         service + "}]\n";
}

struct ReadingServerTest : testing::Test {
  std::optional<Reading> read() { return server.read(calls, sleeper, clock); }

  DataPlane d{yaml("silver")};
  RemoteCall calls;
  Sleeper sleeper;
  TscClock clock;
  std::uint64_t turns = 0;
  std::size_t steps = 1;  // of the rows of which there are many
  std::thread::id filled_by;
  ReadingServer server{blank_reading(d.snapshot, 0),
                       d.snapshot,
                       *d.ingress,
                       SignallingCopy({nullptr, nullptr, d.ingress->clocks(), d.ingress->signals()}, {}),
                       TreeCopy(d.egresses),
                       [this](Reading& r, const Snapshot&) {
                         r.workers[0].counters.turns = turns;
                         filled_by = std::this_thread::get_id();
                       },
                       [this](Reading& r, const Snapshot&, std::size_t& done) {
                         r.services[0].counters.flows = ++done;
                         return done == steps;
                       }};
};

TEST_F(ReadingServerTest, WhoAsksCopiesHimselfOfAWorkerThatDoesNotRun) {
  turns = 7;
  const auto r = read();
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->workers[0].counters.turns, 7u);
  EXPECT_EQ(r->router_name, "r");
  EXPECT_EQ(filled_by, std::this_thread::get_id());
}

TEST_F(ReadingServerTest, TheWorkerAnswersBetweenTwoTurns) {
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    calls.start();
    while (!stop) {
      turns += 2;  // an even number, but within a turn
      --turns;
      ++turns;
      if (calls.wanted()) calls.serve();
    }
    calls.stop();
  });
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto r = read();
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->workers[0].counters.turns % 2, 0u);
    EXPECT_GE(r->workers[0].counters.turns, last);
    last = r->workers[0].counters.turns;
  }
  stop = true;
  worker.join();
  EXPECT_GE(read()->workers[0].counters.turns, last);
}

TEST_F(ReadingServerTest, ManyRowsTakeManyTurns) {
  steps = 5;
  calls.start();
  std::thread asks([&] { EXPECT_EQ(read()->services[0].counters.flows, 5u); });
  while (!calls.wanted()) std::this_thread::yield();
  int answers = 0;
  for (; calls.wanted(); ++answers) calls.serve();
  asks.join();
  EXPECT_EQ(answers, 5);
}

TEST_F(ReadingServerTest, EachQuestionIsAnsweredOnce) {
  calls.start();
  EXPECT_FALSE(calls.wanted());
  std::thread asks([&] { EXPECT_TRUE(read().has_value()); });
  while (!calls.wanted()) std::this_thread::yield();
  calls.serve();
  EXPECT_FALSE(calls.wanted());
  asks.join();
}

TEST_F(ReadingServerTest, HasTheRowsOfTheSnapshotThatItGoesBy) {
  const Snapshot next(configured(yaml("gold")), d.snapshot);
  Reading blank = blank_reading(next, 0);
  std::vector<SignallingNumbers::Queue> none;
  server.adopt(blank, none, next);
  EXPECT_EQ(blank.services[0].name, "silver") << "the one before, to be freed by who made this";
  const Reading& r = server.read_here(clock.now());
  ASSERT_EQ(r.services.size(), next.services.size());
  EXPECT_TRUE(
      std::any_of(r.services.begin(), r.services.end(), [](const auto& s) { return s.name == "gold"; }));
}

// It may come amid the answer to somebody who does not wait any more.
TEST(ReadingServerReload, BeginsTheRowsOfInterfacesAgain) {
  const auto homes = [](const char* rate) {
    return std::string(
               "version: 1\nports:\n  lan: {}\n  wan: {trust: core}\ninterfaces:\n  homes: {port: wan, vlan: "
               "1, "
               "inner_vlan: 1-100, addresses: [10.4.0.254/16], shape: ") +
           rate + "}\n";
  };
  DataPlane d{homes("1 Mbit/s")};
  const auto first = static_cast<InterfaceIndex>(d.snapshot.interfaces->of_definition(0) + 1);
  rte_mbuf* m = test::to_mbuf(test::udp_frame());
  set_interface(m, first, (*d.snapshot.interfaces)[first].tags);
  ++d.ports[1].taken_over;
  d.egresses[1]->enqueue_frames({&m, 1}, d.now);
  RemoteCall calls;
  Sleeper sleeper;
  TscClock clock;
  ReadingServer server{blank_reading(d.snapshot, 0),
                       d.snapshot,
                       *d.ingress,
                       SignallingCopy({nullptr, nullptr, d.ingress->clocks(), d.ingress->signals()}, {}),
                       TreeCopy(d.egresses),
                       [](Reading&, const Snapshot&) {},
                       [](Reading&, const Snapshot&, std::size_t&) { return true; }};
  calls.start();
  std::optional<Reading> read;
  std::thread asks([&] { read = server.read(calls, sleeper, clock); });
  while (!calls.wanted()) std::this_thread::yield();
  calls.serve();
  calls.serve();
  ASSERT_TRUE(calls.wanted()) << "32 interfaces a step";
  const Snapshot next(configured(homes("2 Mbit/s")), d.snapshot);
  Reading blank = blank_reading(next, 0);
  std::vector<SignallingNumbers::Queue> none;
  server.adopt(blank, none, next);
  while (calls.wanted()) calls.serve();
  asks.join();
  calls.stop();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->interface_queues[0].counters[index(Precedence::out)].arrivals +
                read->interface_queues[0].counters[index(Precedence::in)].arrivals,
            1u);
}

}  // namespace
}  // namespace surety
