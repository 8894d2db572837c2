// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/episodes.h"

#include <gmock/gmock.h>

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct Bed {
  std::vector<std::string> written{};
  EventLog log{[] { return EventTime{}; },
               [this](const StampedEvent& e) {
                 written.push_back(std::string(name(e.event.kind)) + ": " + e.event.text);
               }};
  PromiseEvents promises{log};
  Time now{};
};

constexpr PromiseSecond kAcme{"acme", "gold", "acme", 1.25e6, 2e6, 1e6, DropReason::overflow};

TEST(PromiseEvents, ToldWhenViolatedAndWhenItConformsAgain) {
  Bed bed;
  bed.promises.look(kAcme, false, bed.now);
  EXPECT_TRUE(bed.written.empty());
  for (int second = 0; second < 3; ++second) bed.promises.look(kAcme, true, bed.now += 1s);
  EXPECT_THAT(
      bed.written,
      ElementsAre("promise_missed: contract violated: 10 Mbit/s of customer acme, service gold: "
                  "8 Mbit/s IN delivered of 16 Mbit/s offered; packets dropped for overflow (queue full)"));
  for (int second = 0; second < 4; ++second) bed.promises.look(kAcme, false, bed.now += 1s);
  EXPECT_EQ(bed.written.size(), 1U);
  bed.promises.look(kAcme, false, bed.now += 1s);
  EXPECT_EQ(bed.written.back(),
            "promise_kept: contract conforms again: 10 Mbit/s of customer acme, service gold");
  EXPECT_EQ(bed.log.rows()[0]["fields"]["committed_bytes_per_second"], 1.25e6);
  EXPECT_EQ(bed.log.rows()[0]["fields"]["customer"], "acme");
  EXPECT_EQ(bed.log.rows()[0]["fields"]["reason"], "overflow");
}

TEST(PromiseEvents, ContractsOfOneCustomerAreApart) {
  Bed bed;
  PromiseSecond other = kAcme;
  other.contract = "10.1.0.1";
  bed.promises.look(kAcme, true, bed.now);
  bed.promises.look(other, true, bed.now);
  EXPECT_EQ(bed.written.size(), 2U);
  EXPECT_NE(bed.written.back().find("contract 10.1.0.1"), std::string::npos);
}

TEST(PromiseEvents, OneThatIsGoneDoesNotConformAgain) {
  Bed bed;
  bed.promises.look(kAcme, true, bed.now);
  bed.promises.forget(kAcme);
  bed.promises.look(kAcme, false, bed.now += 10s);
  EXPECT_EQ(bed.written.size(), 1U);
}

}  // namespace
}  // namespace surety
