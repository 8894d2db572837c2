// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/arrivals.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using State = NextHopEntry::State;
using testing::ElementsAre;
using testing::IsEmpty;

const NeighborKey kFirst{address("10.0.0.2"), 0}, kSecond{address("10.0.0.3"), 1};

TEST(NeighborArrivals, BeforeTheStartNobodyWaits) {
  NeighborArrivals arrivals;
  arrivals.add(kFirst);
  EXPECT_EQ(arrivals.state(kFirst), State::ready);
  EXPECT_FALSE(arrivals.collect());
}

TEST(NeighborArrivals, ABatchGoesFromWaitingToOpeningToReady) {
  NeighborArrivals arrivals;
  arrivals.start();
  arrivals.add(kFirst);
  arrivals.add(kSecond);
  EXPECT_EQ(arrivals.state(kFirst), State::waiting);
  EXPECT_TRUE(arrivals.collect());
  EXPECT_EQ(arrivals.state(kFirst), State::waiting);
  EXPECT_THAT(arrivals.advance(), ElementsAre(kFirst, kSecond));
  EXPECT_EQ(arrivals.state(kFirst), State::opening);
  EXPECT_THAT(arrivals.advance(), ElementsAre(kFirst, kSecond));
  EXPECT_EQ(arrivals.state(kFirst), State::ready);
  EXPECT_FALSE(arrivals.collect());
}

TEST(NeighborArrivals, WhoComesLaterIsInTheNextBatch) {
  NeighborArrivals arrivals;
  arrivals.start();
  arrivals.add(kFirst);
  arrivals.collect();
  arrivals.add(kSecond);
  EXPECT_THAT(arrivals.advance(), ElementsAre(kFirst));
  EXPECT_EQ(arrivals.state(kSecond), State::waiting);
  EXPECT_THAT(arrivals.advance(), ElementsAre(kFirst));
  EXPECT_TRUE(arrivals.collect());
  EXPECT_THAT(arrivals.advance(), ElementsAre(kSecond));
}

TEST(NeighborArrivals, WhoGoesAndComesBackBeginsAnew) {
  NeighborArrivals arrivals;
  arrivals.start();
  arrivals.add(kFirst);
  arrivals.collect();
  arrivals.remove(kFirst);
  arrivals.add(kFirst);
  EXPECT_THAT(arrivals.advance(), IsEmpty());
  EXPECT_EQ(arrivals.state(kFirst), State::waiting);
  arrivals.remove(kFirst);
  EXPECT_FALSE(arrivals.collect());
}

}  // namespace
}  // namespace surety
