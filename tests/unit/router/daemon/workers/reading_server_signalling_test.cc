// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/reading_server.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;

constexpr const char* kRouter = R"(version: 1
router: {name: r, id: 192.0.2.1}
ports:
  lan: {trust: customer}
  wan: {trust: core, queues: up}
queues:
  up:
    - {name: af, dscp: {in: [AF11], out: [AF12, BE]},
       count: packets, rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}}
    - {name: other, dscp: [AF41]}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 15 kB, mark: {in: AF11, out: AF12}}
classify: [{match: {port: lan}, service: silver}]
signalling: {mode: act, key_file: k}
)";

class SignallingReadingTest : public testing::Test {
 protected:
  SignallingReading read() const { return read_signalling(numbers, *d.ingress, d.snapshot); }

  test::DataPlane d{kRouter};
  SignallingNumbers numbers;
};

TEST_F(SignallingReadingTest, QueuesThatHaveSignalledHaveNames) {
  numbers.queues = {{1, 0, {.sent = 5, .limited = 1, .lost = 2}}, {1, 1, {}}};
  const SignallingReading r = read();
  EXPECT_EQ(r.mode, "act");
  ASSERT_EQ(r.senders.size(), 1u);
  EXPECT_EQ(r.senders[0].port, "wan");
  EXPECT_EQ(r.senders[0].queue, "af");
  EXPECT_EQ(r.senders[0].sent, 5u);
  EXPECT_EQ(r.senders[0].limited, 1u);
  EXPECT_EQ(r.senders[0].lost, 2u);
}

TEST_F(SignallingReadingTest, SourcesInTheirOrderEachOnce) {
  numbers.at = test::kStart + 3s;
  numbers.sources = {{0xc0000209, 3, 5, 40, test::kStart + 1s},
                     {0xc0000202, 4, 0, 7, test::kStart},
                     {0xc0000209, 3, 5, 39, test::kStart}};
  std::vector<std::string> rows;
  for (const auto& s : read().sources)
    rows.push_back(s.router + ' ' + s.port + ' ' + s.queue + ' ' + std::to_string(s.signals) + ' ' +
                   std::to_string(static_cast<int>(s.age_seconds)));
  EXPECT_THAT(rows, ElementsAre("192.0.2.2 4 0 7 3", "192.0.2.9 3 5 40 2"));
}

TEST_F(SignallingReadingTest, PathsWithWhatTheirFlowsLiveBy) {
  const Ratio low = Ratio::of(0.2), high = Ratio::of(0.9);
  const std::uint16_t wan = d.snapshot.domain(1, 0);
  const auto path = [](const char* text) { return parse_prefix(text).value(); };
  numbers.paths = {{path("10.9.1.0/24"), wan, high},
                   {path("10.9.0.0/24"), wan, low},
                   {path("10.9.1.0/24"), wan, low},
                   {{}, wan, low}};
  numbers.received[0] = 9;
  const SignallingReading r = read();
  EXPECT_EQ(r.received[0], 9u);
  ASSERT_EQ(r.paths.size(), 3u);
  EXPECT_EQ(r.paths[0].path, "others");
  EXPECT_EQ(r.paths[1].path, "10.9.0.0/24");
  EXPECT_EQ(r.paths[1].domain, "wan/af");
  EXPECT_EQ(r.paths[1].alpha, low.value());
  EXPECT_EQ(r.paths[1].applied_alpha, low.value());
  EXPECT_EQ(r.paths[2].path, "10.9.1.0/24");
  EXPECT_EQ(r.paths[2].alpha, high.value());
  EXPECT_EQ(r.paths[2].applied_alpha, Ratio::of(0.4).value()) << "its queue asks for less";
}

}  // namespace
}  // namespace surety
