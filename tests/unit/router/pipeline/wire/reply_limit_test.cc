// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/reply_limit.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

TEST(ReplyLimit, SoManyAtOnceThenSoManyASecond) {
  ReplyLimit limit(100, 3, Time(1s));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.permit(Time(1s)));
  EXPECT_FALSE(limit.permit(Time(1s + 9999999ns)));
  EXPECT_TRUE(limit.permit(Time(1s + 10ms)));
  EXPECT_FALSE(limit.permit(Time(1s + 10ms)));
  int permitted = 0;
  for (int ms = 20; ms < 1020; ++ms) permitted += limit.permit(Time(1s + 1ms * ms));
  EXPECT_EQ(permitted, 100);
}

}  // namespace
}  // namespace surety::endpoints
