// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/degrade_reason.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace surety {
namespace {

TEST(DegradeReason, NamesAreUniqueMetricLabels) {
  std::set<std::string_view> names;
  for (const auto& i : kDegradeReasonInfo) {
    EXPECT_TRUE(names.insert(i.name).second) << i.name;
    EXPECT_TRUE(std::all_of(i.name.begin(), i.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << i.name;
    EXPECT_FALSE(i.help.empty()) << i.name;
    EXPECT_EQ(i.stage, "classify") << i.name;
  }
}

TEST(DegradeReason, InfoBelongsToItsReason) {
  EXPECT_EQ(info(DegradeReason::flow_table_full).name, "flow_table_full");
  EXPECT_EQ(info(DegradeReason::creation_limited).name, "creation_limited");
  EXPECT_EQ(info(DegradeReason::flow_share_full).name, "flow_share_full");
  EXPECT_EQ(kDegradeReasons, 3u);
}

}  // namespace
}  // namespace surety
