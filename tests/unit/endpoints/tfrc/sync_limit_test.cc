// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_connection.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;
using Kind = SyncLimit::Kind;

TEST(SyncLimit, EightOfEachKindInASecond) {
  SyncLimit limit;
  const Time start(5s);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(limit.permit(Kind::invalid, start + i * 1ms));
  EXPECT_FALSE(limit.permit(Kind::invalid, start + 999ms));
  EXPECT_TRUE(limit.permit(Kind::sync, start + 999ms)) << "valid Syncs have their own eight";
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(limit.permit(Kind::invalid, start + 1s));
  EXPECT_FALSE(limit.permit(Kind::invalid, start + 1s));
}

}  // namespace
}  // namespace surety::endpoints
