// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

struct Side {
  bool in = false, out = false;  // there is something
  Drain drain;

  bool done() {
    return drain.done([this] { return !in; }, [this] { return !out; });
  }
};

struct DrainTest : testing::Test {
  DrainTest() {
    a.drain.connect(b.drain);
    b.drain.connect(a.drain);
  }
  Side a, b;
};

TEST_F(DrainTest, AloneItEndsWhenNothingIsLeft) {
  Side alone{.in = true, .out = true, .drain = {}};
  EXPECT_FALSE(alone.done());
  alone.in = false;
  EXPECT_FALSE(alone.done());
  alone.out = false;
  EXPECT_TRUE(alone.done());
}

TEST_F(DrainTest, NobodyEndsWhileAnotherReceives) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(a.done());
  EXPECT_FALSE(b.done()) << "the first has not said yet that it hands nothing over any more";
  EXPECT_TRUE(!a.done() || b.done());
  EXPECT_TRUE(a.done());
  EXPECT_TRUE(b.done());
}

TEST_F(DrainTest, NobodyEndsWhileAnotherMayHandSomethingOver) {
  a.in = true;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(b.done());
    EXPECT_FALSE(a.done());
  }
  a.in = false;
  a.done();
  EXPECT_TRUE(b.done());
  EXPECT_TRUE(a.done());
}

TEST_F(DrainTest, WhatIsToLeaveKeepsNobodyElse) {
  a.out = true;
  for (int i = 0; i < 3; ++i) {
    a.done();
    b.done();
  }
  EXPECT_TRUE(b.done());
  EXPECT_FALSE(a.done());
  a.out = false;
  EXPECT_TRUE(a.done());
}

// A ring that is empty before an announcement is read proves nothing.
TEST_F(DrainTest, LooksAtRingsAfterWhatOthersSay) {
  int looked = 0;
  const auto look = [&] { return ++looked > 0; };
  EXPECT_FALSE(a.drain.done(look, look));
  EXPECT_EQ(looked, 0) << "the other one may still dispatch";
  b.in = true;
  b.done();
  EXPECT_FALSE(a.drain.done(look, look));
  EXPECT_EQ(looked, 1) << "... and hand over";
  b.in = false;
  b.done();
  EXPECT_TRUE(a.drain.done(look, look));
  EXPECT_EQ(looked, 2);
}

}  // namespace
}  // namespace surety
