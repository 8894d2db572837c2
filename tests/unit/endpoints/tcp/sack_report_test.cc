// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/sack_report.h"

#include <gmock/gmock.h>

namespace surety::endpoints {
namespace {

using tcp::Block;
using testing::ElementsAre;
using testing::IsEmpty;

struct SackReportTest : testing::Test {
  // A segment of 100 bytes comes; what its ACK says.
  std::vector<Block> after(std::uint32_t at, Block twice = {}) {
    arrived.add(at, at + 100);
    report.note(at);
    return said(twice);
  }
  std::vector<Block> said(Block twice = {}) {
    const tcp::Blocks b = report.blocks(arrived, twice, room);
    return {b.all().begin(), b.all().end()};
  }
  RangeSet arrived;
  SackReport report;
  std::size_t room = 3;
};

// RFC 2018 4, and its example 2: every other segment is lost.
TEST_F(SackReportTest, TheBlockOfTheLatestSegmentComesFirst) {
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_THAT(after(1000), ElementsAre(Block{1000, 1100}));
  EXPECT_THAT(after(1200), ElementsAre(Block{1200, 1300}, Block{1000, 1100}));
  EXPECT_THAT(after(1400), ElementsAre(Block{1400, 1500}, Block{1200, 1300}, Block{1000, 1100}));
  EXPECT_THAT(after(1600), ElementsAre(Block{1600, 1700}, Block{1400, 1500}, Block{1200, 1300}));
  EXPECT_THAT(after(1100), ElementsAre(Block{1000, 1300}, Block{1600, 1700}, Block{1400, 1500}));
}

TEST_F(SackReportTest, EachBlockIsSaidOnce) {
  after(1000);
  after(1200);
  EXPECT_THAT(after(1100), ElementsAre(Block{1000, 1300}));
  EXPECT_THAT(after(1300), ElementsAre(Block{1000, 1400}));
}

TEST_F(SackReportTest, WhatIsAcknowledgedIsNotReported) {
  after(1000);
  after(1200);
  arrived.forget_before(1200);
  EXPECT_THAT(said(), ElementsAre(Block{1200, 1300}));
  arrived.clear();
  EXPECT_THAT(said(), IsEmpty());
}

// RFC 2883 4: below the ACK, and within a block that is then the second.
TEST_F(SackReportTest, WhatCameTwiceComesFirst) {
  EXPECT_THAT(said({500, 600}), ElementsAre(Block{500, 600}));
  after(1000);
  after(1100);
  after(1400);
  EXPECT_THAT(after(1000, {1000, 1100}),
              ElementsAre(Block{1000, 1100}, Block{1000, 1200}, Block{1400, 1500}));
}

TEST_F(SackReportTest, ThereIsNoMoreThanThereIsRoomFor) {
  room = 4;
  for (std::uint32_t at = 1000; at < 3000; at += 200) after(at);
  EXPECT_EQ(said().size(), 4u);
  EXPECT_EQ(said({1, 2}).size(), 4u);
}

}  // namespace
}  // namespace surety::endpoints
